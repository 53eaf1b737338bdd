/// \file
/// What a byte is held for: the categories of the ZeRO papers' memory tables.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace zerolab {

/// Model states first (ZeRO paper, section 3.1), then what training needs besides.
enum class Category : std::uint8_t {
  kParameters,
  kGradients,
  kAccumulators,        ///< fp32 sums over micro-batches; only with gradient accumulation
  kMasterWeights,       ///< fp32 copy of 16-bit parameters
  kFirstMoments,        ///< Adam's m; SGD's momentum
  kSecondMoments,       ///< Adam's v
  kGatheredParameters,  ///< ZeRO-3's temporary full units
  kGradientBuckets,     ///< constant-size send buffers (ZeRO paper, section 6.2, C_B)
  kUnitGradients,  ///< a unit's full gradient between backward and its reduction (ZeRO-2, ZeRO-3)
  kActivations,
  kCommunicationStaging,
  kWorkspace,  ///< kernels' scratch, inputs, scalars
  kChecks,     ///< held by detectors, never by training itself
};

inline constexpr int kCategoryCount = 13;

/// The name in reports: "parameters", "gradients", "accumulators", "master_weights", …
std::string_view name_of(Category category);

/// Bytes by category, indexed by the enumerator.
using CategoryBytes = std::array<std::int64_t, kCategoryCount>;

}  // namespace zerolab
