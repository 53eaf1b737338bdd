#include "stages/memory/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace zerolab {
namespace {

std::int64_t at(const CategoryBytes& bytes, Category category) {
  return bytes[static_cast<std::size_t>(category)];
}

TEST(CategoryNames, AreAllDifferentAndKnown) {
  std::set<std::string_view> names;
  for (int i = 0; i < kCategoryCount; ++i) names.insert(name_of(static_cast<Category>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kCategoryCount));
  EXPECT_EQ(names.count("unknown"), 0U);
}

TEST(MemoryLedger, HoldsWhatWasAllocatedAndNotFreed) {
  MemoryLedger ledger;
  ledger.allocated("w", Category::kParameters, 100);
  ledger.allocated("g", Category::kGradients, 40);
  ledger.freed("g", Category::kGradients, 40);

  EXPECT_EQ(ledger.held(Category::kParameters), 100);
  EXPECT_EQ(ledger.held(Category::kGradients), 0);
}

TEST(MemoryLedger, PeakOfACategoryIsItsOwnWhileThePeakOfTheTotalIsOneMoment) {
  MemoryLedger ledger;
  ledger.set_moment("forward");
  ledger.allocated("x", Category::kActivations, 70);
  ledger.freed("x", Category::kActivations, 70);
  ledger.set_moment("backward");
  ledger.allocated("g", Category::kGradients, 90);

  EXPECT_EQ(at(ledger.peak(), Category::kActivations), 70);
  EXPECT_EQ(at(ledger.peak(), Category::kGradients), 90);
  EXPECT_EQ(ledger.peak_total(), 90);
  EXPECT_EQ(at(ledger.at_peak(), Category::kActivations), 0);
  EXPECT_EQ(at(ledger.at_peak(), Category::kGradients), 90);
  EXPECT_EQ(ledger.peak_moment(), "backward");
}

TEST(MemoryLedger, MemoryOfDetectorsDoesNotMoveThePeakOfTheTotal) {
  MemoryLedger ledger;
  ledger.allocated("w", Category::kParameters, 10);
  ledger.allocated("hash", Category::kChecks, 1000);

  EXPECT_EQ(ledger.peak_total(), 10);
  EXPECT_EQ(at(ledger.peak(), Category::kChecks), 1000);
}

TEST(MemoryLedger, ResetPeaksStartsFromWhatIsHeld) {
  MemoryLedger ledger;
  ledger.allocated("x", Category::kActivations, 70);
  ledger.allocated("w", Category::kParameters, 10);
  ledger.freed("x", Category::kActivations, 70);

  ledger.reset_peaks();

  EXPECT_EQ(ledger.peak_total(), 10);
  EXPECT_EQ(at(ledger.peak(), Category::kActivations), 0);
  EXPECT_EQ(at(ledger.at_peak(), Category::kParameters), 10);
}

TEST(MemoryLedger, RecordsEventsOnlyWhenAsked) {
  MemoryLedger ledger;
  ledger.allocated("before", Category::kWorkspace, 8);
  ledger.record_events(true);
  ledger.set_moment("step 3");
  ledger.allocated("w", Category::kParameters, 5);
  ledger.freed("before", Category::kWorkspace, 8);

  ASSERT_EQ(ledger.events().size(), 2U);
  EXPECT_EQ(ledger.events()[0].name, "w");
  EXPECT_EQ(ledger.events()[0].bytes, 5);
  EXPECT_EQ(ledger.events()[0].total_bytes, 13);
  EXPECT_EQ(ledger.events()[0].moment, "step 3");
  EXPECT_EQ(ledger.events()[1].bytes, -8);
  EXPECT_EQ(ledger.events()[1].total_bytes, 5);
}

TEST(MemoryLedger, RecordsWhatTheRankTurnedToWhetherOrNotMemoryChanged) {
  MemoryLedger ledger;
  ledger.set_moment("step 3");
  ledger.record_events(true);
  ledger.set_moment("step 3 forward h.0");
  ledger.allocated("w", Category::kParameters, 5);
  ledger.set_moment("step 3 forward h.1");
  ledger.record_events(false);
  ledger.set_moment("evaluation after step 3");

  ASSERT_EQ(ledger.moments().size(), 3U);
  EXPECT_EQ(ledger.moments()[0].name, "step 3");
  EXPECT_EQ(ledger.moments()[0].first_event, 0);
  EXPECT_EQ(ledger.moments()[2].name, "step 3 forward h.1");
  EXPECT_EQ(ledger.moments()[2].first_event, 1);
}

TEST(MemoryLedger, FreeingMoreThanIsHeldIsRefused) {
  MemoryLedger ledger;
  ledger.allocated("w", Category::kParameters, 5);
  EXPECT_THROW(ledger.freed("w", Category::kParameters, 6), std::logic_error);
  EXPECT_THROW(ledger.freed("w", Category::kGradients, 5), std::logic_error);
}

}  // namespace
}  // namespace zerolab
