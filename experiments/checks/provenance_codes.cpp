#include "experiments/checks/provenance_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace zerolab {
namespace {

constexpr float kLimit = 0x1p24F;
constexpr std::int64_t kWideNumbers = std::int64_t{1} << 20, kWideSteps = 16;
constexpr std::int64_t kResidues = 251, kResidueOfStep = 97;  // primes; bf16 holds up to 256

/// A whole number in [0, 2²⁴); false for NaN.
bool is_code(float value) {
  return value >= 0 && value < kLimit && value == static_cast<float>(static_cast<int>(value));
}

/// number mod `modulus`, or −1.
std::int64_t residue(float reduced, std::int64_t contributors, std::int64_t modulus) {
  if (!is_code(reduced) || contributors == 0) return -1;
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

std::optional<std::array<int, kMostContributorsPerPass>> contributor_digits(float value) {
  if (!is_code(value)) return std::nullopt;
  std::array<int, kMostContributorsPerPass> digits{};
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

float ParameterCodes::code(std::int64_t number, std::int64_t step) const {
  if (wide_) return static_cast<float>(number % kWideNumbers * kWideSteps + step % kWideSteps);
  return static_cast<float>((number + kResidueOfStep * step) % kResidues);
}

std::optional<Displacement> ParameterCodes::explain(float value, std::int64_t number,
                                                    std::int64_t step) const {
  if (!is_code(value) || (!wide_ && value >= static_cast<float>(kResidues))) return std::nullopt;
  for (std::int64_t earlier = 1; earlier < kWideSteps && earlier <= step; ++earlier) {
    if (value == code(number, step - earlier)) return Displacement{0, -earlier};
  }
  const auto found = static_cast<std::int64_t>(value);
  const auto here = static_cast<std::int64_t>(code(number, step));
  if (wide_) {
    return Displacement{found / kWideSteps - here / kWideSteps,
                        found % kWideSteps - here % kWideSteps};
  }
  std::int64_t distance = found - here;
  if (distance > kResidues / 2) distance -= kResidues;
  if (distance < -(kResidues / 2)) distance += kResidues;
  if (number + distance < 0) distance += kResidues;
  return Displacement{distance, 0};
}

}  // namespace zerolab
