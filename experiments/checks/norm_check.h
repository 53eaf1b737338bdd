/// \file
/// NORM: the gradient norm is right, and so is the factor that clipping makes of it.
#pragma once

#include <vector>

#include "experiments/checks/check.h"
#include "experiments/checks/finding_list.h"

namespace zerolab {

/// What a right implementation may report for a gradient.
struct ExpectedNorm {
  double norm = 0;       ///< of the mean gradient
  double factor = 0;     ///< what the optimizer multiplies the summed gradient with
  double tolerance = 0;  ///< relative, of both
};

/// norm = scale · √sum; factor = scale · min(1, max_norm / (norm + 1e-6)), `max_norm` <= 0: scale.
///
/// The tolerance is what rounding may do: 2⁻²⁴ when the result becomes fp32, 2⁻³² for what an
/// order-free sum may drop, and n·2⁻⁵³ for adding n squares one by one in fp64, where
/// each square of an fp32 is exact.
ExpectedNorm expected_norm(double sum_of_squares, std::int64_t count, double scale,
                           double max_norm);

/// Recomputes the norm of the reduced gradients in fp64 with code of its own, and compares norm and
/// factor on every rank with it and with each other. Knows what the scale must be: 1 / (N·K), and
/// 1 / loss scale; a gradient that is not finite must not be applied.
class NormCheck final : public Check {
 public:
  explicit NormCheck(const CheckContext& context);

  std::string_view name() const override { return "NORM"; }
  void gradients_complete(std::int64_t step, Stage& stage) override;
  void step_ended(const StepRecord& record, Stage& stage) override;
  std::vector<Finding> findings() override;

 private:
  /// One step on one rank; travels as it is.
  struct Step {
    std::int64_t step = 0;
    std::int64_t count = 0;      // elements summed on this rank
    double sum_of_squares = 0;   // this rank's share
    double scale = 0;            // that makes the mean of the summed gradient
    float norm = 0, factor = 0;  // as reported
  };

  void compare_with_other_ranks();
  void compare(const std::vector<Step>& by_rank);
  void report(const Step& step, int rank, double expected, double value, std::string message);

  CheckContext context_;
  std::vector<float> gradients_;  // this rank's owned elements of the present step
  std::vector<Step> steps_;
  FindingList findings_;
};

}  // namespace zerolab
