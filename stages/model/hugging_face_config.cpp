#include "stages/model/hugging_face_config.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "stages/core/error.h"
#include "stages/core/nearest.h"

namespace zerolab {

namespace {

using Json = nlohmann::json;

// A misspelt key within this many edits of one that matters is an error, not a stranger.
constexpr std::size_t kMisspelling = 2;

class ConfigReader {
 public:
  explicit ConfigReader(const std::filesystem::path& path) : path_(path) {
    std::ifstream in(path);
    if (!in)
      bad_input("[model] {} cannot be opened; give the path of a config.json", path.string());
    try {
      json_ = Json::parse(in);
    } catch (const Json::parse_error& error) {
      bad_input("[model] {} is not JSON: byte {} is unexpected", path.string(), error.byte);
    }
    if (!json_.is_object()) bad_input("[model] {} holds no JSON object", path.string());
  }

  /// The value of the first of `keys` (a name and its aliases) in the file, or `fallback`.
  std::int64_t integer(std::initializer_list<const char*> keys, std::int64_t fallback) {
    std::int64_t result = fallback;
    const char* used = nullptr;
    for (const char* key : keys) {
      known_.insert(key);
      if (!json_.contains(key) || json_[key].is_null()) continue;
      const Json& value = json_[key];
      if (!value.is_number_integer()) wrong(key, "a whole number");
      const auto number = value.get<std::int64_t>();
      if (used != nullptr && number != result) {
        bad_input("[model] {} gives {} = {} and its alias {} = {}; keep one", path_.string(), used,
                  result, key, number);
      }
      result = number;
      used = key;
    }
    return result;
  }

  double real(const char* key, double fallback) {
    known_.insert(key);
    if (!json_.contains(key) || json_[key].is_null()) return fallback;
    if (!json_[key].is_number()) wrong(key, "a number");
    return json_[key].get<double>();
  }

  /// A key that may be absent but has only one value that is implemented.
  void only(const char* key, const Json& implemented) {
    known_.insert(key);
    if (json_.contains(key) && json_[key] != implemented) {
      bad_input("[model] {}: {} = {} is not implemented; only {} is", path_.string(), key,
                json_[key].dump(), implemented.dump());
    }
  }

  const Json& json() const { return json_; }

  /// \throws BadInput when a key that nobody asked for looks like one that somebody did. Other keys
  /// (token ids, generation settings, the writer's version) do not change the computation.
  void reject_misspellings() const {
    const std::vector<std::string> known(known_.begin(), known_.end());
    for (const auto& [key, value] : json_.items()) {
      if (known_.contains(key)) continue;
      const std::string candidate = nearest(key, known);
      if (edit_distance(key, candidate) <= kMisspelling) {
        bad_input("[model] {} has an unknown key '{}'; did you mean '{}'?", path_.string(), key,
                  candidate);
      }
    }
  }

  [[noreturn]] void wrong(const char* key, const char* expected) const {
    bad_input("[model] {}: {} = {} should be {}", path_.string(), key, json_[key].dump(), expected);
  }

 private:
  std::filesystem::path path_;
  Json json_;
  std::set<std::string> known_;
};

void require_architecture(ConfigReader& reader) {
  reader.only("model_type", "gpt2");
  reader.only("add_cross_attention", false);
  reader.only("scale_attn_weights", true);
  reader.only("scale_attn_by_inverse_layer_idx", false);
  // Changes where rounding happens, not what is computed; no such path here all the same.
  reader.only("reorder_and_upcast_attn", false);
  reader.only("tie_word_embeddings", true);
  reader.only("layer_norm_epsilon", 1e-5);
  // Both names mean the tanh form of GELU.
  const auto activation = reader.json().find("activation_function");
  if (activation != reader.json().end() && *activation != "gelu_pytorch_tanh") {
    reader.only("activation_function", "gelu_new");
  }
}

}  // namespace

HuggingFaceConfig read_hugging_face_config(const std::filesystem::path& path) {
  ConfigReader reader(path);
  require_architecture(reader);

  HuggingFaceConfig result;
  GptConfig& config = result.config;
  config.vocabulary = reader.integer({"vocab_size"}, 50257);
  config.max_time = reader.integer({"n_positions", "max_position_embeddings", "n_ctx"}, 1024);
  config.channels = reader.integer({"n_embd", "hidden_size"}, 768);
  config.layers = reader.integer({"n_layer", "num_hidden_layers"}, 12);
  config.heads = reader.integer({"n_head", "num_attention_heads"}, 12);
  config.initializer_range = static_cast<float>(reader.real("initializer_range", 0.02));
  const std::int64_t inner = reader.integer({"n_inner"}, 4 * config.channels);
  validate(config);
  if (inner != 4 * config.channels) {
    bad_input("[model] {}: n_inner = {} is not implemented; only 4 n_embd = {} is", path.string(),
              inner, 4 * config.channels);
  }
  for (const char* key : {"embd_pdrop", "attn_pdrop", "resid_pdrop"}) {
    const double dropout = reader.real(key, 0.1);
    if (!(dropout >= 0 && dropout < 1)) reader.wrong(key, "a probability below 1");
    result.dropouts.push_back(dropout);
  }
  reader.reject_misspellings();
  return result;
}

}  // namespace zerolab
