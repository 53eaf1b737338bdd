#include "stages/memory/category.h"

namespace zerolab {

std::string_view name_of(Category category) {
  switch (category) {
    case Category::kParameters:
      return "parameters";
    case Category::kGradients:
      return "gradients";
    case Category::kAccumulators:
      return "accumulators";
    case Category::kMasterWeights:
      return "master_weights";
    case Category::kFirstMoments:
      return "first_moments";
    case Category::kSecondMoments:
      return "second_moments";
    case Category::kGatheredParameters:
      return "gathered_parameters";
    case Category::kGradientBuckets:
      return "gradient_buckets";
    case Category::kUnitGradients:
      return "unit_gradients";
    case Category::kActivations:
      return "activations";
    case Category::kCommunicationStaging:
      return "communication_staging";
    case Category::kWorkspace:
      return "workspace";
    case Category::kChecks:
      return "checks";
  }
  return "unknown";
}

}  // namespace zerolab
