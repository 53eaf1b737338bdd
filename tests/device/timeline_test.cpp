#include "stages/device/timeline.h"

#include <gtest/gtest.h>

#include "stages/core/error.h"
#include "stages/device/cpu/cpu_device.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

TEST(TimelineTest, RecordsOperationsAndWaitsOfEachStreamInOrder) {
  Timeline timeline;
  const auto device = make_cpu_device({.observers = {&timeline}});
  const auto compute = device->create_stream("compute");
  const auto communication = device->create_stream("communication");

  compute->launch({"adamw", "h.2", {}, {}, [] {}});
  communication->wait(compute->record(), "parameters updated");
  communication->launch({"all_gather", "bucket 1", {}, {}, [] {}});
  communication->synchronize();

  const auto rows = timeline.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]->stream, "compute");
  ASSERT_EQ(rows[0]->spans.size(), 1U);
  EXPECT_EQ(rows[0]->spans[0].name, "adamw");
  EXPECT_EQ(rows[0]->spans[0].detail, "h.2");
  EXPECT_FALSE(rows[0]->spans[0].is_wait);
  EXPECT_EQ(rows[1]->stream, "communication");
  ASSERT_EQ(rows[1]->spans.size(), 2U);
  EXPECT_TRUE(rows[1]->spans[0].is_wait);
  EXPECT_EQ(rows[1]->spans[0].name, "parameters updated");
  EXPECT_EQ(rows[1]->spans[1].name, "all_gather");
}

TEST(TimelineTest, SpansOfAStreamDoNotOverlapAndAWaitEndsAfterWhatItWaitedFor) {
  Timeline timeline;
  const auto device = make_cpu_device({.observers = {&timeline}});
  const auto compute = device->create_stream("compute");
  const auto communication = device->create_stream("communication");
  for (int i = 0; i < 3; ++i) {
    testing::pause(*compute, 2);
    communication->wait(compute->record(), "pause over");
    testing::pause(*communication, 1);
  }
  communication->synchronize();

  const auto rows = timeline.rows();
  for (const TimelineRow* row : rows) {
    std::int64_t before = 0;
    for (const TimelineSpan& span : row->spans) {
      EXPECT_GE(span.begin_ns, before);
      EXPECT_GE(span.end_ns, span.begin_ns);
      before = span.end_ns;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_GE(rows[1]->spans[2 * i].end_ns, rows[0]->spans[i].end_ns);
  }
}

TEST(TimelineTest, OperationThatThrowsStillEnds) {
  Timeline timeline;
  const auto device = make_cpu_device({.observers = {&timeline}});
  const auto compute = device->create_stream("compute");
  compute->launch({"throw", "", {}, {}, [] { throw Failure("expected"); }});
  EXPECT_THROW(compute->synchronize(), Failure);
  EXPECT_GT(timeline.rows()[0]->spans[0].end_ns, 0);
}

TEST(TimelineTest, ClearDropsTheSpansAndKeepsTheRows) {
  Timeline timeline;
  const auto device = make_cpu_device({.observers = {&timeline}});
  const auto compute = device->create_stream("compute");
  testing::pause(*compute, 0);
  compute->synchronize();
  timeline.clear();
  testing::pause(*compute, 0);
  compute->synchronize();
  ASSERT_EQ(timeline.rows().size(), 1U);
  EXPECT_EQ(timeline.rows()[0]->spans.size(), 1U);
}

}  // namespace
}  // namespace zerolab
