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

/// Compares codes with what they should be and collects one finding a run of elements that is wrong
/// in one way.
class ProvenanceReport {
 public:
  /// Contributor m·N + r is micro-batch m of rank r.
  ProvenanceReport(const ParameterLayout& layout, const ElementNumbers& numbers, int ranks,
                   int micro_batches, int rank)
      : layout_(layout),
        numbers_(numbers),
        ranks_(ranks),
        contributors_(ranks * micro_batches),
        rank_(rank) {}

  int contributors() const { return contributors_; }

  /// A pass in which contributors `first` and the next ones wrote their digits.
  void check_contributors(const std::vector<OwnedCodes>& owned, int first);
  /// The two placement passes.
  void check_placement(const std::vector<OwnedCodes>& first, const std::vector<OwnedCodes>& second);
  /// What a use of the `step`-th pass (from 1) read: the previous step's codes.
  void check_reading(const ProvenanceModel::Reading& reading, std::int64_t step);

  FindingList& findings() { return findings_; }

 private:
  std::string contributor(int index) const;
  std::string explain_digits(float value, int first, const std::string& where) const;
  void add(const char* phase, int tensor, std::int64_t element, std::string message);

  const ParameterLayout& layout_;
  const ElementNumbers& numbers_;
  int ranks_, contributors_, rank_;
  FindingList findings_;
};

}  // namespace zerolab
