#include "experiments/checks/tensor_capture.h"

#include "experiments/runner/part_settings.h"

#include <limits>
#include <set>

#include "experiments/checks/pack.h"
#include "experiments/checks/ulp.h"
#include "experiments/runner/drain_while_unwinding.h"

namespace zerolab {
namespace {

using Part = CapturedTensor::Part;

/// A category's elements in canonical order; who holds each, −1 for nobody.
struct Whole {
  std::vector<float> values;
  std::vector<int> owner;
};

Whole join(const CapturedTensor& captured, Category category, std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  Whole whole{std::vector<float>(size, std::numeric_limits<float>::quiet_NaN()),
              std::vector<int>(size, -1)};
  for (const Part& part : captured.parts) {
    if (part.category != category) continue;
    for (std::size_t i = 0; i < part.values.size(); ++i) {
      whole.values.at(static_cast<std::size_t>(part.begin) + i) = part.values[i];
      whole.owner[static_cast<std::size_t>(part.begin) + i] = part.rank;
    }
  }
  return whole;
}

std::string held(float value, int owner) {
  return owner < 0 ? "held by no rank" : fmt::format("{:.9g}", value);
}

}  // namespace

void TensorCapture::started(Stage& stage) { capture_states(0, stage); }

void TensorCapture::gradients_complete(std::int64_t step, Stage& stage) {
  if (step == moment_.step && moment_.phase == kFingerprintPhases[0]) {
    capture(stage, {Category::kGradients});
  }
}

void TensorCapture::step_ended(const StepRecord& record, Stage& stage) {
  capture_states(record.step, stage);
}

void TensorCapture::capture_states(std::int64_t step, Stage& stage) {
  if (step != moment_.step) return;
  if (moment_.phase == kFingerprintPhases[1]) capture(stage, {Category::kParameters});
  if (moment_.phase == kFingerprintPhases[2]) {
    capture(stage, optimizer_states_of(context_.config));
  }
}

void TensorCapture::capture(Stage& stage, const std::vector<Category>& categories) {
  std::vector<Part> parts;
  const DrainWhileUnwinding drain(context_.comm, context_.compute);
  for (const Category category : categories) {
    stage.visit_owned(category, [&](const OwnedSlice& slice) {
      if (slice.replicated && context_.ranks.rank() != 0) return;
      for (const Segment& s : slice.segments) {
        if (s.tensor != moment_.tensor) continue;
        const auto size = static_cast<std::size_t>(s.count);
        parts.push_back(
            {context_.ranks.rank(), category, s.tensor_begin, std::vector<float>(size)});
        context_.kernels.download_fp32(context_.compute, slice.values.slice(s.flat_begin, s.count),
                                       parts.back().values.data());
      }
    });
  }
  context_.compute.synchronize();
  std::string mine;
  for (const Part& part : parts) {
    pack(mine, part.category);
    pack(mine, part.begin);
    pack_all(mine, std::span<const float>(part.values));
  }
  const std::vector<std::string> all = context_.ranks.gather_texts(mine);
  if (context_.ranks.rank() != reporting_rank_) return;
  captured_.parts.clear();
  for (std::size_t r = 0; r < all.size(); ++r) {
    for (Unpacker unpacker(all[r]); !unpacker.empty();) {
      const auto category = unpacker.take<Category>();
      const auto begin = unpacker.take<std::int64_t>();
      captured_.parts.push_back({static_cast<int>(r), category, begin, unpacker.take_all<float>()});
    }
  }
}

std::optional<Divergence> locate_difference(const CapturedTensor& reference,
                                            const CapturedTensor& candidate,
                                            const CaptureMoment& moment,
                                            const ParameterLayout& layout) {
  const TensorSpec& tensor = layout.tensor(moment.tensor);
  std::set<Category> categories;
  for (const CapturedTensor* captured : {&reference, &candidate}) {
    for (const Part& part : captured->parts) categories.insert(part.category);
  }
  for (const Category category : categories) {
    const Whole a = join(reference, category, tensor.count());
    const Whole b = join(candidate, category, tensor.count());
    Divergence found;
    for (std::size_t e = 0; e < a.values.size(); ++e) {
      const bool equal = same_bits(a.values[e], b.values[e]) && a.owner[e] >= 0 && b.owner[e] >= 0;
      if (equal || found.differing_elements++ > 0) continue;
      found.step = moment.step;
      found.phase = moment.phase;
      found.tensor = tensor.name;
      found.rank = b.owner[e];
      found.element = static_cast<std::int64_t>(e);
      found.reference_value = a.values[e];
      found.value = b.values[e];
      found.ulp = ulp_distance(a.values[e], b.values[e]);
      found.sentence = fmt::format(
          "step {}: element {} of {} ({}, owned by rank {}) is {}, the reference's is "
          "{}, {} ULP apart",
          moment.step, e, tensor.name, name_of(category), found.rank, held(b.values[e], b.owner[e]),
          held(a.values[e], a.owner[e]), found.ulp);
    }
    if (found.differing_elements == 0) continue;
    found.sentence +=
        fmt::format("; {} of {} elements differ", found.differing_elements, tensor.count());
    return found;
  }
  return std::nullopt;
}

}  // namespace zerolab
