#include "experiments/runner/results.h"

#include <nlohmann/json.hpp>

namespace zerolab {

// CBOR keeps every double and every 64-bit hash as it is.
template <class T>
void optional_to_json(nlohmann::json& j, const std::optional<T>& value) {
  j = value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}
template <class T>
void optional_from_json(const nlohmann::json& j, std::optional<T>& value) {
  if (!j.is_null()) value = j.get<T>();
}

}  // namespace zerolab

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) {
    zerolab::optional_to_json(j, value);
  }
  static void from_json(const json& j, std::optional<T>& value) {
    zerolab::optional_from_json(j, value);
  }
};

namespace zerolab {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, check, step, phase, tensor, rank, element, expected,
                                   value, ulp, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepRecord, step, loss, grad_norm, factor, learning_rate,
                                   loss_scale, skipped, held_out_loss, seconds, tokens, positions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepFingerprints, step, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Volume, calls, sent_intra, sent_inter, received_intra,
                                   received_inter)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CollectiveRecord, sequence, op, dtype, count, group_size, group,
                                   traffic, phase, what, detail, sent_to, received_from, start_ns,
                                   end_ns, nominal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryEvent, time_ns, name, category, bytes, total_bytes, moment)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryMoment, name, first_event)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Span, stream, name, detail, start_ns, end_ns, sequence)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankResult, rank, steps, fingerprints, findings,
                                   peak_by_category, at_peak, peak_bytes, peak_moment,
                                   reserved_bytes, training_volume, evaluation_volume, evaluations,
                                   records, held_before, memory_events, moments, spans)

std::string serialize(const RankResult& result) {
  std::string bytes;
  nlohmann::json::to_cbor(nlohmann::json(result), bytes);
  return bytes;
}

RankResult deserialize(const std::string& text) {
  return nlohmann::json::from_cbor(text).get<RankResult>();
}

std::vector<StepFingerprints> StageResult::fingerprints() const {
  std::vector<StepFingerprints> sums = ranks.front().fingerprints;
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    const std::vector<StepFingerprints>& share = ranks[r].fingerprints;
    if (share.size() != sums.size()) {
      fail("[fingerprints] rank {} of {} recorded {} steps, rank 0 recorded {}", r, name,
           share.size(), sums.size());
    }
    for (std::size_t s = 0; s < sums.size(); ++s) {
      for (std::size_t phase = 0; phase < sums[s].values.size(); ++phase) {
        for (std::size_t t = 0; t < sums[s].values[phase].size(); ++t) {
          sums[s].values[phase][t] += share[s].values.at(phase).at(t);
        }
      }
    }
  }
  return sums;
}

std::vector<Finding> StageResult::findings() const {
  std::vector<Finding> all;
  for (const RankResult& rank : ranks) {
    all.insert(all.end(), rank.findings.begin(), rank.findings.end());
  }
  return all;
}

}  // namespace zerolab
