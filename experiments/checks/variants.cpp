#include "experiments/checks/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "experiments/checks/reference_check.h"
#include "experiments/config/validate.h"
#include "experiments/runner/stage_factory.h"
#include "stages/model/model_factory.h"

namespace zerolab {
namespace {

/// Leaves only the recording of fingerprints on: the original has been checked for the rest.
RunConfig plain(RunConfig config) {
  config.checks = {"REF"};
  config.trace = false;
  return config;
}

Variant regrouping(RunConfig config, std::string what) {
  return {"IG", std::move(what), std::move(config)};
}

Variant split(const RunConfig& config, int ranks, int accumulate) {
  RunConfig varied = plain(config);
  varied.ranks = ranks;
  varied.accumulate = accumulate;
  return regrouping(
      varied, fmt::format("on {} rank{} with {} micro-batches instead of {} with {}", ranks,
                          ranks == 1 ? "" : "s", accumulate, config.ranks, config.accumulate));
}

std::vector<Variant> splits(const RunConfig& config) {
  const int micro_batches = config.ranks * config.accumulate;
  std::vector<Variant> variants;
  if (config.reduction == Reduction::kTree) {
    for (int ranks = 1; ranks <= std::min(2 * config.ranks, kLargestWorld); ranks *= 2) {
      if (ranks == config.ranks || micro_batches % ranks != 0) continue;
      variants.push_back(split(config, ranks, micro_batches / ranks));
    }
  } else if (config.reduction == Reduction::kOrdered && micro_batches > 1) {
    if (config.accumulate == 1) variants.push_back(split(config, 1, micro_batches));
    if (config.ranks == 1 && micro_batches <= kLargestWorld) {
      variants.push_back(split(config, micro_batches, 1));
    }
  }
  return variants;
}

}  // namespace

std::vector<Variant> repetitions(const RunConfig& config) {
  RunConfig disturbed = plain(config);
  disturbed.jitter = std::max<std::uint64_t>(config.jitter + 1, 1);  // 0 would be no delays
  disturbed.poison = true;
  return {{"REP", "in a second run", plain(config)},
          {"REP",
           fmt::format("with delays (seed {}) and NaN in fresh and freed memory", disturbed.jitter),
           disturbed}};
}

std::vector<Variant> regroupings(const RunConfig& config, const std::string& stage,
                                 AccumulationOrder order) {
  std::vector<Variant> variants;
  const bool bits_follow_cut = config.ranks >= 3 && (config.reduction == Reduction::kRing ||
                                                     config.reduction == Reduction::kNative);
  RunConfig varied = plain(config);
  varied.bucket_mb = 0.37 * config.bucket_mb;  // divides nothing
  if (uses_buckets(stage) && !bits_follow_cut && varied.bucket_elements() >= 1) {
    variants.push_back(regrouping(varied, fmt::format("with a bucket of {:g} MiB instead of {:g}",
                                                      varied.bucket_mb, config.bucket_mb)));
  }
  RunConfig overlap = plain(config);
  overlap.overlap = !config.overlap;
  variants.push_back(regrouping(overlap, overlap.overlap ? "with overlap" : "without overlap"));
  RunConfig threads = plain(config);
  threads.threads = config.threads == 1 ? 2 : 1;
  variants.push_back(regrouping(threads, fmt::format("with {} threads a rank instead of {}",
                                                     threads.threads, config.threads)));
  if (parse_model(config.model).is_gpt()) {
    RunConfig checkpoints = plain(config);
    checkpoints.checkpoint_every = config.checkpoint_every == 0 ? 1 : 0;
    variants.push_back(regrouping(checkpoints, checkpoints.checkpoint_every == 0
                                                   ? "without activation checkpoints"
                                                   : "with activation checkpoints"));
  }
  // Which block is bypassed depends on the turn of a micro-batch, so on the split.
  const bool split_matters = config.skip_block_every > 0;
  if (order == AccumulationOrder::kReduced && config.comm == "thread" && !split_matters) {
    for (Variant& variant : splits(config)) variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<Finding> check_variants(const StageResult& original, const ParameterLayout& layout,
                                    const std::vector<Variant>& variants,
                                    const std::function<StageResult(const RunConfig&)>& run,
                                    const AccountedFor& accounted_for) {
  std::vector<Finding> findings;
  for (const Variant& variant : variants) {
    const StageResult varied = run(variant.config);
    std::vector<Finding> found = check_reference(
        original, varied, layout, variant.config.trained_steps(), variant.config.ranks);
    if (!found.empty() && accounted_for && accounted_for(variant, varied)) continue;
    for (Finding& finding : found) {
      finding.check = variant.check;
      finding.message =
          fmt::format("{} is not the same {}: {}", original.name, variant.what, finding.message);
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace zerolab
