/// \file
/// PROV's numbers: values that tell who wrote them, and where they belong. All are integers below
/// 2²⁴, so that fp32 holds them and their sums exactly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stages/model/layout.h"

namespace zerolab {

/// All elements of a layout numbered through, tensor by tensor.
class ElementNumbers {
 public:
  explicit ElementNumbers(const ParameterLayout& layout);

  std::int64_t of(int tensor, std::int64_t element) const {
    return begins_[static_cast<std::size_t>(tensor)] + element;
  }
  std::int64_t count() const { return begins_.back(); }
  /// "element 5 of h.0.ln_1.bias"
  std::string describe(std::int64_t number) const;

 private:
  const ParameterLayout* layout_;
  std::vector<std::int64_t> begins_;  // by tensor; the total behind the last
};

/// Contributors whose digits one pass can tell apart: 4¹² = 2²⁴.
inline constexpr int kContributorsPerPass = 12;

/// What the `digit`-th contributor of a pass writes into every element; the others write 0. A sum
/// has the digit 1 where it was counted once, 0 where it is missing, 2 or 3 where it was counted
/// that often.
constexpr float contributor_code(int digit) {
  return static_cast<float>(std::int64_t{1} << (2 * digit));
}
/// nullopt where the value is no such sum (or NaN).
std::optional<std::array<int, kContributorsPerPass>> contributor_digits(float value);

/// What every contributor writes into element `number` in the two placement passes.
inline constexpr std::int64_t kPlacementModuli[] = {127, 113};
constexpr float placement_code(std::int64_t number, std::int64_t modulus) {
  return static_cast<float>(1 + number % modulus);
}
/// From the reduced values of both passes back to the number nearest to `here` that explains them;
/// nullopt where none does.
std::optional<std::int64_t> placed_number(float first, float second, std::int64_t contributors,
                                          std::int64_t here, std::int64_t count);

/// What the owner writes into parameter `number` at `step`.
struct ParameterCode {
  std::int64_t number = 0;  ///< modulo 2²⁰
  std::int64_t step = 0;    ///< modulo 16
  bool operator==(const ParameterCode&) const = default;
};
constexpr ParameterCode parameter_identity(std::int64_t number, std::int64_t step) {
  return {number % (std::int64_t{1} << 20), step % 16};
}
constexpr float parameter_code(std::int64_t number, std::int64_t step) {
  const ParameterCode code = parameter_identity(number, step);
  return static_cast<float>(code.number * 16 + code.step);
}
std::optional<ParameterCode> decode_parameter(float value);

}  // namespace zerolab
