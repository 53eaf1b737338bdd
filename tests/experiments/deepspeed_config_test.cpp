// From a DeepSpeed file to a RunConfig.
#include <gmock/gmock.h>

#include "experiments/config/deepspeed/blocks.h"
#include "tests/experiments/deepspeed_json.h"

namespace zerolab {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

/// A key, its value, and the field that has another value then.
struct Honoured {
  std::string key;
  OrderedJson value;
  std::function<double(const RunConfig&)> field;
  double expected;
  OrderedJson around = OrderedJson::object();
};

OrderedJson optimizer(const char* type) { return {{"optimizer", {{"type", type}}}}; }
OrderedJson scheduler(const char* type) { return {{"scheduler", {{"type", type}}}}; }
const OrderedJson kFp16 = {{"fp16", {{"enabled", true}}}};

double precision(const RunConfig& c) { return c.precision == "fp16" ? 16 : c.precision == "bf16"; }
double stages(const RunConfig& c) { return static_cast<double>(c.stages.size()); }

/// Where a field is a float, its nearest number.
double f(float value) { return static_cast<double>(value); }

#define FIELD(name) [](const RunConfig& c) { return static_cast<double>(c.name); }
const std::vector<Honoured>& honoured() {
  static const std::vector<Honoured> kCases = {
      {"train_batch_size", 24, FIELD(micro_batch), 6},
      {"train_micro_batch_size_per_gpu", 7, FIELD(micro_batch), 7},
      {"gradient_accumulation_steps", 5, FIELD(accumulate), 5},
      {"gradient_clipping", 0.25, FIELD(clip), 0.25},
      {"communication_data_type", "bf16", FIELD(reduce_dtype == "bf16"), 1},
      {"data_types.grad_accum_dtype", "bf16", FIELD(accumulate_dtype == "bf16"), 1},
      {"activation_checkpointing.number_checkpoints", 2, FIELD(checkpoint_every), 2},
      {"optimizer.type", "SGD", FIELD(optimizer.name == "sgd"), 1},
      {"optimizer.type", "Adam", FIELD(optimizer.beta2), f(0.999F)},
      {"optimizer.type", "lamb", FIELD(optimizer.name == "lamb"), 1},
      {"optimizer.type", "Muon", FIELD(optimizer.name == "muon"), 1},
      {"optimizer.params.momentum", 0.8, FIELD(optimizer.muon_momentum), f(0.8F),
       optimizer("Muon")},
      {"optimizer.params.lr", 0.02, FIELD(learning_rate), 0.02, optimizer("AdamW")},
      {"optimizer.params.muon_lr", 0.05, FIELD(learning_rate), 0.05, optimizer("Muon")},
      {"optimizer.params.adam_lr", 0.003, FIELD(adamw_learning_rate), 0.003, optimizer("Muon")},
      {"optimizer.params.betas", {0.8, 0.9}, FIELD(optimizer.beta1), f(0.8F), optimizer("AdamW")},
      {"optimizer.params.betas", {0.8, 0.9}, FIELD(optimizer.beta2), f(0.9F), optimizer("Lamb")},
      {"optimizer.params.eps", 1e-6, FIELD(optimizer.epsilon), f(1e-6F), optimizer("Adam")},
      {"optimizer.params.weight_decay", 0.3, FIELD(optimizer.weight_decay), f(0.3F),
       optimizer("Adam")},
      {"optimizer.params.momentum", 0.7, FIELD(optimizer.momentum), f(0.7F), optimizer("SGD")},
      {"scheduler.type", "WarmupLR", FIELD(decay), f(0)},
      {"scheduler.type", "WarmupDecayLR", FIELD(decay), f(1)},
      {"scheduler.type", "WarmupLR", FIELD(step_count == StepCount::kDeepSpeed), 1},
      {"scheduler.type", "WarmupLR", FIELD(warmup_shape == WarmupShape::kLog), 1},
      {"scheduler.params.warmup_min_lr", 1e-4, FIELD(warmup_min_lr), 1e-4, scheduler("WarmupLR")},
      {"scheduler.params.warmup_min_lr", 1e-4, FIELD(final_lr_fraction), 0.1,
       scheduler("WarmupDecayLR")},
      {"scheduler.params.warmup_max_lr", 0.01, FIELD(learning_rate), 0.01, scheduler("WarmupLR")},
      {"scheduler.params.warmup_num_steps", 20, FIELD(warmup_steps), 20, scheduler("WarmupLR")},
      {"scheduler.params.warmup_type", "linear", FIELD(warmup_shape == WarmupShape::kLinear), 1,
       scheduler("WarmupCosineLR")},
      {"scheduler.params.total_num_steps", 900, FIELD(schedule_steps), 900,
       scheduler("WarmupDecayLR")},
      {"scheduler.params.warmup_min_ratio", 0.5, FIELD(warmup_min_lr), 0.0005,
       scheduler("WarmupCosineLR")},
      {"scheduler.params.cos_min_ratio", 0.2, FIELD(final_lr_fraction), 0.2,
       scheduler("WarmupCosineLR")},
      {"fp16.enabled", true, precision, 16},
      {"fp16.loss_scale", 128, FIELD(loss_scale.fixed), 128, kFp16},
      {"fp16.initial_scale_power", 12, FIELD(loss_scale.initial_power), 12, kFp16},
      {"fp16.loss_scale_window", 50, FIELD(loss_scale.window), 50, kFp16},
      {"fp16.hysteresis", 3, FIELD(loss_scale.hysteresis), 3, kFp16},
      {"fp16.consecutive_hysteresis", true, FIELD(loss_scale.consecutive_hysteresis), 1, kFp16},
      {"fp16.min_loss_scale", 4, FIELD(loss_scale.minimum), 4, kFp16},
      {"bf16.enabled", true, precision, 1},
      {"bfloat16.enabled", true, precision, 1},
      {"zero_optimization.stage", 2, stages, 2},
      {"zero_optimization.reduce_bucket_size", 1e6, FIELD(bucket_mb), 4e6 / 1048576},
      {"zero_optimization.reduce_bucket_size", 1000, FIELD(bucket_elements()), 1000},
      {"zero_optimization.overlap_comm", false, FIELD(overlap), 0},
  };
  return kCases;
}
#undef FIELD

TEST(HonouredKeys, ChangeTheConfiguration) {
  const DeepSpeedJson file;
  for (const Honoured& c : honoured()) {
    OrderedJson json = c.around;
    json.merge_patch(with(*find_key(c.key), c.value));
    if (c.around.contains("optimizer")) json["optimizer"]["type"] = c.around["optimizer"]["type"];
    if (c.around.contains("scheduler")) json["scheduler"]["type"] = c.around["scheduler"]["type"];
    const double value = c.field(file.apply(json).config);
    EXPECT_DOUBLE_EQ(value, c.expected) << c.key << " = " << c.value;
    EXPECT_NE(c.field(file.apply(c.around).config), c.expected) << c.key << " changes nothing";
  }
}

TEST(HonouredKeys, AreAllTested) {
  // These two only refuse what does not fit.
  std::set<std::string> tested = {"optimizer.params.adam_w_mode", "data_types.param_dtype"};
  for (const Honoured& c : honoured()) tested.insert(c.key);
  for (const KnownKey& key : plain_keys()) {
    if (key.treatment == Treatment::kHonoured) {
      EXPECT_TRUE(tested.contains(std::string(key.path))) << key.path;
    }
  }
}

TEST(Blocks, ThatAreThereBringDeepSpeedsDefaultsAndOthersLeaveOurs) {
  const DeepSpeedJson file;

  const RunConfig none = file.apply(OrderedJson::object()).config;
  EXPECT_EQ(none.optimizer.beta2, 0.95F);
  EXPECT_EQ(none.decay, Decay::kCosine);
  EXPECT_EQ(none.warmup_steps, 10);
  EXPECT_EQ(none.bucket_mb, 0.25);
  EXPECT_EQ(none.stages.size(), 4U);

  const RunConfig all = file.apply({{"optimizer", {{"type", "AdamW"}}},
                                    {"scheduler", {{"type", "WarmupCosineLR"}}},
                                    {"zero_optimization", {{"stage", 1}}}})
                            .config;
  EXPECT_EQ(all.optimizer.beta2, 0.999F);
  EXPECT_EQ(all.optimizer.weight_decay, 0.0F);
  EXPECT_EQ(all.warmup_steps, 1000);
  EXPECT_EQ(all.final_lr_fraction, 1e-4);
  EXPECT_EQ(all.bucket_elements(), 500'000'000);
  EXPECT_FALSE(all.overlap);
}

TEST(Blocks, WithoutASchedulerSayThatTheRateFollowsOurs) {
  const DeepSpeedJson file;
  EXPECT_TRUE(file.apply(OrderedJson::object()).says("has no scheduler"));
  EXPECT_FALSE(file.apply(scheduler("WarmupLR")).says("has no scheduler"));
}

TEST(ZeroStage, IsTrainedOrComparedWithDdp) {
  const DeepSpeedJson file;
  const auto stages_at = [&](int stage, Purpose purpose) {
    return file.apply({{"zero_optimization", {{"stage", stage}}}}, purpose).config.stages;
  };
  EXPECT_THAT(stages_at(3, Purpose::kCompare), ElementsAre("ddp", "zero3"));
  EXPECT_THAT(stages_at(0, Purpose::kCompare), ElementsAre("ddp", "zero1", "zero2", "zero3"));
  EXPECT_THAT(stages_at(2, Purpose::kTrain), ElementsAre("zero2"));
  EXPECT_THAT(stages_at(0, Purpose::kTrain), ElementsAre("ddp"));
  EXPECT_THAT(file.refusal({{"zero_optimization", {{"stage", 4}}}}),
              HasSubstr("zero_optimization.stage is 4; give 0 (ddp), 1, 2 or 3"));
}

TEST(ZeroStage, Overlaps3ByDefault) {
  const DeepSpeedJson file;
  EXPECT_TRUE(file.apply({{"zero_optimization", {{"stage", 3}}}}).config.overlap);
  EXPECT_FALSE(file.apply({{"zero_optimization", {{"stage", 2}}}}).config.overlap);
}

TEST(Rates, OfWarmupDecayAre0001UnlessTheSchedulerNamesOne) {
  const DeepSpeedJson file;
  OrderedJson json = scheduler("WarmupDecayLR");
  json["optimizer"] = {{"type", "AdamW"}, {"params", {{"lr", 0.5}}}};

  const Applied applied = file.apply(json);

  EXPECT_EQ(applied.config.learning_rate, 0.001);
  EXPECT_TRUE(
      applied.says("WarmupDecayLR takes the learning rate to 0.001, not to the optimizer's "
                   "0.5"));
}

TEST(Rates, OfWarmupAreTheOptimizersUnlessTheSchedulerNamesOne) {
  const DeepSpeedJson file;
  OrderedJson json = scheduler("WarmupLR");
  json["optimizer"] = {{"type", "AdamW"}, {"params", {{"lr", 0.5}}}};
  EXPECT_EQ(file.apply(json).config.learning_rate, 0.5);
}

TEST(Adam, WithL2IsRefusedUnlessThereIsNothingToRegularize) {
  const DeepSpeedJson file;
  const auto adam = [](const char* type, double decay) {
    return OrderedJson{
        {"optimizer",
         {{"type", type}, {"params", {{"adam_w_mode", false}, {"weight_decay", decay}}}}}};
  };
  EXPECT_THAT(file.refusal(adam("Adam", 0.1)), HasSubstr("adam_w_mode is false; L2"));
  EXPECT_EQ(file.refusal(adam("Adam", 0)), "");
  EXPECT_EQ(file.refusal(adam("AdamW", 0.1)), "");  // it is AdamW whatever the mode
}

TEST(Values, OutOfRangeAreRefused) {
  const DeepSpeedJson file;
  const auto betas = [](const OrderedJson& value) {
    return OrderedJson{{"optimizer", {{"type", "Adam"}, {"params", {{"betas", value}}}}}};
  };
  EXPECT_THAT(file.refusal(betas({0.9})), HasSubstr("betas is [0.9]; give two numbers"));
  EXPECT_THAT(file.refusal(betas({0.9, 1})), HasSubstr("betas is [0.9,1]; give numbers of"));
  EXPECT_THAT(file.refusal({{"fp16", {{"enabled", true}, {"initial_scale_power", 3e9}}}}),
              HasSubstr("initial_scale_power is 3000000000.0; give a smaller number"));
  EXPECT_THAT(file.refusal({{"fp16", {{"enabled", true}}}, {"bf16", {{"enabled", true}}}}),
              HasSubstr("enable one of them"));
  EXPECT_THAT(file.refusal({{"data_types", {{"param_dtype", "bf16"}}}}),
              HasSubstr("param_dtype is \"bf16\"; parameters are fp32"));
}

// ---- the command line -----------------------------------------------------------------------

TEST(CommandLine, BeatsTheFileAndSaysSo) {
  RunConfig typed;
  typed.learning_rate = 0.5;
  const DeepSpeedJson file(typed);
  OrderedJson json = optimizer("AdamW");
  json["optimizer"]["params"] = {{"lr", 0.25}};

  const Applied applied = file.apply(json, Purpose::kCompare, {"--lr"});

  EXPECT_EQ(applied.config.learning_rate, 0.5);
  EXPECT_TRUE(
      applied.says("--lr 0.5 of the command line was used, not the 0.25 that "
                   "optimizer.params.lr of " +
                   file.path() + " asks for"));
}

TEST(CommandLine, SaysNothingWhereTheFileAgrees) {
  RunConfig typed;
  typed.clip = 0.5;
  const Applied applied =
      DeepSpeedJson(typed).apply({{"gradient_clipping", 0.5}}, Purpose::kCompare, {"--clip"});
  EXPECT_FALSE(applied.says("--clip"));
}

TEST(CommandLine, OfAScheduleMakesItOurs) {
  const Applied applied =
      DeepSpeedJson().apply(scheduler("WarmupLR"), Purpose::kCompare, {"--schedule"});
  EXPECT_EQ(applied.config.decay, Decay::kCosine);
  EXPECT_EQ(applied.config.step_count, StepCount::kFromOne);
  EXPECT_TRUE(applied.says("--schedule cosine of the command line was used, not the constant"));
}

TEST(CommandLine, OfStagesBeatsTheFile) {
  const Applied applied = DeepSpeedJson().apply({{"zero_optimization", {{"stage", 1}}}},
                                                Purpose::kCompare, {"--stages"});
  EXPECT_EQ(applied.config.stages.size(), 4U);
  EXPECT_TRUE(applied.says("not the ddp, zero1 that zero_optimization.stage"));
}

// ---- batch ----------------------------------------------------------------------------------

struct Triple {
  std::int64_t train, micro, accumulate;  // 0: absent
};

std::string name(const Triple& t) {
  return fmt::format("train {}, micro {}, accumulate {}", t.train, t.micro, t.accumulate);
}

OrderedJson batch(const Triple& t) {
  OrderedJson json = OrderedJson::object();
  if (t.train > 0) json["train_batch_size"] = t.train;
  if (t.micro > 0) json["train_micro_batch_size_per_gpu"] = t.micro;
  if (t.accumulate > 0) json["gradient_accumulation_steps"] = t.accumulate;
  return json;
}

TEST(Batch, FollowsFromTwoSizesOrOne) {
  const DeepSpeedJson file;  // four ranks
  const std::vector<std::pair<Triple, Triple>> cases = {
      {{48, 6, 2}, {48, 6, 2}}, {{48, 6, 0}, {48, 6, 2}},  {{48, 0, 2}, {48, 6, 2}},
      {{0, 6, 2}, {48, 6, 2}},  {{48, 0, 0}, {48, 12, 1}}, {{0, 6, 0}, {24, 6, 1}}};
  for (const auto& [given, all] : cases) {
    const RunConfig config = file.apply_text(batch(given).dump()).config;
    EXPECT_EQ(config.micro_batch, all.micro) << name(given);
    EXPECT_EQ(config.accumulate, all.accumulate) << name(given);
    const auto sizes = complete_batch({all.train, all.micro, all.accumulate}, 4, "ds.json");
    EXPECT_EQ(*sizes.train, all.train);
  }
}

TEST(Batch, ThatDoesNotComeOutIsRefusedWithEverySize) {
  const DeepSpeedJson file;
  for (const Triple& given :
       std::vector<Triple>{{50, 6, 2}, {50, 6, 0}, {50, 0, 2}, {50, 0, 0}, {2, 0, 0}, {8, 6, 0}}) {
    EXPECT_THAT(file.refusal_of_text(batch(given).dump()),
                HasSubstr(fmt::format("train_batch_size {} must be", given.train)))
        << name(given);
  }
}

TEST(Batch, LargerThanAnyMachineIsRefused) {
  const DeepSpeedJson file;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(file.refusal_of_text(batch({0, most, most}).dump()), HasSubstr("at most"));
  EXPECT_THAT(file.refusal_of_text(batch({std::int64_t{1} << 40, 1, 0}).dump()),
              HasSubstr("gradient_accumulation_steps would be 274877906944; it can be 65536"));
}

TEST(Batch, WithoutASizeOfItsOwnIsRefused) {
  const DeepSpeedJson file;
  for (const char* text :
       {"{}", R"({"gradient_accumulation_steps": 2})", R"({"train_batch_size": "auto"})"}) {
    EXPECT_THAT(file.refusal_of_text(text), HasSubstr("neither train_batch_size nor"));
  }
}

TEST(Batch, TakesTypedSizesInPlaceOfTheFiles) {
  RunConfig typed;
  typed.micro_batch = 3;
  const DeepSpeedJson file(typed);
  const std::set<std::string> given = {"--micro-batch"};

  // The size of the whole batch is kept as long as it can be.
  EXPECT_EQ(file.apply_text(batch({48, 6, 0}).dump(), Purpose::kCompare, given).config.accumulate,
            4);
  const Applied other = file.apply_text(batch({48, 6, 2}).dump(), Purpose::kCompare, given);
  EXPECT_EQ(other.config.micro_batch, 3);
  EXPECT_EQ(other.config.accumulate, 2);
  EXPECT_TRUE(other.says("makes the batch 24, not the 48 that train_batch_size"));
  EXPECT_EQ(file.apply_text("{}", Purpose::kCompare, given).config.micro_batch, 3);
}

// ---- the file -------------------------------------------------------------------------------

TEST(File, ThatIsNoJsonIsRefusedWithLineAndByte) {
  const DeepSpeedJson file;
  EXPECT_THAT(file.refusal_of_text("{\n  \"a\": 1,\n  oops\n}"),
              HasSubstr("ds.json, line 3 (byte 15) is no JSON"));
  EXPECT_THAT(file.refusal_of_text(""), HasSubstr("line 1"));
  EXPECT_THAT(file.refusal_of_text("{\"train_batch_size\": 4"), HasSubstr("is no JSON"));
  EXPECT_THAT(file.refusal_of_text("[1]"), HasSubstr("holds no JSON object"));
  EXPECT_THAT(file.refusal_of_text("{\"train_batch_size\": 1e999}"), HasSubstr("no computer type"));
}

TEST(File, ThatRepeatsAKeyIsRefusedWithTheLineOfTheSecond) {
  const DeepSpeedJson file;
  EXPECT_THAT(file.refusal_of_text("{\"fp16\": {\"enabled\": true,\n\"enabled\": false}}"),
              HasSubstr("ds.json, line 2 (byte 36) repeats the key 'enabled'; keep one"));
  EXPECT_THAT(file.refusal_of_text("{\"fp16\": {},\n\n\"fp16\": {}}"), HasSubstr("line 3"));
}

TEST(File, MayHaveCommentsAndTheSameKeyInDifferentBlocks) {
  const DeepSpeedJson file;
  const std::string text =
      "{ // how much\n \"train_batch_size\": 8, /* and where */\n"
      "\"fp16\": {\"enabled\": false}, \"bf16\": {\"enabled\": false}}";
  EXPECT_EQ(file.apply_text(text).config.micro_batch, 2);
}

}  // namespace
}  // namespace zerolab
