#include "experiments/plan/published_formulas.h"

#include <cmath>
#include <sstream>

#include "experiments/plan/published_families.h"
#include "stages/core/error.h"
#include "stages/core/nearest.h"

namespace zerolab {

FormulaArguments::FormulaArguments(const std::string& words) {
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      bad_input("[published] '{}' is no argument; write name=value", word);
    }
    values_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

double FormulaArguments::number(const std::string& name) const {
  const std::string value = text(name);
  std::size_t used = 0;
  double number = 0;
  try {
    number = std::stod(value, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != value.size()) bad_input("[published] {} = '{}' should be a number", name, value);
  return number;
}

double FormulaArguments::number_or(const std::string& name, double otherwise) const {
  return has(name) ? number(name) : otherwise;
}

std::string FormulaArguments::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) bad_input("[published] the argument {} is missing", name);
  return found->second;
}

std::string FormulaArguments::text_or(const std::string& name, const std::string& otherwise) const {
  return has(name) ? text(name) : otherwise;
}

double evaluate_formula(const std::string& name, const FormulaArguments& arguments) {
  std::vector<std::string> names;
  for (const FormulaFamily& family : {state_formulas(), volume_formulas(), model_formulas()}) {
    const auto found = family.find(name);
    if (found != family.end()) return found->second(arguments);
    for (const auto& [known, formula] : family) names.push_back(known);
  }
  bad_input("[published] there is no formula '{}'; did you mean '{}'?", name, nearest(name, names));
}

}  // namespace zerolab
