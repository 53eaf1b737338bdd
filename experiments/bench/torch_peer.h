/// \file
/// PyTorch, training the same shape in a process of its own that takes turns with ours.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "experiments/bench/child_process.h"
#include "stages/model/gpt_config.h"

namespace zerolab {

struct TorchSettings {
  GptConfig model;
  std::int64_t batch = 1, time = 1;
  int threads = 1;
  /// glibc's allocator keeps large blocks, and AdamW updates all tensors at once: both help large
  /// models, neither is PyTorch's default.
  bool tuned = false;
};

/// Runs torch_steps.py the fair way: OpenBLAS for OpenMP (Debian's default one fights with
/// PyTorch's own threads), as many threads as ours, gradients dropped instead of zeroed.
class TorchPeer {
 public:
  /// \throws Failure saying why PyTorch cannot train here.
  explicit TorchPeer(const TorchSettings& settings);

  /// Seconds of `steps` training steps. \throws Failure when it has gone.
  double train(std::int64_t steps);
  /// "PyTorch 1.13.1"
  const std::string& name() const { return name_; }

 private:
  std::string answer();

  ChildProcess process_;
  std::string name_;
};

}  // namespace zerolab
