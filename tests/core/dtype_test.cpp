#include "stages/core/dtype.h"

#include <gtest/gtest.h>

#include <set>

#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr DType kAll[] = {DType::kFloat32, DType::kBFloat16, DType::kFloat16,
                          DType::kFloat64, DType::kInt32,    DType::kInt64,
                          DType::kUInt64,  DType::kInt8,     DType::kByte};

TEST(DTypeNames, ComeBackAsTheSameType) {
  for (const DType dtype : kAll) EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
}

TEST(DTypeNames, AreAllDifferent) {
  std::set<std::string_view> names;
  for (const DType dtype : kAll) names.insert(name_of(dtype));
  EXPECT_EQ(names.size(), std::size(kAll));
}

TEST(DTypeNames, UnknownOneIsBadInputThatListsTheKnown) {
  try {
    dtype_from_name("float");
    FAIL() << "accepted 'float'";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("'float'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("fp32"), std::string::npos);
    EXPECT_EQ(error.exit_code(), 2);
  }
}

}  // namespace
}  // namespace zerolab
