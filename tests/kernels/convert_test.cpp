// Conversions between fp32 and the 16-bit floats.
#include "stages/core/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace zerolab {
namespace {

template <class T>
class SixteenBitTest : public ::testing::Test {};
using SixteenBitTypes = ::testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(SixteenBitTest, SixteenBitTypes);

TYPED_TEST(SixteenBitTest, EveryPatternComesBackUnchanged) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const TypeParam value{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(value);
    const TypeParam back = from_float<TypeParam>(wide);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(to_float(back))) << bits;
    } else {
      ASSERT_EQ(back.bits, value.bits);
    }
  }
}

// Between two neighbours: just below the middle, the middle, just above it.
TYPED_TEST(SixteenBitTest, RoundsToTheNearestAndTiesToEven) {
  for (std::uint32_t bits = 0; bits < 0x7fffU; ++bits) {
    const TypeParam low{static_cast<std::uint16_t>(bits)};
    const TypeParam high{static_cast<std::uint16_t>(bits + 1)};
    if (!std::isfinite(to_float(high))) break;
    const float middle = static_cast<float>(
        (static_cast<double>(to_float(low)) + static_cast<double>(to_float(high))) / 2.0);
    const TypeParam even = bits % 2 == 0 ? low : high;
    ASSERT_EQ(from_float<TypeParam>(std::nextafter(middle, 0.0F)).bits, low.bits) << bits;
    ASSERT_EQ(from_float<TypeParam>(middle).bits, even.bits) << bits;
    ASSERT_EQ(from_float<TypeParam>(std::nextafter(middle, INFINITY)).bits, high.bits) << bits;
  }
}

TYPED_TEST(SixteenBitTest, TooLargeBecomesInfiniteAndNanStaysNan) {
  const float max = std::numeric_limits<float>::max();
  EXPECT_EQ(to_float(from_float<TypeParam>(max)), INFINITY);
  EXPECT_EQ(to_float(from_float<TypeParam>(-max)), -INFINITY);
  for (const std::uint32_t nan : {0x7f800001U, 0x7fffffffU, 0xff800001U, 0x7fc00000U}) {
    EXPECT_TRUE(std::isnan(to_float(from_float<TypeParam>(std::bit_cast<float>(nan)))));
  }
}

TYPED_TEST(SixteenBitTest, BulkGivesTheSameBitsAsOneByOne) {
  std::vector<float> values;
  for (std::uint32_t i = 0; i < 30'011; ++i) {  // a stride through all of fp32, NaN included
    values.push_back(std::bit_cast<float>(i * 143'113U));
  }
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<TypeParam> narrow(values.size());
  std::vector<float> wide(values.size());

  from_float(values.data(), narrow.data(), count);
  to_float(narrow.data(), wide.data(), count);

  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(narrow[i].bits, from_float<TypeParam>(values[i]).bits) << values[i];
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]),
              std::bit_cast<std::uint32_t>(to_float(narrow[i])));
  }
}

}  // namespace
}  // namespace zerolab
