/// \file
/// The model of a plan: something to train here, or only a size.
#pragma once

#include <cstdint>
#include <string>

#include "stages/model/model_factory.h"

namespace zerolab {

/// How a user describes a model: by name or file, by its number of parameters, or by its extents.
/// Zero and empty: not given.
struct ModelRequest {
  std::string model;
  double parameters = 0;
  std::int64_t layers = 0, hidden = 0, heads = 0, vocabulary = 0, positions = 0;
};

struct PlannedModel {
  std::string name;
  ModelSpec spec;          ///< the architecture: extents of activations and of arithmetic
  ParameterLayout layout;  ///< what the stages cut
  bool runnable = false;   ///< `layout` is that of `spec`, so that it can be trained
  std::string assumed;     ///< one sentence about extents that nobody gave; empty: none

  /// Ψ
  std::int64_t parameters() const { return layout.parameter_count(); }
  /// Elements of the largest unit, which ZeRO-3 gathers at once.
  std::int64_t largest_unit() const;
};

/// Bounds of what can be planned; inside them no product of sizes overflows 64 bits.
inline constexpr std::int64_t kFewestParameters = 1'000;
inline constexpr std::int64_t kMostParameters = 100'000'000'000'000;

/// \throws BadInput with one sentence about what is missing, contradictory or out of bounds.
PlannedModel planned_model(const ModelRequest& request);

/// A GPT of exactly `parameters`: a tied embedding, equal blocks, a final norm. Extents that
/// `request` leaves open follow the proportions of GPT-3 and its kind, hidden = 128 · layers
/// (12 · layers · hidden² parameters in blocks). \throws BadInput when it is out of bounds.
PlannedModel model_of_parameters(std::int64_t parameters, const ModelRequest& request = {});

}  // namespace zerolab
