/// \file
/// What `compare` prints when it has finished.
#pragma once

#include <cstdio>
#include <string>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// The verdict table, at most 100 columns: stage, verdict, final and held-out loss, gradient norm,
/// bytes held by the largest rank and sent by the busiest one (measured = predicted to the byte, or
/// measured != predicted), tokens a second, checks passed. Plain text; `colour` adds ANSI colours
/// that say nothing new.
std::string verdict_table(const Comparison& comparison, bool colour = false);

/// The headline, then divergences and findings, a sentence a line; each finding once with how many
/// more there are like it.
std::string verdict_sentences(const Comparison& comparison, bool colour = false);

/// A terminal, and neither NO_COLOR (no-color.org) nor a dumb terminal.
bool wants_colour(std::FILE* stream);

}  // namespace zerolab
