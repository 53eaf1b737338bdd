// zerolab plan from the command line: what it prints, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/experiments/run_command.h"

namespace zerolab {
namespace {

using test::run_command;

constexpr const char* kLarge =
    "plan --parameters 7.5e9 --ranks 64 --device h100 --precision bf16 --accounting zero ";

TEST(PlanCommand, PrintsJsonWithEveryStage) {
  const auto outcome = run_command(std::string(kLarge) + "--json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto plan = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(plan["schema"], "zerolab.plan/1");
  EXPECT_EQ(plan["parameters"], 7'500'000'000);
  ASSERT_EQ(plan["stages"].size(), 4U);
  EXPECT_EQ(plan["stages"][3]["memory"]["states_bytes"], 1'875'000'000);
  EXPECT_GT(plan["stages"][3]["time"]["step_seconds"], 0);
  EXPECT_EQ(plan["stages"][0]["fits"], false);
  EXPECT_EQ(plan["capacity"].size(), 4U);
  EXPECT_NE(plan["advice"]["stage"], "ddp");
}

TEST(PlanCommand, PrintsCsvWithAQuantityALine) {
  const auto outcome = run_command(std::string(kLarge) + "--csv -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\nzero2,memory,model states,B,16640625000\n"), std::string::npos);
}

TEST(PlanCommand, PrintsATableForPeople) {
  const auto outcome = run_command(kLarge);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* words : {"7,500,000,000 parameters", "GB are 1e9 bytes", "GiB",
                            "model FLOPs utilisation", "Take "}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words;
  }
}

TEST(PlanCommand, ReadsAHuggingFaceConfigAndADeepSpeedJson) {
  const test::ScratchDirectory directory("plan-command");
  std::ofstream(directory / "config.json")
      << R"({"model_type": "gpt2", "n_layer": 4, "n_embd": 64, "n_head": 4, "n_positions": 128,
             "vocab_size": 1000, "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0})";
  std::ofstream(directory / "ds.json")
      << R"({"train_micro_batch_size_per_gpu": 2, "fp16": {"enabled": true},
             "zero_optimization": {"stage": 3}})";
  const auto outcome = run_command({"plan", "--model", directory / "config.json", "--ranks", "4",
                                    "--config", directory / "ds.json", "--json", "-"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto plan = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(plan["stages"].size(), 1U);
  EXPECT_EQ(plan["stages"][0]["stage"], "zero3");
  EXPECT_EQ(plan["recipe"]["precision"], "fp16");
  EXPECT_EQ(plan["recipe"]["micro_batch"], 2);
  EXPECT_GT(plan["deepspeed_estimate"]["items"].size(), 5U);
}

TEST(PlanCommand, VerifiesAgainstARealRunToTheByte) {
  for (const char* more : {"", " --ranks-per-node 2 --accumulate 2", " --overlap off"}) {
    const auto outcome =
        run_command("plan --model gpt-micro --ranks 4 --verify" + std::string(more));
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("The plan is what the run does."), std::string::npos) << more;
    EXPECT_EQ(outcome.out.find("on rank"), std::string::npos) << more << outcome.out;
  }
}

TEST(PlanCommand, VerifiesWhatADeepSpeedJsonAsksFor) {
  const test::ScratchDirectory directory("plan-verify");
  std::ofstream(directory / "ds.json")
      << R"({"train_batch_size": 12, "gradient_accumulation_steps": 2, "fp16": {"enabled": true},
             "optimizer": {"type": "Lamb"}, "activation_checkpointing": {"number_checkpoints": 2},
             "data_types": {"grad_accum_dtype": "fp16"}, "communication_data_type": "fp32",
             "zero_optimization": {"stage": 2, "reduce_bucket_size": 1e4, "overlap_comm": true}})";
  const auto outcome = run_command({"plan", "--model", "gpt-micro", "--ranks", "3", "--config",
                                    directory / "ds.json", "--verify"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  for (const char* words : {"fp16, lamb, micro-batch 2", "2 a step; recomputation of each block",
                            "DeepSpeed's estimate", "The plan is what the run does."}) {
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << "\n" << outcome.out;
  }
}

TEST(PlanCommand, ReplaysAStepWithAStraggler) {
  const test::ScratchDirectory directory("plan-replay");
  const auto outcome = run_command({"plan", "--parameters", "1e9", "--ranks", "8", "--device",
                                    "a100-80", "--precision", "bf16", "--stage", "zero3",
                                    "--straggler", "3:1.5", "--trace", directory / "trace.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("replayed on 8 ranks"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(directory / "trace.json"));
}

TEST(PlanCommand, DrawsWhatItPlanned) {
  const test::ScratchDirectory directory("plan-plots");
  const auto outcome =
      run_command({"plan", "--parameters", "1e9", "--ranks", "16", "--device", "v100-32",
                   "--precision", "fp16", "--plots", directory / "plots"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  if (outcome.err.find("no Python with matplotlib") != std::string::npos) {
    GTEST_SKIP() << outcome.err;
  }
  for (const char* name :
       {"memory", "traffic", "time", "timeline", "memory_by_ranks", "largest_model"}) {
    EXPECT_TRUE(std::filesystem::exists(directory / ("plots/plan_" + std::string(name) + ".svg")))
        << name;
  }
}

struct Nonsense {
  const char* line;
  const char* says;
};

constexpr Nonsense kNonsense[] = {

    {"", "no model was given"},
    {"--model gpt-tinny", "did you mean 'gpt-tiny'"},
    {"--model gpt-tiny --layers 3", "keep --model"},
    {"--parameters -1", "--parameters is -1"},
    {"--parameters 1e20", "give between 1000 and 1e+14"},
    {"--parameters nan", "--parameters is nan"},
    {"--layers 12", "no model was given"},
    {"--layers 12 --hidden 100 --heads 7", "heads do not divide"},
    {"--layers -2 --hidden 64", "--layers is -2"},
    {"--parameters 1e9 --ranks 0", "--ranks is 0"},
    {"--parameters 1e9 --ranks -4", "--ranks is -4"},
    {"--parameters 1e9 --ranks 12 --ranks-per-node 8", "do not fill nodes of 8"},
    {"--parameters 1e9 --device h1000", "did you mean 'h100'"},
    {"--parameters 1e9 --memory-gb -1", "--memory-gb"},
    {"--parameters 1e9 --intra-bandwidth inf", "--intra-bandwidth"},
    {"--parameters 1e9 --inter-latency -1", "--inter-latency"},
    {"--parameters 1e9 --stage zero4", "did you mean 'zero1'"},
    {"--parameters 1e9 --precision fp8", "--precision does not know 'fp8'"},
    {"--parameters 1e9 --accounting deepspeed", "--precision bf16 or fp16"},
    {"--parameters 1e9 --accounting zeros", "did you mean 'zero'"},
    {"--parameters 1e9 --recompute some", "--recompute does not know"},
    {"--parameters 1e9 --recompute full --checkpoint-every 2", "the same thing twice"},
    {"--parameters 1e9 --recompute full --activations here", "--checkpoint-every 1"},
    {"--parameters 1e9 --activations theirs", "--activations does not know"},
    {"--parameters 1e9 --checkpoint-every -1", "--checkpoint-every is -1"},
    {"--model tied-mlp --checkpoint-every 1", "nothing is saved"},
    {"--parameters 1e9 --optimizer muon", "--optimizer muon depends on the hidden matrices"},
    {"--parameters 1e9 --optimizer adam", "did you mean 'adamw'"},
    {"--parameters 1e9 --clip -1", "--clip is -1"},
    {"--parameters 1e9 --accumulate-dtype fp16", "--accumulate-dtype is fp16"},
    {"--parameters 1e9 --micro-batch 0", "--micro-batch is 0"},
    {"--parameters 1e9 --seq 0", "--seq is 0"},
    {"--model gpt-tiny --seq 4096", "--seq 4096 is longer"},
    {"--parameters 1e9 --stage zero1,zero1", "names zero1 twice"},
    {"--parameters 1e9 --bucket-elements -5", "--bucket-elements is -5"},
    {"--parameters 1e9 --ranks 4096 --device h100 --precision bf16 --jitter 1", "at most 1024"},
    {"--parameters 1e9 --bucket-mb 0", "bucket size"},
    {"--parameters 1e9 --bucket-mb 1 --bucket-elements 5", "twice"},
    {"--parameters 1e9 --reduction tree --ranks 6", "power of two"},
    {"--parameters 1e14 --accumulate 65536", "lower --accumulate"},
    {"--parameters 1e14 --micro-batch 1048576 --seq 1048576", "lower --micro-batch"},
    {"--parameters 1e9 --verify", "is only a size"},
    {"--model gpt-micro --ranks 65 --verify", "at most 64"},
    {"--model gpt-micro --verify --recompute full", "--checkpoint-every instead"},
    {"--parameters 1e9 --stage ddp --trace t.json", "a replay needs"},
    {"--parameters 1e9 --config no-such.json", "no-such.json"},
    {"--parameters 1e9 --device h100 --precision bf16 --straggler 9:2", "RANK:FACTOR"},
    {"--parameters 1e9 --device h100 --precision bf16 --straggler x", "RANK:FACTOR"}};

TEST(PlanCommand, AnswersNonsenseWithOneSentenceAndExitCodeTwo) {
  for (const Nonsense& nonsense : kNonsense) {
    SCOPED_TRACE(nonsense.line);
    const auto outcome = run_command(std::string("plan ") + nonsense.line);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(nonsense.says), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace zerolab
