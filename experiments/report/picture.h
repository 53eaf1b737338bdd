/// \file
/// Who holds what, what moves when: one step of two ranks as a drawing.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// Bytes of the whole model in the run's parameters, the measure of a full bar: what a rank holds
/// that has all of them, or all ranks' shards together where none has (a stage that gathers).
std::int64_t whole_parameter_bytes(const Comparison& comparison);

/// An inline SVG; colours and patterns come from the page (`picture_style`, `picture_patterns`).
/// Empty when the stage recorded no step. `whole_bytes`: see above.
std::string step_picture(const StageResult& result, std::int64_t whole_bytes);

/// CSS of the drawings' classes, and one hidden SVG with the patterns they share.
std::string picture_style();
std::string picture_patterns();

}  // namespace zerolab
