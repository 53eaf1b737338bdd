#include "experiments/own_stage/own_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "baseline_ddp/ddp.h"
#include "experiments/compare/perturbed_weights.h"
#include "experiments/faults/faults.h"
#include "stages/core/error.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using testing::Contains;
using testing::HasSubstr;

OwnStage mine(StageFactory factory) { return {"mine", std::move(factory)}; }
OwnStage with_fault(const std::string& name) {
  return mine(make_fault(name)->stage(stage_factory("ddp")));
}

bool said(const std::vector<Finding>& findings, const std::string& check, const std::string& part) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.check == check && finding.message.find(part) != std::string::npos;
  });
}

/// The last rank leaves out one call that the others make.
class SilentDdp final : public Ddp {
 public:
  using Ddp::Ddp;

 protected:
  void reduce_bucket(int bucket) override {
    const bool last = parts_.comm.rank() + 1 == parts_.comm.world_size();
    if (!last || bucket != 1) Ddp::reduce_bucket(bucket);
  }
};

/// Reduces without waiting for backward.
class HastyDdp final : public Ddp {
 public:
  using Ddp::Ddp;

 protected:
  void reduce_bucket(int bucket) override {
    parts_.comm.all_reduce(gradients_.slice(partition_.piece(bucket)),
                           {"all-reduce gradients", Traffic::kTraining, ""});
    reduced_ = parts_.comm.record();
  }
};

class FailingDdp final : public Ddp {
 public:
  using Ddp::Ddp;
  void step(const StepSettings&) override { fail("[mine] the disk is full"); }
};

template <class S>
StageFactory make() {
  return [](StageParts parts) { return std::make_unique<S>(std::move(parts)); };
}

struct Outcome {
  int code = 0;
  std::string out, err;
};
Outcome check(const OwnStage& stage, std::vector<std::string> words) {
  const TemporaryDirectory directory;
  words.insert(words.end(), {"--out", (directory / "run").string(), "--quiet"});
  std::vector<const char*> argv = {stage.name.c_str()};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out, err;
  const int code = check_own_stage(stage, static_cast<int>(argv.size()), argv.data(), out, err);
  return {code, out.str(), err.str()};
}

TEST(OwnStage, IsCleanWhereItIsRight) {
  for (const std::string& right : stage_names()) {
    RunConfig config = own_stage_config();
    config.accumulate = 2;

    const auto findings = own_stage_findings(mine(stage_factory(right)), config, true);

    EXPECT_TRUE(findings.empty()) << right << ": " << findings.front().message;
  }
}

TEST(OwnStage, IsCleanInLocalOrderToo) {
  RunConfig config = own_stage_config();
  config.accumulate = 3;
  config.accumulation_order = AccumulationOrder::kLocal;

  const auto findings = own_stage_findings(mine(stage_factory("zero1")), config, true);

  EXPECT_TRUE(findings.empty()) << findings.front().message;
}

TEST(OwnStage, IsCaughtWithoutAReference) {
  const auto findings = own_stage_findings(with_fault("discard-reduced"));

  EXPECT_TRUE(said(findings, "INV", "what the ranks handed over adds up to"));
  EXPECT_TRUE(said(findings, "PROV", "missing from"));
}

TEST(OwnStage, IsCaughtByOrderWhateverTheTiming) {
  RunConfig config = own_stage_config();
  config.checks = {"ORD"};

  const auto findings = own_stage_findings(mine(make<HastyDdp>()), config);

  EXPECT_TRUE(said(findings, "ORD", "no event orders the two"));
}

TEST(OwnStage, IsComparedWithDdpWhereThatIsAskedFor) {
  RunConfig config = own_stage_config();
  config.checks = {"REF"};
  const OwnStage other = mine(from_perturbed_weights(stage_factory("zero2"), 1e-3, 7));
  ASSERT_TRUE(own_stage_findings(other, config).empty());

  const auto findings = own_stage_findings(other, config, true);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].check, "REF");
  EXPECT_EQ(findings[0].step, 0);
  EXPECT_EQ(findings[0].phase, "parameters");
  EXPECT_FALSE(findings[0].tensor.empty());
  EXPECT_GE(findings[0].element, 0);
  EXPECT_NE(findings[0].value, findings[0].expected);
}

TEST(OwnStage, ThatCallsOtherCollectivesOnOneRankIsAFindingAndNoHang) {
  const auto findings = own_stage_findings(mine(make<SilentDdp>()));

  EXPECT_TRUE(said(findings, "COMM", "the ranks disagree on collective"));
}

TEST(OwnStage, HasAFormulaForNothingAndSaysSo) {
  const Comparison comparison = compare_own_stage(mine(stage_factory("zero3")), own_stage_config());

  ASSERT_EQ(comparison.stages.size(), 1U);
  EXPECT_TRUE(comparison.stages[0].predicted.empty());
  EXPECT_THAT(comparison.notices, Contains(HasSubstr("there is no formula")));
  EXPECT_THAT(comparison.notices, Contains(HasSubstr("nothing was compared with DDP")));
}

TEST(OwnStage, NeedsANameThatIsNotTaken) {
  for (const char* name : {"", "zero2", "a/b", "..", "two words"}) {
    EXPECT_THROW(compare_own_stage({name, stage_factory("ddp")}, own_stage_config()), BadInput)
        << name;
  }
}

TEST(OwnStageProgram, EndsWith0AndTheVerdictInWords) {
  const Outcome outcome = check(mine(stage_factory("zero2")), {"--reference", "ddp"});

  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Equal: mine trained the same model as ddp, to the last bit"));
}

TEST(OwnStageProgram, EndsWith1AndThePlace) {
  const Outcome outcome = check(with_fault("discard-reduced"), {"--check", "prov"});

  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("PROV, gradients of ln_f.weight"));
}

TEST(OwnStageProgram, EndsWith2OnBadInput) {
  const OwnStage stage = mine(stage_factory("ddp"));

  EXPECT_EQ(check(stage, {"--ranks", "0"}).code, 2);
  EXPECT_EQ(check(stage, {"--reference", "zero1"}).code, 2);
  EXPECT_THAT(check(stage, {"--rank", "2"}).err, HasSubstr("did you mean --ranks?"));
}

TEST(OwnStageProgram, EndsWith3WhereTheStageFails) {
  const Outcome outcome = check(mine(make<FailingDdp>()), {"--check", "none"});

  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("mine: [mine] the disk is full"));
}

TEST(OwnStageProgram, ShowsItsOptions) {
  const Outcome outcome = check(mine(stage_factory("ddp")), {"--help"});

  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("--reference none|ddp"));
}

}  // namespace
}  // namespace zerolab
