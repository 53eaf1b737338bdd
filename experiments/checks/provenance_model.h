/// \file
/// PROV's stand-ins: a model that computes nothing, and owners that write codes into parameters.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "experiments/checks/provenance_codes.h"
#include "stages/device/device.h"
#include "stages/kernels/forwarding_kernels.h"
#include "stages/model/model.h"
#include "stages/parallel/initial_parameters.h"
#include "stages/stage.h"

namespace zerolab {

/// Walks the uses of a real model without computing: it reads the parameters where the model would,
/// and adds codes to the gradients where the model would add gradients.
class ProvenanceModel {
 public:
  /// What one use read: the whole unit.
  struct Reading {
    Use use;
    std::vector<float> trained, frozen;
  };

  /// `shape` tells layout and uses.
  ProvenanceModel(const Model& shape, Device& device, Stream& compute, Kernels& kernels);

  /// From now on `code(number)` is this rank's gradient of an element. A unit with several backward
  /// uses gets every element in one of them, in turn, so that losing one use loses elements.
  void contribute(std::function<float(std::int64_t)> code) { code_ = std::move(code); }

  /// Visits all of `uses` on a stage that has been told by `begin`.
  void walk(Stage& stage, std::span<const Use> uses);

  /// The readings since the last call. Blocks the host.
  std::deque<Reading> take_readings();
  const ElementNumbers& numbers() const { return numbers_; }

 private:
  /// Copies what a use sees to the host, by the next synchronisation.
  void read(View part, std::vector<float>& values);
  void add_codes(Stage& stage, const Use& use, int visit, int visits);

  const ParameterLayout& layout_;
  ElementNumbers numbers_;
  Stream& compute_;
  Kernels& kernels_;
  Buffer codes_;             // (largest unit)
  std::vector<float> host_;  // the same on the host
  std::function<float(std::int64_t)> code_;
  std::deque<Reading> readings_;
};

/// Owners start from the codes of step 0.
class CodedParameters final : public InitialParameters {
 public:
  CodedParameters(const ElementNumbers& numbers, ParameterCodes codes, Kernels& kernels)
      : numbers_(numbers), codes_(codes), kernels_(kernels) {}

  using InitialParameters::write;
  void write(Stream& stream, int tensor, Range elements, View dst) override;

 private:
  const ElementNumbers& numbers_;
  ParameterCodes codes_;
  Kernels& kernels_;
};

/// Optimizers that write the step's codes into the parameters that they are given.
class CodingKernels final : public ForwardingKernels {
 public:
  CodingKernels(std::unique_ptr<Kernels> inner, const ParameterLayout& layout, ParameterCodes codes)
      : ForwardingKernels(std::move(inner)), numbers_(layout), codes_(codes) {}

  void adamw(Stream& stream, View p, View g, View m, View v, View factor, const AdamWRule& rule,
             const std::vector<Segment>& segments) override;
  void sgd(Stream& stream, View p, View g, View momentum, View factor, const SgdRule& rule,
           const std::vector<Segment>& segments) override;

 private:
  void write_codes(Stream& stream, View p, std::int64_t step, const std::vector<Segment>& segments);

  ElementNumbers numbers_;
  ParameterCodes codes_;
};

}  // namespace zerolab
