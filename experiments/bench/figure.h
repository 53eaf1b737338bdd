/// \file
/// What a benchmark brings home.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/bench/paired_ratio.h"

namespace zerolab {

/// What a figure should reach; printed beside it, never asserted.
struct Goal {
  std::optional<double> at_least, at_most;
  std::optional<double> aim;  ///< better than what must be, in the same direction
};

/// One of the quantities that a ratio is made of, or that explain it.
struct Part {
  std::string name;  ///< "PyTorch"
  std::string unit;  ///< "tokens/s"
  Spread value;
};

struct Figure {
  std::string topic;    ///< "steps"
  std::string name;     ///< "S, 1 thread"
  std::string meaning;  ///< "tokens/s over PyTorch's"; figures in a row that share it form a table
  std::string unit;     ///< empty for a ratio
  Spread value;
  std::optional<Goal> goal;
  std::vector<Part> parts;
};

/// What a benchmark says besides its figures.
struct Remarks {
  std::function<void(const std::string&)> progress;  ///< empty: nobody listens
  std::vector<std::string> notices;                  ///< one sentence each

  void tell(const std::string& what) const {
    if (progress) progress(what);
  }
};

}  // namespace zerolab
