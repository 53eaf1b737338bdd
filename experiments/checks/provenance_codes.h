/// \file
/// PROV's numbers: values that tell who wrote them, and where they belong. All are integers that
/// the types they pass through, and their sums, hold exactly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stages/core/dtype.h"
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

/// Up to this every integer is a value of the type: 2²⁴, 2¹¹ or 2⁸.
constexpr std::int64_t exact_integers(DType dtype) {
  if (dtype == DType::kBFloat16) return std::int64_t{1} << 8;
  if (dtype == DType::kFloat16) return std::int64_t{1} << 11;
  return std::int64_t{1} << 24;
}

/// Contributors whose digits one pass can tell apart: 12, 5 or 4, since 4¹² = 2²⁴.
constexpr int contributors_per_pass(DType dtype) {
  int digits = 0;
  for (std::int64_t limit = exact_integers(dtype); limit >= 4; limit /= 4) ++digits;
  return digits;
}
inline constexpr int kMostContributorsPerPass = contributors_per_pass(DType::kFloat32);

/// What the `digit`-th contributor of a pass writes into every element; the others write 0. A sum
/// has the digit 1 where it was counted once, 0 where it is missing, 2 or 3 where it was counted
/// that often.
constexpr float contributor_code(int digit) {
  return static_cast<float>(std::int64_t{1} << (2 * digit));
}
/// nullopt where the value is no such sum (or NaN).
std::optional<std::array<int, kMostContributorsPerPass>> contributor_digits(float value);

/// Contributors that may write placement codes in one pass: their sum must be exact.
constexpr int placed_per_pass(DType dtype) { return static_cast<int>(exact_integers(dtype) / 127); }
/// What they write into element `number` in the two placement passes; the others write 0.
inline constexpr std::int64_t kPlacementModuli[] = {127, 113};
constexpr float placement_code(std::int64_t number, std::int64_t modulus) {
  return static_cast<float>(1 + number % modulus);
}
/// From the reduced values of both passes back to the number nearest to `here` that explains them;
/// nullopt where none does.
std::optional<std::int64_t> placed_number(float first, float second, std::int64_t contributors,
                                          std::int64_t here, std::int64_t count);

/// What a wrong parameter is, as far as its code tells: which element it belongs to and after which
/// step it was written, both relative to what should be there.
struct Displacement {
  std::int64_t number = 0;
  std::int64_t step = 0;
  bool operator==(const Displacement&) const = default;
};

/// What owners write into parameters. fp32 holds an element's number and the step apart; 16 bits
/// hold a residue in which each of the two makes a difference.
class ParameterCodes {
 public:
  explicit ParameterCodes(DType dtype) : wide_(dtype == DType::kFloat32) {}

  float code(std::int64_t number, std::int64_t step) const;
  /// The simplest explanation of a value that is not `code(number, step)`: another step's value of
  /// the same element, else the nearest element of the same step. nullopt where no owner writes
  /// such a value.
  std::optional<Displacement> explain(float value, std::int64_t number, std::int64_t step) const;

 private:
  bool wide_;
};

}  // namespace zerolab
