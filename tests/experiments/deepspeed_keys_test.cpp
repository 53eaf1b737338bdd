// What the table of keys promises about each one holds when a file has it.
#include <gmock/gmock.h>

#include "tests/experiments/deepspeed_json.h"

namespace zerolab {
namespace {

using namespace test;
using testing::HasSubstr;

const DeepSpeedJson& file() {
  static const DeepSpeedJson kFile;
  return kFile;
}

std::string quoted(const KnownKey& key) { return std::string(key.path); }

TEST(DeepSpeedKeys, AreListedOnceAndUnderABlockThatIsListed) {
  std::set<std::string_view> seen;
  for (const KeyGroup& group : key_groups()) {
    for (const KnownKey& key : group.keys) {
      EXPECT_TRUE(seen.insert(key.path).second) << key.path;
      EXPECT_FALSE(key.remark.empty()) << key.path;
      if (key.block().empty()) continue;
      const KnownKey* block = find_key(key.block());
      ASSERT_NE(block, nullptr) << key.path;
      EXPECT_EQ(block->kind, JsonKind::kBlock) << key.path;
    }
  }
  EXPECT_GT(seen.size(), 150U);
}

TEST(DeepSpeedKeys, HaveDefaultsOfTheirKind) {
  for (const KnownKey& key : plain_keys()) {
    for (const std::string_view text : {key.standard, key.idle()}) {
      if (text.empty() || text == "null") continue;
      EXPECT_EQ(file().refusal(with(key, OrderedJson::parse(std::string(text)))), "") << key.path;
    }
  }
}

TEST(DeepSpeedKeys, ThatAreNotedAreNamedOnceAndOnlyWhereTheyAskForSomething) {
  for (const KnownKey& key : plain_keys()) {
    if (key.treatment != Treatment::kNoted) continue;
    const Applied telling = file().apply(with(key, telling_value(key)));
    EXPECT_EQ(std::ranges::count_if(telling.notices,
                                    [&](const std::string& notice) {
                                      return notice.starts_with(quoted(key) + " of ");
                                    }),
              1)
        << key.path;
    EXPECT_TRUE(telling.says(std::string(key.remark))) << key.path;
    if (key.idle().empty() || key.idle() == "null") continue;
    const Applied idle = file().apply(with(key, OrderedJson::parse(std::string(key.idle()))));
    EXPECT_FALSE(idle.says(quoted(key) + " of ")) << key.path;
  }
}

TEST(DeepSpeedKeys, ThatAreRefusedEndTheRunWhereTheyAreOn) {
  for (const KnownKey& key : plain_keys()) {
    if (key.treatment != Treatment::kRefused) continue;
    const std::string refusal = file().refusal(with(key, telling_value(key)));
    EXPECT_THAT(refusal, HasSubstr("ds.json: " + quoted(key) + " is ")) << key.path;
    EXPECT_THAT(refusal, HasSubstr(std::string(key.remark)));
    EXPECT_EQ(refusal.find("[config] "), 0U) << refusal;
  }
}

TEST(DeepSpeedKeys, WithoutEffectAreTakenInSilence) {
  const std::size_t always = file().apply(OrderedJson::object()).notices.size();
  for (const KnownKey& key : plain_keys()) {
    if (key.treatment != Treatment::kNoEffect) continue;
    OrderedJson json = with(key, telling_value(key));
    // A monitor that is on is named, but not its details.
    const auto outer = json.find(std::string(key.block()));
    const bool monitor = outer != json.end() && outer->contains("enabled");
    if (monitor) (*outer)["enabled"] = false;
    const Applied applied = file().apply(json);
    EXPECT_FALSE(applied.says(quoted(key))) << key.path;
    // The stages that are compared are told wherever there is a ZeRO block.
    const std::size_t stages = quoted(key).starts_with("zero_optimization.") ? 1 : 0;
    EXPECT_EQ(applied.notices.size(), always + stages) << key.path;
  }
}

TEST(DeepSpeedKeys, OfAnotherKindAreRefusedByPathAndFile) {
  for (const KeyGroup& group : key_groups()) {
    for (const KnownKey& key : group.keys) {
      const bool array = key.kind == JsonKind::kNumbers || key.kind == JsonKind::kTexts;
      const OrderedJson wrong = array ? OrderedJson(1.5) : OrderedJson::array({nullptr});
      EXPECT_THAT(file().refusal(with(key, wrong)),
                  HasSubstr("ds.json: " + quoted(key) + " is " + wrong.dump() + "; give "))
          << key.path;
    }
  }
}

TEST(DeepSpeedKeys, ThatAreAutoOrNullCountAsAbsent) {
  for (const KnownKey& key : plain_keys()) {
    for (const OrderedJson& value : {OrderedJson("auto"), OrderedJson()}) {
      // Blocks need a type, and batches a size.
      if (key.name() == "type" || key.path == "train_micro_batch_size_per_gpu") continue;
      const Applied applied = file().apply(with(key, value));
      EXPECT_FALSE(applied.says(quoted(key) + " of ") && key.path != "zero_optimization.stage")
          << key.path;
    }
  }
}

TEST(DeepSpeedKeys, ThatNobodyKnowsAreErrorsAtEveryLevel) {
  for (const KeyGroup& group : key_groups()) {
    for (const KnownKey& key : group.keys) {
      if (key.kind != JsonKind::kBlock) continue;
      const OrderedJson block = {{"enabeld_", true}};
      EXPECT_THAT(file().refusal(with(key, block)),
                  HasSubstr("has an unknown key 'enabeld_' in " + quoted(key)))
          << key.path;
    }
  }
  EXPECT_THAT(file().refusal({{"zero_optimisation", 1}}), HasSubstr("mean 'zero_optimization'?"));
  EXPECT_THAT(file().refusal({{"zero_optimization", {{"stgae", 2}}}}),
              HasSubstr("unknown key 'stgae' in zero_optimization; did you mean 'stage'?"));
}

TEST(DeepSpeedKeys, OfABlockThatIsOffAreNeitherNamedNorRefused) {
  const Applied applied = file().apply(
      {{"fp16", {{"enabled", false}, {"auto_cast", true}, {"fp16_master_weights_and_grads", true}}},
       {"elasticity", {{"enabled", false}, {"max_train_batch_size", 2000}}},
       {"compression_training", {{"layer_reduction", {{"enabled", false}}}}},
       {"data_efficiency", {{"enabled", false}, {"data_sampling", {{"enabled", true}}}}}});

  EXPECT_FALSE(applied.says("fp16"));
  EXPECT_EQ(applied.config.precision, "fp32");
}

TEST(DeepSpeedKeys, OfFeaturesWithoutASwitchAreOnByBeingThere) {
  EXPECT_THAT(file().refusal({{"sparse_attention", {{"mode", "fixed"}}}}),
              HasSubstr("attention is dense"));
  EXPECT_THAT(
      file().refusal({{"compression_training", {{"layer_reduction", {{"enabled", true}}}}}}),
      HasSubstr("compression is not implemented"));
}

TEST(DeepSpeedTypes, ThatAreMissingHereAreRefusedByName) {
  EXPECT_THAT(
      file().refusal({{"optimizer", {{"params", {{"freeze_step", 9}}}, {"type", "OneBitAdam"}}}}),
      HasSubstr("optimizer.type is \"OneBitAdam\", which is not implemented; choose from"));
  EXPECT_THAT(file().refusal({{"scheduler", {{"type", "OneCycle"}}}}),
              HasSubstr("scheduler.type is \"OneCycle\", which is not implemented"));
  EXPECT_THAT(file().refusal({{"optimizer", {{"type", "AdamV"}}}}),
              HasSubstr("did you mean \"Adam"));
  EXPECT_THAT(file().refusal({{"optimizer", OrderedJson::object()}}),
              HasSubstr("optimizer.type is absent; give the block a type"));
}

TEST(DeepSpeedTypes, TakeTheirOwnKeysOnly) {
  EXPECT_THAT(
      file().refusal({{"optimizer", {{"type", "SGD"}, {"params", {{"betas", {0.9, 0.9}}}}}}}),
      HasSubstr("optimizer.params.betas is no key of SGD, but of Adam, AdamW, Lamb"));
  EXPECT_THAT(
      file().refusal({{"scheduler", {{"type", "WarmupLR"}, {"params", {{"cos_min_ratio", 0.1}}}}}}),
      HasSubstr("scheduler.params.cos_min_ratio is no key of WarmupLR"));
}

}  // namespace
}  // namespace zerolab
