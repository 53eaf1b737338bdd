/// \file
/// What a check found wrong, and where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zerolab {

/// Something that a check found wrong, and where. Fields that do not apply are -1 or empty.
struct Finding {
  std::string check;  ///< "INV"
  std::int64_t step = -1;
  std::string phase;  ///< "gradients", "parameters", "optimizer_state", "norm", "collective", …
  std::string tensor;
  int rank = -1;
  std::int64_t element = -1;  ///< canonical element of the tensor
  std::optional<double> expected, value;
  std::int64_t ulp = -1;
  std::string message;  ///< one sentence
};

}  // namespace zerolab
