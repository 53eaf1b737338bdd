/// \file
/// What one rank brings home from a run, and what all ranks of one stage bring together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/checks/finding.h"
#include "stages/comm/comm_ledger.h"
#include "stages/memory/ledger.h"
#include "stages/train/step_record.h"

namespace zerolab {

/// One operation or wait on one stream, for traces.
struct Span {
  int stream = 0;      ///< 0 compute, 1 communication
  std::string name;    ///< "all_gather", "wait"
  std::string detail;  ///< "h.2", "unit gathered"
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t sequence = -1;  ///< of a collective, else -1
};

/// The phases whose bits are fingerprinted, in the order in which they can first differ.
inline constexpr const char* kFingerprintPhases[] = {"gradients", "parameters", "optimizer_state"};

/// Fingerprint of every tensor after a step (0: before training): `values[phase][tensor]`, summed
/// over the owners.
struct StepFingerprints {
  std::int64_t step = 0;
  std::vector<std::vector<std::uint64_t>> values;
};

struct RankResult {
  int rank = 0;
  std::vector<StepRecord> steps;
  std::vector<StepFingerprints> fingerprints;  ///< this rank's share
  std::vector<Finding> findings;

  CategoryBytes peak_by_category{};  ///< each category's own peak
  CategoryBytes at_peak{};           ///< by category at the moment of the largest total
  std::int64_t peak_bytes = 0;       ///< without kChecks
  std::string peak_moment;
  std::int64_t reserved_bytes = 0;  ///< of the pool

  CommLedger::Table training_volume{};    ///< all steps together
  CommLedger::Table evaluation_volume{};  ///< all evaluations together
  std::int64_t evaluations = 0;

  std::vector<CollectiveRecord> records;   ///< of the last step
  CategoryBytes held_before{};             ///< when the last step began
  std::vector<MemoryEvent> memory_events;  ///< of the last step
  std::vector<MemoryMoment> moments;       ///< of the last step
  std::vector<Span> spans;                 ///< with --trace
};

/// One stage, all ranks, on the rank that reports.
struct StageResult {
  std::string name;   ///< "zero2", "ddp.local"
  std::string stage;  ///< "zero2", "ddp"
  std::vector<RankResult> ranks;

  const std::vector<StepRecord>& steps() const { return ranks.front().steps; }
  /// Fingerprints summed over the owners.
  std::vector<StepFingerprints> fingerprints() const;
  std::vector<Finding> findings() const;
};

/// To send a rank's result to the rank that reports. Doubles and bits survive exactly.
std::string serialize(const RankResult& result);
RankResult deserialize(const std::string& text);

}  // namespace zerolab
