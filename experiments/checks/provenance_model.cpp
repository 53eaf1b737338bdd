#include "experiments/checks/provenance_model.h"

#include <algorithm>

namespace zerolab {
namespace {

std::vector<float> parameter_codes(const ElementNumbers& numbers, const ParameterCodes& coding,
                                   int tensor, Range elements, std::int64_t step) {
  std::vector<float> codes;
  codes.reserve(static_cast<std::size_t>(elements.size()));
  for (std::int64_t e = elements.begin; e < elements.end; ++e) {
    codes.push_back(coding.code(numbers.of(tensor, e), step));
  }
  return codes;
}

}  // namespace

ProvenanceModel::ProvenanceModel(const Model& shape, Device& device, Stream& compute,
                                 Kernels& kernels)
    : layout_(shape.layout()), numbers_(layout_), compute_(compute), kernels_(kernels) {
  std::int64_t largest = 0;
  for (const UnitLayout& unit : layout_.units()) largest = std::max(largest, unit.size);
  codes_ = device.allocate(DType::kFloat32, largest, Category::kChecks, "gradient codes", compute);
}

void ProvenanceModel::walk(Stage& stage, std::span<const Use> uses) {
  std::vector<int> visits(layout_.units().size()), visit(layout_.units().size());
  for (const Use& use : uses) {
    if (use.phase == Phase::kBackward) ++visits[static_cast<std::size_t>(use.unit)];
  }
  for (const Use& use : uses) {
    const UnitView parameters = stage.acquire(use);
    if (use.reads_parameters) {
      Reading& reading = readings_.emplace_back();
      reading.use = use;
      read(parameters.trained, reading.trained);
      read(parameters.frozen, reading.frozen);
    }
    if (use.phase == Phase::kBackward && layout_.unit(use.unit).size > 0) {
      const auto unit = static_cast<std::size_t>(use.unit);
      add_codes(stage, use, visit[unit]++, visits[unit]);
      if (use.completes_gradient) stage.gradients_ready(use);
    }
    stage.release(use);
  }
}

void ProvenanceModel::read(View part, std::vector<float>& values) {
  values.resize(static_cast<std::size_t>(part.count));
  if (!part.empty()) kernels_.download_fp32(compute_, part, values.data());
}

void ProvenanceModel::add_codes(Stage& stage, const Use& use, int visit, int visits) {
  const UnitLayout& unit = layout_.unit(use.unit);
  const View gradients = stage.gradients(use);
  host_.assign(static_cast<std::size_t>(unit.size), 0.0F);  // gaps stay 0
  for (const TensorPlace& place : unit.places) {
    if (layout_.tensor(place.tensor).frozen) continue;
    float* const values = host_.data() + place.offset;
    for (std::int64_t e = visit; e < layout_.tensor(place.tensor).count(); e += visits) {
      values[e] = code_(numbers_.of(place.tensor, e));
    }
  }
  const View codes = codes_.slice(0, unit.size);
  kernels_.upload(compute_, host_.data(), codes.bytes(), codes);
  kernels_.add(compute_, codes, gradients);
}

std::deque<ProvenanceModel::Reading> ProvenanceModel::take_readings() {
  compute_.synchronize();
  return std::exchange(readings_, {});
}

void CodedParameters::write(Stream& stream, int tensor, Range elements, View dst) {
  const std::vector<float> codes = parameter_codes(numbers_, codes_, tensor, elements, 0);
  kernels_.upload_fp32(stream, codes.data(), dst);
}

void CodingKernels::adamw(Stream& stream, View p, View, View, View, View, const AdamWRule& rule,
                          const std::vector<Segment>& segments) {
  write_codes(stream, p, rule.step, segments);
}

void CodingKernels::sgd(Stream& stream, View p, View, View, View, const SgdRule& rule,
                        const std::vector<Segment>& segments) {
  write_codes(stream, p, rule.step, segments);
}

void CodingKernels::write_codes(Stream& stream, View p, std::int64_t step,
                                const std::vector<Segment>& segments) {
  for (const Segment& s : segments) {
    const Range elements{s.tensor_begin, s.tensor_begin + s.count};
    const std::vector<float> codes = parameter_codes(numbers_, codes_, s.tensor, elements, step);
    const View dst = p.slice(s.flat_begin, s.count);
    inner().upload_fp32(stream, codes.data(), dst);
  }
}

}  // namespace zerolab
