#include "experiments/checks/provenance_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace zerolab {
namespace {

constexpr float kLimit = 0x1p24F;

/// A whole number in [0, 2²⁴); false for NaN.
bool is_code(float value) {
  return value >= 0 && value < kLimit && value == static_cast<float>(static_cast<int>(value));
}

/// number mod `modulus`, or −1.
std::int64_t residue(float reduced, std::int64_t contributors, std::int64_t modulus) {
  if (!is_code(reduced)) return -1;
  const auto sum = static_cast<std::int64_t>(reduced);
  if (sum % contributors != 0) return -1;
  const std::int64_t residue = sum / contributors - 1;
  return residue < modulus ? residue : -1;
}

}  // namespace

ElementNumbers::ElementNumbers(const ParameterLayout& layout) : layout_(&layout) {
  std::int64_t begin = 0;
  for (const TensorSpec& tensor : layout.tensors()) {
    begins_.push_back(begin);
    begin += tensor.count();
  }
  begins_.push_back(begin);
}

std::string ElementNumbers::describe(std::int64_t number) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), number);
  const auto tensor = next - begins_.begin() - 1;
  return fmt::format("element {} of {}", number - begins_[static_cast<std::size_t>(tensor)],
                     layout_->tensor(static_cast<int>(tensor)).name);
}

std::optional<std::array<int, kContributorsPerPass>> contributor_digits(float value) {
  if (!is_code(value)) return std::nullopt;
  std::array<int, kContributorsPerPass> digits{};
  auto rest = static_cast<unsigned>(value);
  for (int& digit : digits) {
    digit = static_cast<int>(rest % 4);
    rest /= 4;
  }
  return digits;
}

std::optional<std::int64_t> placed_number(float first, float second, std::int64_t contributors,
                                          std::int64_t here, std::int64_t count) {
  const std::int64_t p = kPlacementModuli[0];
  const std::int64_t q = kPlacementModuli[1];
  const std::int64_t a = residue(first, contributors, p);
  const std::int64_t b = residue(second, contributors, q);
  if (a < 0 || b < 0) return std::nullopt;
  // The one number below p·q with both residues.
  std::int64_t number = a;
  while (number % q != b) number += p;
  // Of all that are congruent, the nearest.
  const std::int64_t period = p * q;
  std::int64_t distance = (number - here) % period;
  if (distance > period / 2) distance -= period;
  if (distance < -period / 2) distance += period;
  number = here + distance;
  if (number < 0) number += period;
  if (number >= count) number -= period;
  if (number < 0 || number >= count) return std::nullopt;
  return number;
}

std::optional<ParameterCode> decode_parameter(float value) {
  if (!is_code(value)) return std::nullopt;
  const auto code = static_cast<std::int64_t>(value);
  return ParameterCode{code / 16, code % 16};
}

}  // namespace zerolab
