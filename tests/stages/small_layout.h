/// \file
/// A layout small enough to work out by hand.
#pragma once

#include "stages/model/layout.h"

namespace zerolab::test {

/// Three units in flat order; 100 parameters in 224 elements.
///
///   unit    tensor    shape  offset in unit   unit's size
///   head    bias      (5)     0
///           weight    (3,7)  32                64   (gap of 27, padding of 11)
///   middle  weight    (40)    0                64   (padding of 24)
///   base    weight    (11,3)  0
///           scale     (1)    64                96   (gap of 31, padding of 31)
inline ParameterLayout small_layout() {
  ParameterLayout layout;
  layout.add_unit("head", {{.name = "head.bias", .shape = {5}},
                           {.name = "head.weight", .shape = {3, 7}, .decay = true}});
  layout.add_unit("middle", {{.name = "middle.weight", .shape = {40}}});
  layout.add_unit("base", {{.name = "base.weight", .shape = {11, 3}, .decay = true},
                           {.name = "base.scale", .shape = {1}}});
  return layout;
}

}  // namespace zerolab::test
