/// \file
/// The formulas of published figures by subject: each calls what a plan calls, where a plan does.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "experiments/plan/published_formulas.h"

namespace zerolab {

using Args = FormulaArguments;
using PublishedFormula = std::function<double(const Args&)>;
using FormulaFamily = std::map<std::string, PublishedFormula>;

/// Model states, estimators, the largest model that fits.
FormulaFamily state_formulas();
/// Passes over the parameters, collectives, the time that they take.
FormulaFamily volume_formulas();
/// Sizes, activations, arithmetic.
FormulaFamily model_formulas();

}  // namespace zerolab
