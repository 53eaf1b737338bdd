#include "stages/model/model_factory.h"

#include <gmock/gmock.h>

#include "stages/core/atomic_file.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(ModelFactory, KnowsThePresets) {
  EXPECT_EQ(parse_model("gpt-tiny").gpt(), (GptConfig{4, 128, 4, 128, 256}));
  EXPECT_EQ(parse_model("gpt-small").gpt(), (GptConfig{6, 384, 6, 256, 256}));
  EXPECT_EQ(parse_model("gpt2-124m").gpt(), (GptConfig{12, 768, 12, 1024, 50257}));
  EXPECT_EQ(parse_model("tied-mlp").tied_mlp(), TiedMlpConfig{64});
}

TEST(ModelFactory, NamesTheNearestKnownModel) {
  EXPECT_THAT([] { parse_model("gpt-tny"); },
              ThrowsMessage<BadInput>(
                  AllOf(HasSubstr("no model 'gpt-tny'"), HasSubstr("did you mean 'gpt-tiny'"))));
}

class HuggingFaceConfigFile : public testing::Test {
 protected:
  ModelSpec parse(const std::string& json) {
    const std::filesystem::path path = directory_ / "config.json";
    write_file_atomically(path, json);
    return parse_model(path.string());
  }
  TemporaryDirectory directory_;
};

constexpr const char* kNoDropout = R"("resid_pdrop": 0, "embd_pdrop": 0.0, "attn_pdrop": 0)";

TEST_F(HuggingFaceConfigFile, GivesTheSizesOfTheModel) {
  const ModelSpec spec = parse(fmt::format(
      R"({{"model_type": "gpt2", "vocab_size": 300, "n_positions": 24, "n_embd": 48, "n_layer": 3,
          "n_head": 4, "n_inner": null, "activation_function": "gelu_new",
          "layer_norm_epsilon": 1e-05, "initializer_range": 0.05, "bos_token_id": 50256,
          "transformers_version": "4.40", "task_specific_params": {{"x": 1}}, {}}})",
      kNoDropout));
  EXPECT_EQ(spec.gpt(), (GptConfig{3, 48, 4, 24, 300, 0.05F}));
  EXPECT_THAT(spec.notices, IsEmpty());
}

TEST_F(HuggingFaceConfigFile, UsesHuggingFacesDefaultsDropoutIncluded) {
  const ModelSpec spec = parse("{}");
  EXPECT_EQ(spec.gpt(), parse_model("gpt2-124m").gpt());
  EXPECT_EQ(dropout_of_file(spec), 0.1);
  EXPECT_EQ(dropout_of_file(parse(fmt::format("{{{}}}", kNoDropout))), 0.0);
  EXPECT_EQ(dropout_of_file(parse_model("gpt-tiny")), 0.0);
}

TEST_F(HuggingFaceConfigFile, WithSeveralDropoutsAsksForOne) {
  const ModelSpec spec = parse(R"({"resid_pdrop": 0.2})");
  EXPECT_THAT([&] { dropout_of_file(spec); },
              ThrowsMessage<BadInput>(AllOf(HasSubstr("0.1 (embedding), 0.1 (attention) and 0.2"),
                                            HasSubstr("--dropout"))));
}

TEST_F(HuggingFaceConfigFile, AcceptsTheAliases) {
  const ModelSpec spec =
      parse(R"({"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
                "max_position_embeddings": 24, "n_ctx": 24})");
  EXPECT_EQ(spec.gpt(), (GptConfig{3, 48, 4, 24, 50257}));
}

struct Refused {
  const char* json;
  const char* message;
};

TEST_F(HuggingFaceConfigFile, RefusesWhatItDoesNotImplementByName) {
  const Refused cases[] = {
      {R"({"activation_function": "relu"})", "activation_function = \"relu\" is not implemented"},
      {R"({"n_inner": 100})", "n_inner = 100 is not implemented; only 4 n_embd = 3072 is"},
      {R"({"layer_norm_epsilon": 1e-6})", "layer_norm_epsilon = 1e-06 is not implemented"},
      {R"({"scale_attn_by_inverse_layer_idx": true})", "scale_attn_by_inverse_layer_idx = true"},
      {R"({"reorder_and_upcast_attn": true})", "reorder_and_upcast_attn = true"},
      {R"({"model_type": "llama"})", "model_type = \"llama\" is not implemented"},
      {R"({"tie_word_embeddings": false})", "tie_word_embeddings = false is not implemented"},
      {R"({"n_layers": 3})", "unknown key 'n_layers'; did you mean 'n_layer'"},
      {R"({"n_layer": "3"})", "n_layer = \"3\" should be a whole number"},
      {R"({"n_layer": 0})", "the number of layers is 0"},
      {R"({"n_head": 5})", "5 heads do not divide 768 channels"},
      {R"({"n_embd": 48, "hidden_size": 64})", "n_embd = 48 and its alias hidden_size = 64"},
      {R"({"attn_pdrop": -1})", "attn_pdrop = -1 should be a probability"},
      {R"({"n_layer": 3)", "is not JSON"},
      {"[1]", "holds no JSON object"},
  };
  for (const Refused& refused : cases) {
    EXPECT_THAT([&] { parse(refused.json); }, ThrowsMessage<BadInput>(HasSubstr(refused.message)))
        << refused.json;
  }
}

TEST_F(HuggingFaceConfigFile, RefusesAMissingFile) {
  EXPECT_THAT([&] { parse_model((directory_ / "none.json").string()); },
              ThrowsMessage<BadInput>(HasSubstr("cannot be opened")));
}

}  // namespace
}  // namespace zerolab
