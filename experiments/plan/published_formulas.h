/// \file
/// The formulas that published figures are recomputed by.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace zerolab {

/// "psi=7.5e9 ranks=64 accounting=zero": what a row's formula is evaluated at.
class FormulaArguments {
 public:
  /// \throws BadInput for a word that is no "name=value".
  explicit FormulaArguments(const std::string& words);

  bool has(const std::string& name) const { return values_.contains(name); }
  /// \throws BadInput when it is missing or no number.
  double number(const std::string& name) const;
  double number_or(const std::string& name, double otherwise) const;
  std::string text(const std::string& name) const;
  std::string text_or(const std::string& name, const std::string& otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

/// "states", "largest_model", … \throws BadInput naming the nearest known formula.
double evaluate_formula(const std::string& name, const FormulaArguments& arguments);

}  // namespace zerolab
