// NORM on clippers that are wrong.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/checks/norm_check.h"
#include "tests/checks/rig.h"

namespace zerolab::test {
namespace {

/// Exchanges the clipper for one of a test's own.
template <class WrongClipper>
class ClipperFault final : public Fault {
 public:
  const FaultLabel& label() const override { return label_; }
  std::unique_ptr<Clipper> clipper(std::unique_ptr<Clipper>, Device& device, Stream& compute,
                                   Communicator& comm, Kernels& kernels, double max_norm,
                                   std::int64_t global_count) const override {
    return std::make_unique<WrongClipper>(device, compute, comm, kernels, max_norm, global_count);
  }

 private:
  FaultLabel label_;
};

template <class WrongClipper>
std::vector<Finding> findings_with(RunConfig config, const std::string& stage) {
  config.checks = {"NORM"};
  const ClipperFault<WrongClipper> fault;
  return train(config, stage, &fault).findings();
}

/// Each rank clips with the norm of its own slices.
class LocalClipper final : public Clipper {
 public:
  using Clipper::Clipper;

 protected:
  void finish(View maxima, View sums, int parts, double scale) override {
    const std::int64_t each = sums.count / parts;
    Clipper::finish(maxima, sums.slice(comm_.rank() * each, each), 1, scale);
  }
};

TEST(NormCheck, SeesRanksThatClipWithTheirOwnNorm) {
  for (const std::string stage : {"zero1", "zero2", "zero3"}) {
    const auto findings = findings_with<LocalClipper>(micro_config(3), stage);
    ASSERT_FALSE(findings.empty()) << stage;
    EXPECT_EQ(findings.front().step, 1);
    EXPECT_NE(text_of(findings).find("rank 2 has norm"), std::string::npos) << text_of(findings);
  }
}

class NeverClipping final : public Clipper {
 public:
  NeverClipping(Device& device, Stream& compute, Communicator& comm, Kernels& kernels, double,
                std::int64_t count)
      : Clipper(device, compute, comm, kernels, 0, count) {}
};

TEST(NormCheck, SeesClippingThatIsLeftOut) {
  for (const Shape shape : kShapes) {
    const auto findings =
        findings_with<NeverClipping>(micro_config(shape.ranks, shape.accumulate), "zero2");
    EXPECT_NE(text_of(findings).find("above the limit 0.5"), std::string::npos)
        << shape.ranks << " ranks: " << text_of(findings);
  }
}

/// The maximum where the minimum belongs: gradients are scaled up to the limit.
class AmplifyingClipper final : public Clipper {
 public:
  using Clipper::Clipper;

 protected:
  void finish(View maxima, View sums, int parts, double scale) override {
    Clipper::finish(maxima, sums, parts, scale * 8);
  }
};

TEST(NormCheck, SeesAFactorThatIsTooLarge) {
  RunConfig config = micro_config(2);
  config.clip = 1e6;
  const auto findings = findings_with<AmplifyingClipper>(config, "ddp");
  EXPECT_NE(text_of(findings).find("the right factor is"), std::string::npos) << text_of(findings);
}

TEST(NormCheck, SeesANormThatIsNotANumber) {
  struct NanClipper final : Clipper {
    using Clipper::Clipper;
    void finish(View maxima, View sums, int parts, double) override {
      Clipper::finish(maxima, sums, parts, std::nan(""));
    }
  };
  EXPECT_FALSE(findings_with<NanClipper>(micro_config(2), "zero1").empty());
}

TEST(NormCheck, AllowsOneRoundingToFp32) {
  const ExpectedNorm expected = expected_norm(3.0, 1000, 0.25, 0);
  EXPECT_DOUBLE_EQ(expected.norm, 0.25 * std::sqrt(3.0));
  EXPECT_EQ(expected.factor, 0.25);
  EXPECT_LT(expected.tolerance, 0x1.1p-24);
}

TEST(NormCheck, ExpectsTheFactorOfTheReference) {
  const ExpectedNorm expected = expected_norm(16.0, 1, 1.0, 1.0);
  EXPECT_DOUBLE_EQ(expected.factor, 1.0 / (4.0 + 1e-6));
}

}  // namespace
}  // namespace zerolab::test
