/// \file
/// From a name on the command line to a model.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/gpt_config.h"
#include "stages/model/model.h"
#include "stages/model/model_options.h"
#include "stages/model/tied_mlp.h"

namespace zerolab {

struct ModelSpec {
  std::string name;  ///< as given: "gpt-tiny", "tied-mlp", "path/config.json"
  std::variant<GptConfig, TiedMlpConfig> config;
  std::vector<std::string> notices;  ///< to be shown to the user, one sentence each
  DType dtype = DType::kFloat32;     ///< of parameters and activations: fp32, bf16 or fp16
  /// What the file says about dropout: the probabilities of embedding, attention and residual.
  std::vector<double> dropouts = {};
  std::vector<int> frozen = {};  ///< tensors that are not trained, by their index in the layout

  bool is_gpt() const { return std::holds_alternative<GptConfig>(config); }
  /// \throws std::bad_variant_access unless `is_gpt()`.
  const GptConfig& gpt() const { return std::get<GptConfig>(config); }
  const TiedMlpConfig& tied_mlp() const { return std::get<TiedMlpConfig>(config); }
};

/// The names that `parse_model` knows, besides files ending in ".json".
std::vector<std::string> model_names();

/// A preset's name, "tied-mlp", or a Hugging Face config.json.
/// \throws BadInput naming the nearest known name, or what is wrong with the file.
ModelSpec parse_model(const std::string& name_or_json_path);

/// The one dropout that the model's file asks for; 0 where it asks for none.
/// \throws BadInput when it asks for several.
double dropout_of_file(const ModelSpec& spec);

/// The parameters of the model, without allocating anything.
ParameterLayout layout_of(const ModelSpec& spec);

/// `batch` sequences (or samples) a micro-batch, of `time` tokens each (ignored by tied-mlp, whose
/// samples have no time axis).
/// \throws BadInput when the sizes do not fit the model, or it does not have an option.
std::unique_ptr<Model> make_model(const ModelSpec& spec, Device& device, Stream& compute,
                                  Kernels& kernels, std::int64_t batch, std::int64_t time,
                                  const ModelOptions& options = {});

/// fp32 elements in which a 16-bit model's operations are computed (WideningKernels): 0 in fp32.
std::int64_t widening_elements(const ModelSpec& spec, std::int64_t batch, std::int64_t time);

/// Bytes that `make_model` allocates, by closed formula (activation_formula.h).
struct ModelBytes {
  std::int64_t activations = 0;
  std::int64_t workspace = 0;
};
/// `kernels` only tells what its attention keeps.
ModelBytes model_bytes(const ModelSpec& spec, const Kernels& kernels, std::int64_t batch,
                       std::int64_t time, const ModelOptions& options = {});

}  // namespace zerolab
