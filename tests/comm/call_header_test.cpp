#include "stages/comm/call_header.h"

#include <gmock/gmock.h>

#include "stages/core/error.h"

namespace zerolab {
namespace {

using testing::HasSubstr;

CallHeader header(const std::string& detail) {
  return make_call_header(7, CollectiveOp::kReduceScatter, DType::kBFloat16, 1024, -1,
                          CallTag{"reduce-scatter gradients", Traffic::kTraining, detail});
}

TEST(CallHeader, DescribesTheCallInWords) {
  EXPECT_EQ(describe(header("h.2")),
            "reduce_scatter of 1024 bf16 (\"reduce-scatter gradients\", h.2)");
  EXPECT_EQ(describe(make_call_header(0, CollectiveOp::kBroadcast, DType::kInt8, 3, 2,
                                      CallTag{"weights", Traffic::kTraining, ""})),
            "broadcast of 3 int8 from rank 2 (\"weights\")");
}

TEST(CallHeader, TextsThatAreCutOnTheWireStillDiffer) {
  const std::string stem(100, 'x');
  EXPECT_NE(header(stem + "a"), header(stem + "b"));
  EXPECT_EQ(header(stem + "a"), header(stem + "a"));
}

TEST(CallHeader, ADisagreementNamesRanksByTheirCalls) {
  const CallHeader usual = header("bucket 1");
  const CallHeader odd = header("bucket 2");
  const CallHeader* const headers[] = {&usual, &odd, &usual};
  const int ranks[] = {4, 6, 9};
  try {
    compare_call_headers(headers, ranks);
    FAIL() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("ranks 4 and 9 made reduce_scatter of 1024 bf16"));
    EXPECT_THAT(failure.what(), HasSubstr("rank 6 made reduce_scatter"));
    EXPECT_THAT(failure.what(), HasSubstr("collective 7"));
  }
}

TEST(CallHeader, EqualHeadersPass) {
  const CallHeader same = header("bucket 1");
  const CallHeader copy = header("bucket 1");
  const CallHeader* const headers[] = {&same, &copy};
  const int ranks[] = {0, 1};
  EXPECT_NO_THROW(compare_call_headers(headers, ranks));
}

TEST(ListRanks, ReadsAsEnglish) {
  const int ranks[] = {0, 2, 5};
  EXPECT_EQ(list_ranks(std::span(ranks).first(1)), "rank 0");
  EXPECT_EQ(list_ranks(std::span(ranks).first(2)), "ranks 0 and 2");
  EXPECT_EQ(list_ranks(ranks), "ranks 0, 2 and 5");
}

}  // namespace
}  // namespace zerolab
