/// \file
/// Where a command prints.
#pragma once

#include <ostream>

namespace zerolab {

/// Results go to `out`, progress and errors to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  ///< `err` is a terminal: lines may be redrawn
  bool colour = false;    ///< `out` is a terminal that wants colours
};

}  // namespace zerolab
