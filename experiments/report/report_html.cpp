#include "experiments/report/report_html.h"

#include <fmt/format.h>

#include "experiments/report/html.h"
#include "experiments/report/html_sections.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

std::string section(const char* title, const std::string& body) {
  return body.empty() ? "" : fmt::format("<section><h2>{}</h2>\n{}</section>\n", title, body);
}

/// "gpt-tiny · 4 ranks · 60 steps · fp32 · adamw · ordered sums"
std::string subtitle(const Comparison& comparison) {
  const RunConfig& config = comparison.config;
  std::string text =
      fmt::format("{} · {} · {} · {} · {} · {} reduction", config.model,
                  counted(config.ranks, "rank"), counted(config.steps, "step"), config.precision,
                  config.optimizer.name, name_of(config.reduction));
  if (config.accumulate > 1) text += fmt::format(" · accumulation {}", config.accumulate);
  if (config.dropout > 0) text += fmt::format(" · dropout {:g}", config.dropout);
  if (config.padding > 0) text += fmt::format(" · padding up to {:g}", config.padding);
  if (config.checkpoint_every > 0) {
    text += fmt::format(" · checkpoints every {}", counted(config.checkpoint_every, "block"));
  }
  if (config.skip_block_every > 0) {
    text += fmt::format(" · a block bypassed every {}",
                        counted(config.skip_block_every, "micro-batch"));
  }
  if (!config.fault.empty()) text += fmt::format(" · fault {}", config.fault);
  return fmt::format("{} · {} · {:.1f}\u00a0s", text, comparison.environment.started_at,
                     comparison.seconds);
}

/// What the band in the plots is; empty where there is none.
std::string noise_words(const Comparison& comparison) {
  const std::optional<NoiseFloor>& floor = comparison.noise_floor;
  if (!floor || floor->loss.empty()) return "";
  std::string words = fmt::format(
      "<p>The band is the noise floor: {} was trained {} more with its sums in other orders, and a "
      "right run may be {:g} times as far from it as those are from each other: {:.2g} in the loss "
      "of the last step, {:.2g} in the gradient norm.",
      escaped(comparison.reference), counted(floor->clean_runs, "time"), floor->factor,
      floor->loss.back(), floor->grad_norm.back());
  if (!floor->loss_bound.empty()) {
    words += fmt::format(
        " The dotted line is where the same distance lies when every sum of gradients is off by as "
        "much as rounding can do in any order: {:.2g} in the loss of the last step, {:.2g} in the "
        "gradient norm.",
        floor->loss_bound.back(), floor->grad_norm_bound.back());
  }
  if (floor->gradient_bound) {
    words += fmt::format(
        " In one element of the reduced gradient rounding makes at most {:.2g} of the sum of its "
        "terms' magnitudes.",
        *floor->gradient_bound);
  }
  return words + "</p>\n";
}

constexpr const char* kPictureWords =
    "<p>The last step of the first two ranks, visit by visit, as their hosts saw it (with "
    "accumulation: its last micro-batch). A bar as high as its lane is the whole model's; a "
    "thinner "
    "one is the rank's shard, drawn where it lies, and the grey rest is held by the other ranks. "
    "Blocks come and go. Between the ranks stands what they exchange: AR all-reduce, RS "
    "reduce-scatter, AG all-gather, and the control messages of loss and norm.</p>\n";

}  // namespace

std::string report_html(const Comparison& comparison, const std::filesystem::path& directory) {
  const auto plot = [&](const char* name, const char* description) {
    return inlined_plot(directory, name, description);
  };
  std::string pictures = pictures_section(comparison);
  if (pictures.find("<figure>") == std::string::npos) {
    pictures.clear();
  } else {
    pictures.insert(0, kPictureWords);
  }
  std::string body;
  body += "<h1>zerolab compare</h1>\n";
  body += fmt::format("<p class=\"sub\">{}</p>\n", escaped(subtitle(comparison)));
  body += verdict_section(comparison);
  body += section("Loss and gradient norm",
                  noise_words(comparison) +
                      plot("loss", "Loss of every stage and its difference to the reference") +
                      plot("grad_norm", "Gradient norm of every stage and its difference"));
  body += section("Memory: measured and predicted",
                  memory_section(comparison) +
                      plot("memory", "Bytes held by category, measured beside predicted"));
  body += section("Communication: measured and predicted",
                  traffic_section(comparison) +
                      plot("communication", "Bytes sent by operation, measured beside predicted"));
  body += section("Throughput", plot("throughput", "Tokens per second and seconds a step"));
  body += section("Who holds what, what moves when", pictures);
  body += section("Findings", findings_section(comparison));
  body += section("Setup", setup_section(comparison));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
      "<title>zerolab: {}, {}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n"
      "</body>\n</html>\n",
      escaped(spoken(name_of(comparison.verdict))), escaped(comparison.config.model), page_style(),
      body);
}

}  // namespace zerolab
