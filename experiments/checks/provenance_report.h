/// \file
/// From wrong codes to sentences: "rank 2's micro-batch 1 is missing from elements 4096–8191 of
/// h.1.mlp.c_fc.weight".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/checks/finding_list.h"
#include "experiments/checks/provenance_codes.h"
#include "experiments/checks/provenance_model.h"

namespace zerolab {

/// Reduced gradients that this rank owns.
struct OwnedCodes {
  int tensor = 0;
  std::int64_t begin = 0;
  std::vector<float> values;
};

/// Whether training micro-batch m of a step adds gradients to tensor t, [m][t]: one that bypasses a
/// block does not.
using TensorsVisited = std::vector<std::vector<bool>>;

/// Compares codes with what they should be and collects one finding a run of elements that is wrong
/// in one way.
class ProvenanceReport {
 public:
  /// Contributor m·N + r is micro-batch m of rank r.
  /// `digits`: the type that holds the fewest integers of those that contributions pass through.
  ProvenanceReport(const ParameterLayout& layout, const ElementNumbers& numbers,
                   ParameterCodes codes, DType digits, int ranks, TensorsVisited visited, int rank)
      : layout_(layout),
        numbers_(numbers),
        codes_(codes),
        per_pass_(contributors_per_pass(digits)),
        ranks_(ranks),
        visited_(std::move(visited)),
        contributors_(ranks * static_cast<int>(visited_.size())),
        rank_(rank) {}

  int contributors() const { return contributors_; }
  /// That write digits in one pass.
  int per_pass() const { return per_pass_; }

  /// A pass in which contributors `first` and the next ones wrote their digits.
  void check_contributors(const std::vector<OwnedCodes>& owned, int first);
  /// Two placement passes in which contributors `begin` … `end` − 1 wrote.
  void check_placement(const std::vector<OwnedCodes>& first, const std::vector<OwnedCodes>& second,
                       int begin, int end);
  /// What a use of the `step`-th pass (from 1) read: the previous step's codes.
  void check_reading(const ProvenanceModel::Reading& reading, std::int64_t step);

  FindingList& findings() { return findings_; }

 private:
  std::string contributor(int index) const;
  /// Whether contributor `index` adds gradients to the tensor.
  bool visits(int index, int tensor) const;
  std::string explain_digits(float value, int first, int tensor, const std::string& where) const;
  void add(const char* phase, int tensor, std::int64_t element, std::string message);

  const ParameterLayout& layout_;
  const ElementNumbers& numbers_;
  ParameterCodes codes_;
  int per_pass_;
  int ranks_;
  TensorsVisited visited_;
  int contributors_, rank_;
  FindingList findings_;
};

}  // namespace zerolab
