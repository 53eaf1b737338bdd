/// \file
/// Who holds what, what moves when: one step of two ranks as a drawing.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// An inline SVG; colours and patterns come from the page (`picture_style`, `picture_patterns`).
/// Empty when the stage recorded no step. `whole_bytes`: `whole_parameter_bytes`.
std::string step_picture(const StageResult& result, std::int64_t whole_bytes);

/// CSS of the drawings' classes, and one hidden SVG with the patterns they share.
std::string picture_style();
std::string picture_patterns();

}  // namespace zerolab
