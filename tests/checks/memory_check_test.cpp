// MEM on stages that hold more than they should.
#include "experiments/checks/memory_check.h"

#include <gtest/gtest.h>

#include "tests/checks/rig.h"
#include "zero1/zero1.h"
#include "zero2/zero2.h"
#include "zero3/zero3.h"

namespace zerolab::test {
namespace {

RunConfig config_for(int ranks) {
  RunConfig config = micro_config(ranks);
  config.checks = {"MEM"};
  return config;
}

std::vector<Finding> memory_findings(const StageResult& result, const RunConfig& config) {
  std::vector<Finding> all = result.findings();
  for (const RankResult& rank : result.ranks) {
    const Prediction predicted = predict(result.stage, config, model_of(config), rank.rank);
    for (Finding& finding : check_memory(rank, predicted, config)) {
      all.push_back(std::move(finding));
    }
  }
  return all;
}

/// Never frees a gathered unit.
class KeepingZero3 final : public Zero3 {
 public:
  using Zero3::Zero3;
  void release(const Use&) override { ++position_; }
};

TEST(MemoryCheck, SeesUnitsThatStayGathered) {
  for (const int ranks : {1, 3}) {
    const RunConfig config = config_for(ranks);
    const auto findings = memory_findings(train(config, run_of<KeepingZero3>("zero3")), config);
    EXPECT_NE(text_of(findings).find("of gathered_parameters after step 1"), std::string::npos)
        << text_of(findings);
    EXPECT_NE(text_of(findings).find("of gathered_parameters at most"), std::string::npos);
  }
}

/// Keeps a full copy of the gradients, as stage 1 does.
class ExtravagantZero2 final : public Zero2 {
 public:
  explicit ExtravagantZero2(StageParts parts)
      : Zero2(std::move(parts)),
        extra_(parts_.allocate(partition_.flat_size(), Category::kGradients, "full gradients")) {}

 private:
  Buffer extra_;
};

TEST(MemoryCheck, SeesABufferThatTheFormulaDoesNotKnow) {
  const RunConfig config = config_for(3);
  const auto findings = memory_findings(train(config, run_of<ExtravagantZero2>("zero2")), config);
  EXPECT_NE(text_of(findings).find("of gradients at most"), std::string::npos) << text_of(findings);
}

/// Allocates a little more in every step.
class LeakingZero1 final : public Zero1 {
 public:
  using Zero1::Zero1;
  void step(const StepSettings& settings) override {
    Zero1::step(settings);
    leaked_.push_back(parts_.allocate(8, Category::kWorkspace, "leaked"));
  }

 private:
  std::vector<Buffer> leaked_;
};

TEST(MemoryCheck, SeesALeak) {
  const RunConfig config = config_for(2);
  const auto findings = memory_findings(train(config, run_of<LeakingZero1>("zero1")), config);
  EXPECT_NE(text_of(findings).find("32 B of workspace more after the last step than before it"),
            std::string::npos)
      << text_of(findings);
}

TEST(MemoryCheck, SeesOneByte) {
  const RunConfig config = config_for(2);
  StageResult result = train(config, "ddp");
  ASSERT_EQ(text_of(memory_findings(result, config)), "");
  result.ranks[1].peak_by_category[static_cast<std::size_t>(Category::kActivations)] -= 1;
  EXPECT_EQ(memory_findings(result, config).size(), 1U);
}

}  // namespace
}  // namespace zerolab::test
