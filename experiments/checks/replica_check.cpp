#include "experiments/checks/replica_check.h"

#include "experiments/runner/part_settings.h"

#include <algorithm>
#include <bit>
#include <map>

#include "experiments/checks/pack.h"
#include "experiments/runner/results.h"
#include "stages/comm/call_header.h"
#include "stages/parallel/forwarding_stage.h"

namespace zerolab {
namespace {

constexpr std::string_view kAcquired = "acquired";
constexpr std::string_view kScalars = "scalars";
constexpr const char* kScalarNames[] = {"the loss",           "the gradient norm",
                                        "the factor",         "the learning rate",
                                        "the gradient scale", "the step counter"};
/// Rows are compared every so often, so that long runs do not pile them up.
constexpr std::int64_t kStepsPerComparison = 64;

std::vector<Segment> segments_of(const UnitLayout& unit, const ParameterLayout& layout,
                                 bool frozen) {
  std::vector<Segment> segments;
  for (const TensorPlace& place : unit.places) {
    if (layout.tensor(place.tensor).frozen != frozen) continue;
    segments.push_back({place.tensor, 0, place.offset, layout.tensor(place.tensor).count(), false});
  }
  return segments;
}

}  // namespace

class ReplicaCheck::Probe final : public ForwardingStage {
 public:
  Probe(Stage& inner, ReplicaCheck& check) : ForwardingStage(inner), check_(check) {}

  UnitView acquire(const Use& use) override {
    const UnitView parameters = inner_.acquire(use);
    if (use.phase == Phase::kForward && use.reads_parameters) {
      check_.acquired(use.unit, parameters);
    }
    return parameters;
  }
  void step(const StepSettings& settings) override {
    check_.updating(settings);
    inner_.step(settings);
  }

 private:
  ReplicaCheck& check_;
};

ReplicaCheck::ReplicaCheck(const CheckContext& context)
    : context_(context),
      states_(optimizer_states_of(context.config)),
      hashed_(context.model.layout().units().size(), false) {
  const auto tensors = static_cast<std::int64_t>(context.model.layout().tensors().size());
  for (Buffer* sums : {&acquired_, &replicas_}) {
    *sums = context_.device.allocate(DType::kUInt64, tensors, Category::kChecks,
                                     "hashes of full copies", context_.compute);
  }
}

std::unique_ptr<Stage> ReplicaCheck::probe(Stage& inner) {
  return std::make_unique<Probe>(inner, *this);
}

void ReplicaCheck::started(Stage&) { context_.kernels.zero(context_.compute, acquired_.view()); }

void ReplicaCheck::acquired(UnitId unit, const UnitView& parameters) {
  if (hashed_.at(static_cast<std::size_t>(unit))) return;
  hashed_[static_cast<std::size_t>(unit)] = true;
  const ParameterLayout& layout = context_.model.layout();
  for (const bool frozen : {false, true}) {
    const View part = frozen ? parameters.frozen : parameters.trained;
    if (part.empty()) continue;
    context_.kernels.fingerprint(context_.compute, part,
                                 segments_of(layout.unit(unit), layout, frozen), acquired_.view());
  }
}

void ReplicaCheck::updating(const StepSettings& settings) {
  keep_hashes(version_, kAcquired, acquired_.view());
  context_.kernels.zero(context_.compute, acquired_.view());
  std::fill(hashed_.begin(), hashed_.end(), false);
  settings_ = settings;
  version_ = settings.step;
}

void ReplicaCheck::gradients_complete(std::int64_t step, Stage& stage) {
  if (hash_replicas(stage, Category::kGradients)) {
    keep_hashes(step, kFingerprintPhases[0], replicas_.view());
  }
}

void ReplicaCheck::step_ended(const StepRecord& record, Stage& stage) {
  for (const Category state : states_) {
    if (hash_replicas(stage, state)) {
      keep_hashes(record.step, kFingerprintPhases[2], replicas_.view());
    }
  }
  rows_.push_back(
      {record.step,
       kScalars,
       {std::bit_cast<std::uint64_t>(record.loss), std::bit_cast<std::uint32_t>(record.grad_norm),
        std::bit_cast<std::uint32_t>(record.factor),
        std::bit_cast<std::uint32_t>(settings_.learning_rate),
        std::bit_cast<std::uint64_t>(settings_.gradient_scale),
        static_cast<std::uint64_t>(settings_.step)}});
  for (const std::int64_t position : record.positions) {
    positions_ = positions_ * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(position) + 1;
  }
  if (++steps_since_comparison_ == kStepsPerComparison) compare_with_other_ranks();
}

void ReplicaCheck::ended(Stage&) {
  if (std::find(hashed_.begin(), hashed_.end(), true) == hashed_.end()) return;
  keep_hashes(version_, kAcquired, acquired_.view());
}

bool ReplicaCheck::hash_replicas(Stage& stage, Category category) {
  bool any = false;
  stage.visit_owned(category, [&](const OwnedSlice& slice) {
    if (!slice.replicated) return;
    if (!any) context_.kernels.zero(context_.compute, replicas_.view());
    any = true;
    context_.kernels.fingerprint(context_.compute, slice.values, slice.segments, replicas_.view());
  });
  return any;
}

void ReplicaCheck::keep_hashes(std::int64_t step, std::string_view phase, View sums) {
  Row& row = rows_.emplace_back();
  row.step = step;
  row.phase = phase;
  row.bits.resize(static_cast<std::size_t>(sums.count));
  context_.kernels.download(context_.compute, sums, row.bits.data());
}

void ReplicaCheck::compare_with_other_ranks() {
  context_.compute.synchronize();
  steps_since_comparison_ = 0;
  std::string mine;
  pack(mine, static_cast<std::uint64_t>(rows_.size()));
  for (const Row& row : rows_) pack_all(mine, std::span<const std::uint64_t>(row.bits));

  const std::vector<std::string> texts = context_.ranks.gather_texts(mine);
  std::vector<Unpacker> ranks(texts.begin(), texts.end());
  std::vector<std::uint64_t> counts;
  counts.reserve(ranks.size());
  for (Unpacker& rank : ranks) counts.push_back(rank.take<std::uint64_t>());
  const std::uint64_t comparable = *std::min_element(counts.begin(), counts.end());
  for (std::uint64_t i = 0; i < comparable; ++i) {
    std::vector<std::vector<std::uint64_t>> by_rank;
    by_rank.reserve(ranks.size());
    for (Unpacker& rank : ranks) by_rank.push_back(rank.take_all<std::uint64_t>());
    compare(rows_[i], by_rank);
  }
  const auto least = std::min_element(counts.begin(), counts.end());
  if (*least != *std::max_element(counts.begin(), counts.end())) {
    Finding finding;
    finding.check = name();
    finding.rank = static_cast<int>(least - counts.begin());
    finding.message = fmt::format(
        "rank {} holds fewer replicated states than other ranks; all ranks run the same stage",
        finding.rank);
    findings_.add(std::move(finding));
  }
  rows_.clear();
}

void ReplicaCheck::compare(const Row& mine,
                           const std::vector<std::vector<std::uint64_t>>& by_rank) {
  for (std::size_t i = 0; i < mine.bits.size(); ++i) {
    const auto value_of = [&](std::size_t rank) {
      return i < by_rank[rank].size() ? by_rank[rank][i] : 0;
    };
    std::map<std::uint64_t, std::vector<int>> holders;
    for (std::size_t r = 0; r < by_rank.size(); ++r) {
      holders[value_of(r)].push_back(static_cast<int>(r));
    }
    if (holders.size() == 1) continue;
    // The majority is right; without one, rank 0's side.
    std::uint64_t right = value_of(0);
    for (const auto& [value, ranks] : holders) {
      if (ranks.size() > holders[right].size()) right = value;
    }
    std::vector<int> odd;
    for (std::size_t r = 0; r < by_rank.size(); ++r) {
      if (value_of(r) != right) odd.push_back(static_cast<int>(r));
    }
    const bool scalar = mine.phase == kScalars;
    Finding finding;
    finding.check = name();
    finding.step = mine.step;
    finding.phase = mine.phase == kAcquired ? kFingerprintPhases[1] : mine.phase;
    if (!scalar) finding.tensor = context_.model.layout().tensor(static_cast<int>(i)).name;
    finding.rank = odd.front();
    finding.message =
        fmt::format("step {}: {} of {} {} from the other ranks'", mine.step, name_of(mine, i),
                    list_ranks(odd), scalar || odd.size() == 1 ? "differs" : "differ");
    findings_.add(std::move(finding));
  }
}

std::string ReplicaCheck::name_of(const Row& row, std::size_t index) const {
  if (row.phase == kScalars) return kScalarNames[index];
  const std::string& tensor = context_.model.layout().tensor(static_cast<int>(index)).name;
  if (row.phase == kAcquired) {
    return fmt::format("the full parameters {}{}", tensor, row.step == 0 ? " before training" : "");
  }
  return fmt::format("the replicated {} of {}", row.phase, tensor);
}

std::vector<Finding> ReplicaCheck::findings() {
  compare_with_other_ranks();
  std::string mine;
  pack(mine, positions_);
  const std::vector<std::string> all = context_.ranks.gather_texts(mine);
  const bool same_data = std::all_of(all.begin(), all.end(),
                                     [&](const std::string& text) { return text == all.front(); });
  if (same_data && all.size() > 1 && positions_ != 0) {
    Finding finding;
    finding.check = name();
    finding.phase = "data";
    finding.message =
        "all ranks read the same sequences in every step; ranks must read disjoint data, or a "
        "missing reduction changes nothing";
    findings_.add(std::move(finding));
  }
  std::vector<Finding> found = findings_.take();
  // All ranks have found the same.
  if (context_.ranks.rank() != 0) found.clear();
  return found;
}

}  // namespace zerolab
