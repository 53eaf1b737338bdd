/// \file
/// From a configuration to what the ranks of a run share.
#pragma once

#include <memory>

#include "experiments/config/run_config.h"
#include "stages/data/batch_source.h"
#include "stages/data/token_source.h"
#include "stages/model/model_factory.h"
#include "stages/parallel/initial_parameters.h"

namespace zerolab {

/// T: as configured, or the model's maximum. 1 for models without a time axis.
ModelSpec model_of(const RunConfig& config);

std::int64_t sequence_length(const RunConfig& config, const ModelSpec& model);

/// Philox, or a safetensors file where the configuration names one.
std::unique_ptr<InitialParameters> initial_parameters(const RunConfig& config,
                                                      const ParameterLayout& layout,
                                                      Kernels& kernels);

/// Opens the data that a model of this kind reads: token files (default: the repository's corpus),
/// or drawn regression samples. Lives as long as the runs that read it.
class RunData {
 public:
  /// \throws BadInput naming the file and the remedy.
  RunData(const RunConfig& config, const ModelSpec& model);
  const BatchSource& batches() const { return *batches_; }

 private:
  std::unique_ptr<TokenSource> tokens_;
  std::unique_ptr<BatchSource> batches_;
};

}  // namespace zerolab
