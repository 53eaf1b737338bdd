/// \file
/// Published figures, recomputed: what agrees at printed precision, and why the rest does not.
#pragma once

#include <string>
#include <vector>

namespace zerolab {

/// One figure as somebody printed it (published/figures.json).
struct PublishedFigure {
  std::string table, row;
  std::string published;  ///< as printed: its decimals are its precision
  std::string unit;
  std::string formula, arguments;
  /// How it was printed: "rounded", "truncated", "scaled" (a rounded figure times the argument mp),
  /// "at least", "about" (within 10 %), "0.2 points".
  std::string printed;
  bool agrees = true;  ///< false: known to contradict the formula, `reason` says why
  std::string reason, source;
};

/// Where sources contradict each other (published/disagreements.json).
struct Disagreement {
  std::string what, readings, followed, why;
};

struct RecomputedFigure {
  PublishedFigure figure;
  double ours = 0;
  bool agrees = false;  ///< at printed precision
};

/// \throws BadInput when the file is missing or an entry has a key that is not known.
std::vector<PublishedFigure> read_published_figures(const std::string& path);
/// Those of this repository.
std::vector<PublishedFigure> published_figures();
std::vector<Disagreement> published_disagreements();

/// \throws BadInput for an unknown formula, argument or way of printing.
RecomputedFigure recompute(const PublishedFigure& figure);

/// docs/published-tables.md: every table with published, ours, difference and reason, and which of
/// contradictory readings is followed.
std::string published_page(const std::vector<RecomputedFigure>& figures,
                           const std::vector<Disagreement>& disagreements);

}  // namespace zerolab
