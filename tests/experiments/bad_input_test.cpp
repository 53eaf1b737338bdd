// Every wrong command line gives one sentence and exit code 2, before anything is trained.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/experiments/run_command.h"

namespace zerolab {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using namespace test;

struct BadLine {
  const char* name;
  const char* line;
  const char* says;  // part of the message
};

class BadInputOf : public testing::TestWithParam<BadLine> {};

TEST_P(BadInputOf, IsOneSentenceAndExitCodeTwo) {
  const CommandOutcome outcome = run_command(GetParam().line);

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
  EXPECT_EQ(outcome.err.find("zerolab: ["), 0U) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, BadInputOf,
    testing::Values(BadLine{"NoCommand", "", "needs a command: compare, train, diff, faults"},
                    BadLine{"UnknownCommand", "compar", "did you mean 'compare'?"},
                    BadLine{"UnknownOption", "compare --rank 3", "did you mean --ranks?"},
                    BadLine{"UnknownOptionWithValue", "train --warm=3", "did you mean --warmup?"},
                    BadLine{"StrayWord", "compare now", "does not take the word 'now'"},
                    BadLine{"MissingValue", "compare --ranks", "--ranks"},
                    BadLine{"NoNumber", "compare --steps many", "--steps = many is not a value"},
                    BadLine{"HalfARank", "compare --ranks 2.5", "--ranks = 2.5 is not a value"},
                    BadLine{"FaultsAlone", "faults", "zerolab faults needs a command: list, run"},
                    BadLine{"UnknownFaultsCommand", "faults lst", "did you mean 'list'?"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    World, BadInputOf,
    testing::Values(
        BadLine{"NoRanks", "compare --ranks 0", "--ranks is 0"},
        BadLine{"TooManyRanks", "compare --ranks 1025", "--ranks is 1025"},
        BadLine{"UnknownComm", "compare --comm threads", "did you mean 'thread'?"},
        BadLine{"Cuda", "compare --device cuda", "this build computes on the cpu"},
        BadLine{"NoThreads", "compare --threads 0", "--threads is 0"},
        BadLine{"NegativeNode", "compare --ranks-per-node -1", "--ranks-per-node is -1"},
        BadLine{"NoTimeout", "compare --timeout 0", "--timeout is 0"},
        BadLine{"TreeOfThree", "compare --reduction tree --ranks 3", "power of two, not 3"},
        BadLine{"NativeThreads", "compare --reduction native", "--comm mpi"},
        BadLine{"UnknownReduction", "compare --reduction rings", "did you mean 'ring'?"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Training, BadInputOf,
    testing::Values(
        BadLine{"UnknownStage", "compare --stages ddp,zero4", "'zero4'"},
        BadLine{"StageTwice", "compare --stages ddp,zero1,ddp", "names ddp twice"},
        BadLine{"EmptyStage", "compare --stages ddp,", "--stages does not know ''"},
        BadLine{"TwoStages", "train --stages ddp,zero1", "train takes one stage, not 2"},
        BadLine{"NothingToCompare", "compare --steps 0", "--steps is 0"},
        BadLine{"NegativeSteps", "train --steps -1", "--steps is -1"},
        BadLine{"NoMicroBatch", "compare --micro-batch 0", "--micro-batch is 0"},
        BadLine{"NoAccumulation", "compare --accumulate 0", "--accumulate is 0"},
        BadLine{"NoBucket", "compare --bucket-mb 0", "--bucket-mb is 0"},
        BadLine{"BucketOfLessThanOneElement", "compare --bucket-mb 1e-9", "--bucket-mb is 1e-09"},
        BadLine{"NanBucket", "compare --bucket-mb nan", "--bucket-mb is nan"},
        BadLine{"NegativeClip", "compare --clip -1", "--clip is -1"},
        BadLine{"NanRate", "compare --lr nan", "--lr is nan"},
        BadLine{"InfiniteRate", "compare --lr inf", "--lr is inf"},
        BadLine{"NegativeDecay", "compare --weight-decay -0.1", "--weight-decay is -0.1"},
        BadLine{"Precision", "compare --precision fp8", "--precision does not know 'fp8'"},
        BadLine{"ReduceDtype", "compare --reduce-dtype int8",
                "--reduce-dtype does not know 'int8'"},
        BadLine{"AccumulateDtype", "compare --precision bf16 --accumulate-dtype fp16",
                "--accumulate-dtype is fp16; with --precision bf16 it can be fp32 or bf16"},
        BadLine{"LossScaleInBf16", "compare --precision bf16 --loss-scale 8",
                "a loss scale was given, but --precision bf16 has none"},
        BadLine{"NegativeLossScale", "compare --precision fp16 --loss-scale -1",
                "--loss-scale is -1"},
        BadLine{"LossScaleWindow", "compare --precision fp16 --loss-scale-window 0",
                "--loss-scale-window is 0"},
        BadLine{"UnknownSchedule", "compare --schedule cosin", "did you mean 'cosine'?"},
        BadLine{"UnknownWarmup", "compare --warmup-shape exp", "--warmup-shape does not know"},
        BadLine{"NegativeWarmupRate", "compare --warmup-min-lr -1", "--warmup-min-lr is -1"},
        BadLine{"NegativeFinalRate", "compare --final-lr-fraction -1", "--final-lr-fraction is -1"},
        BadLine{"NegativeScheduleSteps", "train --schedule-steps -1", "--schedule-steps is -1"},
        BadLine{"EndOfAConstantRate", "compare --schedule constant --final-lr-fraction 0.5",
                "--schedule constant never falls; leave it out"},
        BadLine{"ShapeOfNoWarmup", "compare --warmup 0 --warmup-shape log", "there is no warm-up"},
        BadLine{"UnknownOptimizer", "compare --optimizer adam", "did you mean 'adamw'?"},
        BadLine{"OptimizerOption", "compare --muon-momentum 0.9",
                "--muon-momentum means nothing to --optimizer adamw; it is for muon"},
        BadLine{"UnknownNorms", "compare --optimizer lamb --lamb-norms slice", "'slice'"},
        BadLine{"BetaOfOne", "compare --beta2 1", "--beta2 is 1"},
        BadLine{"NoMuonRate", "compare --optimizer muon --muon-adamw-lr 0", "--muon-adamw-lr is 0"},
        BadLine{"GroupOfNoTensor", "compare --param-group h.0.ln_1.wait:lr=2",
                "the nearest name is 'h.0.ln_1.weight'"},
        BadLine{"GroupWithoutSettings", "compare --param-group *.bias",
                "write PATTERN:lr=X,decay=Y"},
        BadLine{"GroupSetsMomentum", "compare --param-group *:beta=1", "sets 'beta=1'"},
        BadLine{"GroupOfNoNumber", "compare --param-group *:lr=fast", "has 'fast'"},
        BadLine{"UnknownOrder", "compare --accumulation-order late", "--accumulation-order"},
        BadLine{"UnknownOverlap", "compare --overlap yes", "--overlap does not know 'yes'"},
        BadLine{"LocalZero2", "train --stage zero2 --accumulate 2 --accumulation-order local",
                "keeps no full gradient between micro-batches"},
        BadLine{"LocalZero3",
                "compare --stages ddp,zero3 --accumulate 2 --accumulation-order local",
                "zero3 cannot accumulate in local order"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Data, BadInputOf,
    testing::Values(
        BadLine{"UnknownModel", "compare --model gpt-tinny", "did you mean 'gpt-tiny'?"},
        BadLine{"MissingModelFile", "compare --model nowhere/config.json", "nowhere/config.json"},
        BadLine{"MissingData", "compare --data nowhere.txt", "nowhere.txt"},
        BadLine{"SequenceLongerThanTheModel", "compare --seq 129", "longer than the 128 positions"},
        BadLine{"NoSequence", "compare --seq 0", "--seq is 0"},
        BadLine{"SequenceOfTheMlp", "compare --model tied-mlp --seq 4", "has no sequences"},
        BadLine{"DataOfTheMlp", "compare --model tied-mlp --data x.txt", "leave --data out"},
        BadLine{"CertainDropout", "compare --dropout 1", "--dropout is 1; it must be a prob"},
        BadLine{"NegativeDropout", "compare --dropout -0.1", "--dropout is -0.1"},
        BadLine{"MoreThanPadding", "compare --padding 1.5", "--padding is 1.5"},
        BadLine{"NegativeSegments", "compare --checkpoint-every -1", "--checkpoint-every is -1"},
        BadLine{"BypassThatNeverComes", "compare --accumulate 2 --skip-block-every 3",
                "--skip-block-every is 3; give a whole number between 0 and 2"},
        BadLine{"DropoutOfTheMlp", "compare --model tied-mlp --dropout 0.1", "has no dropout"},
        BadLine{"PaddingOfTheMlp", "compare --model tied-mlp --padding 0.1", "has no tokens"},
        BadLine{"CheckpointsOfTheMlp", "compare --model tied-mlp --checkpoint-every 1",
                "nothing is saved by --checkpoint-every"},
        BadLine{"BypassOfTheMlp", "compare --model tied-mlp --skip-block-every 1",
                "no residual blocks"},
        BadLine{"MissingConfig", "compare --config nowhere.json", "nowhere.json"},
        BadLine{"ConfigForFaults", "faults run sum-not-mean --config ds.json",
                "no option --config"},
        BadLine{"MissingWeights", "train --load-weights nowhere.safetensors",
                "nowhere.safetensors"}),
    [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Harness, BadInputOf,
    testing::Values(
        BadLine{"UnknownCheck", "compare --check REF,MEN", "did you mean 'MEM'?"},
        BadLine{"NoneAndMore", "compare --check none,REF", "--check does not know 'NONE'"},
        BadLine{"NoJitter", "compare --jitter 0", "--jitter is 0"},
        BadLine{"UnknownFault", "compare --fault sum-not-meen", "did you mean 'sum-not-mean'?"},
        BadLine{"UnknownFaultToRun", "faults run discard", "did you mean 'discard-reduced'?"},
        BadLine{"FaultOfAStageNotRun", "compare --fault discard-reduced --stages ddp,zero2",
                "a fault of zero1"},
        BadLine{"MissingBaseline", "compare --baseline nowhere", "nowhere"},
        BadLine{"ExistingOut", "compare --out /", "/"},
        BadLine{"MissingRuns", "diff nowhere elsewhere", "nowhere is not a directory"},
        BadLine{"OneRun", "diff nowhere", "B"}),
    [](const auto& param) { return param.param.name; });

class BadFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(scratch_ / name) << text;
    return scratch_ / name;
  }
  ScratchDirectory scratch_{"bad-files"};
};

TEST_F(BadFiles, EmptyDataIsNamed) {
  const std::string path = file("empty.txt", "");

  const CommandOutcome outcome = run_command({"compare", "--data", path});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(path));
}

TEST_F(BadFiles, ASequenceLongerThanTheDataIsToldBeforeTraining) {
  const std::string path = file("short.txt", std::string(100, 'a'));

  const CommandOutcome outcome = run_command({"compare", "--data", path, "--seq", "100"});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(BadFiles, HeldOutDataThatAreTooShortAreToldBeforeTraining) {
  const std::string path = file("short.txt", std::string(200, 'a'));

  const CommandOutcome outcome =
      run_command({"compare", "--data", path, "--seq", "64", "--micro-batch", "1", "--ranks", "1"});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--eval-every 0"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(BadFiles, DataWithFewerSequencesThanAStepReadsAreToldBeforeTraining) {
  const std::string path = file("short.txt", std::string(500, 'a'));

  const CommandOutcome outcome = run_command({"compare", "--data", path, "--seq", "64"});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("a step needs 16 different sequences"));
}

TEST_F(BadFiles, ACorruptSafetensorsFileIsNamed) {
  const std::string path = file("weights.safetensors", "not weights");

  const CommandOutcome outcome = run_command({"train", "--load-weights", path});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(path));
}

TEST_F(BadFiles, ADeepSpeedConfigurationIsNamedWithItsKey) {
  const std::string path =
      file("ds.json", R"({"train_batch_size": 8, "zero_optimization": {"stgae": 2}})");

  const CommandOutcome outcome = run_command({"compare", "--config", path});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(path + " has an unknown key 'stgae' in zero_optimization; "
                                            "did you mean 'stage'?"));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(BadFiles, ADeepSpeedConfigurationMayNotAskForWhatIsMissing) {
  const std::string path = file("ds.json", R"({"train_batch_size": 8, "zero_optimization":
      {"stage": 2, "offload_optimizer": {"device": "nvme", "nvme_path": "/tmp"}}})");

  const CommandOutcome outcome = run_command({"train", "--config", path});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("offload_optimizer.device is \"nvme\", but model states"));
}

TEST_F(BadFiles, AnExistingOutputDirectoryIsLeftAlone) {
  file("keep.txt", "mine");

  const CommandOutcome outcome = run_command({"compare", "--out", scratch_ / ""});

  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("exists"));
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "keep.txt"));
}

TEST(Help, ShowsDefaultsAndUnitsAndExitsWithZero) {
  const CommandOutcome outcome = run_command("compare --help");

  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(
      outcome.out,
      ContainsRegex("--bucket-mb MIB +MiB of gradients in a bucket, counted in fp32 \\[0.25\\]"));
  EXPECT_THAT(outcome.out, ContainsRegex("--steps N +optimizer steps \\[60\\]"));
  EXPECT_EQ(outcome.err, "");
}

TEST(Help, ListsTheCommandsAndTheExitCodes) {
  const CommandOutcome outcome = run_command("--help");

  EXPECT_EQ(outcome.code, 0);
  for (const char* word : {"compare", "train", "diff", "faults", "Exit codes"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
}

}  // namespace
}  // namespace zerolab
