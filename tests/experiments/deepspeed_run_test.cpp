// A DeepSpeed file from the command line to the report; and its page in the documentation.
#include <gmock/gmock.h>

#include "experiments/report/report_json.h"
#include "stages/core/join.h"
#include "tests/experiments/deepspeed_json.h"
#include "tests/experiments/run_command.h"

namespace zerolab {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

class DeepSpeedRun : public testing::Test {
 protected:
  CommandOutcome run(const std::string& line, const std::string& json) {
    std::ofstream(scratch_ / "ds.json") << json;
    return run_command(line + " --config " + (scratch_ / "ds.json") +
                       " --model gpt-micro --quiet --plots off --out " + (scratch_ / "run"));
  }
  Comparison report() const { return read_report(scratch_ / "run/report.json"); }
  ScratchDirectory scratch_{"deepspeed-run"};
};

constexpr const char* kFile = R"({
  "train_batch_size": 12,
  "gradient_accumulation_steps": 2,
  "steps_per_print": 10,
  "gradient_clipping": 0.5,
  "optimizer": {"type": "AdamW", "params": {"lr": 0.004, "betas": [0.8, 0.99]}},
  "scheduler": {"type": "WarmupLR",
                "params": {"warmup_min_lr": 0.001, "warmup_num_steps": 4, "warmup_type": "linear"}},
  "zero_optimization": {"stage": 2, "reduce_bucket_size": 5000, "overlap_comm": true}
})";

TEST_F(DeepSpeedRun, ComparesDdpWithItsStageAsItAsks) {
  const CommandOutcome outcome = run("compare --ranks 3 --steps 7", kFile);

  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Comparison comparison = report();
  EXPECT_EQ(comparison.verdict, Verdict::kEqual);
  EXPECT_EQ(comparison.config.micro_batch, 2);
  EXPECT_EQ(comparison.config.clip, 0.5);
  ASSERT_GE(comparison.stages.size(), 2U);
  EXPECT_EQ(comparison.stages[1].result.name, "zero2");
  EXPECT_THAT(outcome.out, HasSubstr("note: steps_per_print of "));
  EXPECT_THAT(comparison.notices, testing::Contains(HasSubstr("steps_per_print of ")));
  // WarmupLR: iterations -1, 0, 1, 2, 3, 4, 5 of 4.
  const std::vector<float> rates = {0.001F, 0.001F, 0.00175F, 0.0025F, 0.00325F, 0.004F, 0.004F};
  const std::vector<StepRecord> steps = comparison.stages[0].result.steps();
  ASSERT_EQ(steps.size(), rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_FLOAT_EQ(steps[i].learning_rate, rates[i]) << "step " << i + 1;
  }
}

TEST_F(DeepSpeedRun, TrainsItsStageUnlessTheCommandLineNamesOne) {
  const CommandOutcome outcome =
      run("train --ranks 3 --steps 1 --stage zero1 --lr 0.5 --accumulate 2", kFile);

  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report().stages[0].result.name, "zero1");
  EXPECT_EQ(report().config.learning_rate, 0.5);
  EXPECT_THAT(outcome.out, HasSubstr("note: --stage zero1 of the command line was used, not the "
                                     "zero2 that zero_optimization.stage of "));
  EXPECT_THAT(outcome.out, HasSubstr("note: --lr 0.5 of the command line was used"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("--accumulate")));
}

TEST_F(DeepSpeedRun, TakesTypedOptionsOfTheOptimizerThatItChooses) {
  const char* const lamb =
      R"({"train_micro_batch_size_per_gpu": 2, "optimizer": {"type": "Lamb", "params": {"lr": 0.03}}})";
  const CommandOutcome taken = run("train --ranks 2 --steps 1 --lamb-norms shard", lamb);
  ASSERT_EQ(taken.code, 0) << taken.out << taken.err;
  EXPECT_EQ(report().config.optimizer.lamb_norms, LambNorms::kShard);

  const CommandOutcome refused = run("train --ranks 2 --steps 1 --momentum 0.5", lamb);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--momentum means nothing to --optimizer lamb"));
}

TEST_F(DeepSpeedRun, LetsTheSchedulerSetBothRatesOfMuon) {
  const CommandOutcome outcome = run("train --ranks 2 --steps 1", R"({
    "train_micro_batch_size_per_gpu": 2,
    "optimizer": {"type": "Muon", "params": {"muon_lr": 0.05, "adam_lr": 0.003}},
    "scheduler": {"type": "WarmupLR", "params": {"warmup_max_lr": 0.01}}
  })");
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report().config.learning_rate, 0.01);
  EXPECT_EQ(report().config.adamw_learning_rate, 0.01);
}

/// The tables of docs/deepspeed-config.md.
std::string documented_tables() {
  std::string text;
  const auto cell = [](std::string_view json) {
    return json.empty() ? std::string("–") : fmt::format("`{}`", json);
  };
  for (const KeyGroup& group : key_groups()) {
    text += fmt::format(
        "\n### {}\n\n| key | DeepSpeed's default | here | how, or why not |\n"
        "|---|---|---|---|\n",
        group.title);
    for (const KnownKey& key : group.keys) {
      constexpr const char* kNames[] = {"honoured", "noted", "refused", "no effect"};
      const bool block = key.kind == JsonKind::kBlock;
      std::string remark(key.remark);
      if (key.idle() == "null") {
        remark += "; named whatever its value";
      } else if (key.idle() != key.standard) {
        remark += fmt::format("; `{}` is what happens", key.idle());
      }
      if (!key.types.empty()) remark += fmt::format(" ({})", joined(listed(key.types)));
      text += fmt::format("| `{}` | {} | {} | {} |\n", key.path, cell(key.standard),
                          block ? "block" : kNames[static_cast<int>(key.treatment)], remark);
    }
  }
  return text;
}

TEST(DeepSpeedPage, HasTheTablesOfTheKeysThatAreRead) {
  const std::string path = ZEROLAB_SOURCE_DIR "/docs/deepspeed-config.md";
  std::ifstream in(path);
  const std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string begin = "<!-- keys -->\n", end = "<!-- end -->";
  const std::size_t from = page.find(begin), to = page.find(end);
  ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << path << " has no " << begin;
  const std::string right = page.substr(0, from) + begin + documented_tables() + page.substr(to);
  if (page == right) return;

  const std::string fresh = testing::TempDir() + "deepspeed-config.md";
  std::ofstream(fresh) << right;
  ADD_FAILURE() << path << " is out of date; copy " << fresh << " over it";
}

}  // namespace
}  // namespace zerolab
