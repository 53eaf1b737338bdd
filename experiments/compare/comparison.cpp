#include "experiments/compare/comparison.h"

namespace zerolab {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEqual:
      return "equal";
    case Verdict::kExplained:
      return "explained";
    case Verdict::kWithinNoise:
      return "within_noise";
    case Verdict::kDiverged:
      return "diverged";
  }
  return "diverged";
}

}  // namespace zerolab
