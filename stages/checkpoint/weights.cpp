#include "stages/checkpoint/weights.h"

#include <algorithm>
#include <cstring>

#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/core/nearest.h"

namespace zerolab {

namespace {

constexpr std::string_view kPrefix = "transformer.";
constexpr const char* kHead = "lm_head.weight";
constexpr std::int64_t kFloatBytes = 4;

Range in_bytes(Range elements) {
  return {elements.begin * kFloatBytes, elements.end * kFloatBytes};
}

/// Buffers that Hugging Face's attention used to store beside its weights.
bool is_causal_mask(const std::string& name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
}

std::vector<SafetensorsEntry> announced(const ParameterLayout& layout) {
  std::vector<SafetensorsEntry> entries;
  for (const TensorSpec& tensor : layout.tensors()) {
    entries.push_back({tensor.name, "F32", tensor.shape, {}});
  }
  return entries;
}

std::vector<std::string> names_of(const ParameterLayout& layout) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : layout.tensors()) names.push_back(tensor.name);
  return names;
}

}  // namespace

WeightsFile::WeightsFile(ParameterLayout layout, const std::filesystem::path& path)
    : layout_(std::move(layout)), file_(path), entries_(layout_.tensors().size(), nullptr) {
  const SafetensorsEntry* head = nullptr;
  for (const SafetensorsEntry& entry : file_.entries()) {
    std::string name = entry.name;
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
    if (is_causal_mask(name)) continue;
    if (name == kHead) {
      head = &entry;
    } else {
      adopt(entry, std::move(name));
    }
  }
  for (std::size_t tensor = 0; tensor < entries_.size(); ++tensor) {
    if (entries_[tensor] == nullptr) {
      bad_input("[weights] {} lacks '{}'; it is not a file of this model", path.string(),
                layout_.tensors()[tensor].name);
    }
  }
  if (head != nullptr) require_tied(*head);
}

void WeightsFile::adopt(const SafetensorsEntry& entry, std::string name) {
  const std::string file = file_.path().string();
  const std::vector<std::string> names = names_of(layout_);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    bad_input("[weights] {} has '{}', which the model does not; the nearest name is '{}'", file,
              entry.name, nearest(name, names));
  }
  const auto tensor = static_cast<std::size_t>(found - names.begin());
  if (entries_[tensor] != nullptr) {
    bad_input("[weights] {} has both '{}' and '{}'", file, entries_[tensor]->name, entry.name);
  }
  if (entry.dtype != "F32") {
    bad_input("[weights] {}: '{}' is {}; only F32 is read, so convert the file", file, entry.name,
              entry.dtype);
  }
  const std::vector<std::int64_t>& shape = layout_.tensors()[tensor].shape;
  if (entry.shape != shape) {
    bad_input("[weights] {}: '{}' has the shape ({}); the model's is ({})", file, entry.name,
              joined(entry.shape), joined(shape));
  }
  entries_[tensor] = &entry;
}

void WeightsFile::require_tied(const SafetensorsEntry& head) const {
  const auto wte =
      std::find_if(layout_.tensors().begin(), layout_.tensors().end(),
                   [](const TensorSpec& tensor) { return tensor.name == "wte.weight"; });
  bool tied = wte != layout_.tensors().end() && head.dtype == "F32" && head.shape == wte->shape;
  if (tied) {
    const int tensor = static_cast<int>(wte - layout_.tensors().begin());
    const std::int64_t row = wte->shape[1];
    std::vector<float> ours(static_cast<std::size_t>(row)), theirs(ours.size());
    for (std::int64_t begin = 0; tied && begin < wte->count(); begin += row) {
      read(tensor, {begin, begin + row}, ours.data());
      file_.read(head, in_bytes({begin, begin + row}), theirs.data());
      tied = std::memcmp(ours.data(), theirs.data(), ours.size() * sizeof(float)) == 0;
    }
  }
  if (!tied) {
    bad_input("[weights] {}: '{}' differs from wte.weight; only a tied head is implemented",
              file_.path().string(), head.name);
  }
}

void WeightsFile::read(int tensor, Range elements, float* dst) const {
  file_.read(*entries_.at(static_cast<std::size_t>(tensor)), in_bytes(elements), dst);
}

WeightsWriter::WeightsWriter(ParameterLayout layout, const std::filesystem::path& path)
    : layout_(std::move(layout)), writer_(path, announced(layout_), {{"format", "pt"}}) {}

void WeightsWriter::write(int tensor, Range elements, const float* src) {
  writer_.write(layout_.tensor(tensor).name, in_bytes(elements), src);
}

void WeightsWriter::finish() { writer_.finish(); }

}  // namespace zerolab
