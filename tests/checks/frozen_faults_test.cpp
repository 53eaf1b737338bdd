// What goes wrong with frozen tensors is found: on the way, where they lie, and by who owns what.
#include <gmock/gmock.h>

#include "baseline_ddp/ddp.h"
#include "experiments/checks/ownership.h"
#include "experiments/checks/reference_check.h"
#include "tests/checks/rig.h"
#include "zero3/zero3.h"

namespace zerolab::test {
namespace {

using testing::HasSubstr;

RunConfig frozen_config() {
  RunConfig config = micro_config(3);
  config.frozen = {"h.0.*", "wpe.*"};
  return config;
}

/// Rank 1 loses what it gathered of the frozen part of h.0.
class LosingZero3 final : public Zero3 {
 public:
  using Zero3::Zero3;

  UnitView acquire(const Use& use) override {
    const UnitView unit = Zero3::acquire(use);
    if (rank() == 1 && parts_.layout.unit(use.unit).name == "h.0" && !unit.frozen.empty()) {
      parts_.kernels.fill(parts_.compute, unit.frozen.slice(0, 8), 3.0F);
    }
    return unit;
  }
};

TEST(FrozenFaults, OfAGatherAreFoundByProvenanceAndTheCopies) {
  RunConfig config = frozen_config();
  const StageRun wrong = run_of<LosingZero3>("zero3");
  const auto provenance_findings = provenance(config, wrong);
  ASSERT_FALSE(provenance_findings.empty());
  EXPECT_EQ(provenance_findings.front().rank, 1);
  EXPECT_EQ(provenance_findings.front().tensor, "h.0.ln_1.weight");
  config.checks = {"XR"};
  const auto copies = of("XR", train(config, wrong).findings());
  ASSERT_FALSE(copies.empty());
  EXPECT_THAT(text_of(copies), HasSubstr("h.0.ln_1.weight"));
}

/// Forgets that there are frozen tensors.
class ForgettingDdp final : public Ddp {
 public:
  using Ddp::Ddp;

  UnitView acquire(const Use& use) override { return {Ddp::acquire(use).trained, {}}; }
};

TEST(FrozenFaults, OfAMissingPartAreNamedByProvenanceAndStopTheModel) {
  const RunConfig config = frozen_config();
  const StageRun wrong = run_of<ForgettingDdp>("ddp");
  const auto findings = provenance(config, wrong);
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(text_of(findings), HasSubstr("is handed 0 of the "));
  std::string message;
  try {
    train(config, wrong);
  } catch (const std::exception& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("0 frozen elements of "));
}

/// Shrinks frozen tensors as weight decay would.
class DecayingDdp final : public Ddp {
 public:
  using Ddp::Ddp;

  void step(const StepSettings& settings) override {
    Ddp::step(settings);
    for (const OwnedSlice& slice : frozen_.slices()) {
      parts_.kernels.add(parts_.compute, slice.values, slice.values);
    }
  }
};

TEST(FrozenFaults, OfAnUpdateAreFoundByTheRunItself) {
  RunConfig config = frozen_config();
  config.checks = {"REF"};
  const auto findings = of("REF", train(config, run_of<DecayingDdp>("ddp")).findings());
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().step, 1);
  EXPECT_EQ(findings.front().phase, "parameters");
  EXPECT_THAT(findings.front().message, HasSubstr("is frozen, but what rank 0 holds of it"));
  EXPECT_EQ(text_of(train(config, "ddp").findings()), "");
}

TEST(FrozenFaults, OfAGradientThatIsHeldAreSaid) {
  ParameterLayout layout;
  layout.add_unit("unit", {{"a", {64}}, {"b", {32}}});
  layout.freeze(1);
  const std::vector<std::vector<OwnedRun>> whole = {{{0, false, {0, 64}}, {1, false, {0, 32}}}};
  EXPECT_EQ(text_of(check_ownership(layout, Category::kParameters, whole, "INV", "parameters")),
            "");
  const auto findings = check_ownership(layout, Category::kGradients, whole, "INV", "gradients");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().tensor, "b");
  EXPECT_THAT(findings.front().message, HasSubstr("a frozen tensor has no gradients"));
}

}  // namespace
}  // namespace zerolab::test
