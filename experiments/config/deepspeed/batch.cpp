// train_batch_size, train_micro_batch_size_per_gpu, gradient_accumulation_steps.
#include "experiments/config/deepspeed/blocks.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr const char* kTrain = "train_batch_size";
constexpr const char* kMicro = "train_micro_batch_size_per_gpu";
constexpr const char* kAccumulate = "gradient_accumulation_steps";

/// As much as --micro-batch and --accumulate take, so that no product overflows.
void require_possible(const BatchSizes& sizes, const std::string& file) {
  const auto require_at_most = [&](const char* key, std::optional<std::int64_t> size,
                                   std::int64_t most) {
    if (size.value_or(0) <= most) return;
    bad_input("[config] {}: {} would be {}; it can be {} at most", file, key, *size, most);
  };
  require_at_most(kMicro, sizes.micro, 1 << 20);
  require_at_most(kAccumulate, sizes.accumulate, 1 << 16);
}

}  // namespace

BatchSizes complete_batch(BatchSizes given, std::int64_t ranks, const std::string& file) {
  if (!given.train && !given.micro) {
    bad_input("[config] {} has neither {} nor {}; give one of them, or --micro-batch", file, kTrain,
              kMicro);
  }
  require_possible(given, file);
  BatchSizes all = given;
  if (!given.accumulate) {
    all.accumulate = given.train && given.micro ? *given.train / *given.micro / ranks : 1;
  }
  if (!given.micro) all.micro = *given.train / ranks / *all.accumulate;
  if (!given.train) all.train = *all.micro * *all.accumulate * ranks;
  if (*all.micro < 1 || *all.accumulate < 1 || *all.train != *all.micro * *all.accumulate * ranks) {
    const auto shown = [](const char* name, std::optional<std::int64_t> before,
                          std::optional<std::int64_t> after) {
      return fmt::format("{} {}{}", name, *after, before ? "" : " (derived)");
    };
    bad_input("[config] {}: {} must be {} times {} times {} ranks; change one of them or --ranks",
              file, shown(kTrain, given.train, all.train), shown(kMicro, given.micro, all.micro),
              shown(kAccumulate, given.accumulate, all.accumulate), ranks);
  }
  require_possible(all, file);
  return all;
}

void apply_batch(const CheckedKeys& keys, Overlay& overlay, RunConfig& config) {
  BatchSizes sizes{keys.given<std::int64_t>(kTrain), keys.given<std::int64_t>(kMicro),
                   keys.given<std::int64_t>(kAccumulate)};
  const std::optional<std::int64_t> file_train = sizes.train;
  const bool typed_micro = overlay.given("--micro-batch");
  const bool typed_accumulate = overlay.given("--accumulate");
  // What was typed takes the place of its key; the others have to fit.
  if (sizes.micro) overlay.set("--micro-batch", config.micro_batch, *sizes.micro, kMicro);
  if (typed_micro) sizes.micro = config.micro_batch;
  std::int64_t accumulate = config.accumulate;
  if (sizes.accumulate) overlay.set("--accumulate", accumulate, *sizes.accumulate, kAccumulate);
  if (typed_accumulate) sizes.accumulate = accumulate;
  if ((typed_micro || typed_accumulate) && sizes.micro && sizes.accumulate) sizes.train.reset();
  for (const auto& [typed, size] :
       {std::pair(typed_micro, sizes.micro), std::pair(typed_accumulate, sizes.accumulate)}) {
    if (typed && *size < 1) return;  // `validate` says so in the option's words
  }
  const BatchSizes all = complete_batch(sizes, config.ranks, overlay.file());
  config.micro_batch = *all.micro;
  config.accumulate = static_cast<int>(*all.accumulate);
  if (file_train && *file_train != *all.train) {
    overlay.say(
        fmt::format("the command line makes the batch {}, not the {} that {} of {} asks for",
                    *all.train, *file_train, kTrain, overlay.file()));
  }
}

}  // namespace zerolab
