/// \file
/// Where initial weights come from, and weight files with Hugging Face's GPT-2 names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "stages/checkpoint/safetensors.h"
#include "stages/model/layout.h"

namespace zerolab {

/// Values of a model's tensors. Any part of any tensor can be read by itself, so each owner reads
/// its slices and nobody needs the whole model. Immutable: several ranks may read at once.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// Canonical elements [begin, end) of tensor `tensor` (its index in the layout) to host memory.
  /// \throws Failure when a file can no longer be read.
  virtual void read(int tensor, Range elements, float* dst) const = 0;
};

/// The layout's initial values: zeros, ones, or normal numbers that Philox draws from (seed,
/// tensor, element), the same as `Kernels::normal(dst, deviation, seed, tensor, element)`.
class InitialWeights final : public TensorSource {
 public:
  InitialWeights(ParameterLayout layout, std::uint64_t seed);
  void read(int tensor, Range elements, float* dst) const override;

 private:
  ParameterLayout layout_;
  std::uint64_t seed_;
};

/// A safetensors file with the layout's tensors as F32. Names may carry Hugging Face's prefix
/// "transformer."; the causal masks "*.attn.bias" and "*.attn.masked_bias" are ignored, and so is
/// "lm_head.weight" where it equals wte.weight.
class WeightsFile final : public TensorSource {
 public:
  /// \throws BadInput naming the file and the tensor when the file is corrupt, or a tensor is
  /// missing, unknown, given twice, not F32 or of another shape, or the head is not tied.
  WeightsFile(ParameterLayout layout, const std::filesystem::path& path);
  void read(int tensor, Range elements, float* dst) const override;

 private:
  void adopt(const SafetensorsEntry& entry, std::string name);
  void require_tied(const SafetensorsEntry& head) const;

  ParameterLayout layout_;
  SafetensorsFile file_;
  std::vector<const SafetensorsEntry*> entries_;  // by tensor
};

/// Writes all tensors of a layout as F32 under their Hugging Face names, so that
/// GPT2LMHeadModel.from_pretrained reads the file. Slices come in any order; each element once.
class WeightsWriter {
 public:
  /// \throws Failure when the file cannot be created.
  WeightsWriter(ParameterLayout layout, const std::filesystem::path& path);

  /// \throws Failure (disk full, …); nothing is left behind then.
  void write(int tensor, Range elements, const float* src);
  /// The file appears. \throws Failure, or std::logic_error when elements are missing.
  void finish();

 private:
  ParameterLayout layout_;
  SafetensorsWriter writer_;
};

}  // namespace zerolab
