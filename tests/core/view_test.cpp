#include "stages/core/view.h"

#include <gtest/gtest.h>

#include <array>

namespace zerolab {
namespace {

TEST(View, SliceCountsElementsNotBytes) {
  std::array<double, 7> values{0, 1, 2, 3, 4, 5, 6};
  const View all{reinterpret_cast<std::byte*>(values.data()), DType::kFloat64, 7};

  const View middle = all.slice(2, 3);

  EXPECT_EQ(middle.count, 3);
  EXPECT_EQ(middle.bytes(), 24);
  EXPECT_EQ(middle.as<double>()[0], 2.0);
}

TEST(View, SliceMayEndWhereTheViewEndsAndBeEmptyThere) {
  const View all{nullptr, DType::kInt8, 5};
  EXPECT_TRUE(all.slice(5, 0).empty());
  EXPECT_EQ(all.slice(Range{1, 5}).count, 4);
}

TEST(View, SliceOutsideIsRefused) {
  const View all{nullptr, DType::kInt8, 5};
  EXPECT_THROW(all.slice(3, 3), std::logic_error);
  EXPECT_THROW(all.slice(-1, 2), std::logic_error);
  EXPECT_THROW(all.slice(1, -1), std::logic_error);
}

TEST(View, ReadingAsAnotherTypeIsRefused) {
  std::array<float, 2> values{1, 2};
  const View view{reinterpret_cast<std::byte*>(values.data()), DType::kFloat32, 2};
  EXPECT_THROW(view.as<double>(), std::logic_error);
  EXPECT_THROW(view.as<std::int32_t>(), std::logic_error);
}

TEST(Ranges, IntersectionOfDisjointOnesIsEmpty) {
  EXPECT_TRUE(intersect({0, 3}, {3, 9}).empty());
  EXPECT_TRUE(intersect({5, 9}, {0, 2}).empty());
  EXPECT_EQ(intersect({0, 5}, {3, 9}), (Range{3, 5}));
}

}  // namespace
}  // namespace zerolab
