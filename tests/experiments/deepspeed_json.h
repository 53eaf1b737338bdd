// DeepSpeed configurations for tests, made and applied.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/config/deepspeed/deepspeed_config.h"
#include "experiments/config/deepspeed/known_keys.h"
#include "stages/core/error.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab::test {

using OrderedJson = nlohmann::ordered_json;

/// What a file made of the defaults.
struct Applied {
  RunConfig config;
  std::vector<std::string> notices;

  bool says(const std::string& part) const {
    return std::ranges::any_of(
        notices, [&](const std::string& notice) { return notice.find(part) != std::string::npos; });
  }
};

class DeepSpeedJson {
 public:
  explicit DeepSpeedJson(RunConfig defaults = {}) : defaults_(std::move(defaults)) {}

  /// As if `given` had been typed, with the values of the defaults.
  Applied apply_text(const std::string& text, Purpose purpose = Purpose::kCompare,
                     const std::set<std::string>& given = {}) const {
    std::ofstream(path(), std::ios::binary) << text;
    Applied applied{defaults_, {}};
    applied.config.config_file = path();
    applied.notices = apply_deepspeed_config(
        applied.config, purpose, [&](const std::string& option) { return given.contains(option); });
    return applied;
  }
  /// With a micro-batch of 4 unless the file has a batch.
  Applied apply(const OrderedJson& json, Purpose purpose = Purpose::kCompare,
                const std::set<std::string>& given = {}) const {
    return apply_text(with_batch(json), purpose, given);
  }
  /// The message; empty when nothing is wrong.
  std::string refusal_of_text(const std::string& text) const {
    try {
      apply_text(text);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal(const OrderedJson& json) const { return refusal_of_text(with_batch(json)); }

  std::string path() const { return (directory_ / "ds.json").string(); }

 private:
  static std::string with_batch(OrderedJson json) {
    const auto train = json.find("train_batch_size");
    if (train == json.end() || !train->is_number()) {
      json.emplace("train_micro_batch_size_per_gpu", 4);
    }
    return json.dump(2);
  }

  RunConfig defaults_;
  TemporaryDirectory directory_;
};

/// {"a": {"b": value}} for "a.b", with what the key needs around it: the type of its block, and a
/// switch that is on.
inline OrderedJson with(const KnownKey& key, const OrderedJson& value) {
  OrderedJson json = OrderedJson::object();
  OrderedJson* at = &json;
  std::string block;
  std::string_view rest = key.path;
  for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    const std::string name(rest.substr(0, dot));
    rest.remove_prefix(dot + 1);
    at = &(*at)[name];
    *at = OrderedJson::object();
    block += (block.empty() ? "" : ".") + name;
    if (const KnownKey* type = find_key(block + ".type")) {
      const std::string type_of_block =
          key.types.empty() ? listed(type->choices)[0] : listed(key.types)[0];
      (*at)["type"] = type_of_block;
    }
    if (find_key(block + ".enabled") != nullptr) (*at)["enabled"] = true;
  }
  (*at)[std::string(rest)] = value;
  return json;
}

/// A value of the key's kind that asks for something.
inline OrderedJson telling_value(const KnownKey& key) {
  const OrderedJson idle =
      key.idle().empty() ? OrderedJson() : OrderedJson::parse(std::string(key.idle()));
  switch (key.kind) {
    case JsonKind::kBool:
      return idle.is_boolean() ? !idle.get<bool>() : true;
    case JsonKind::kText:
      for (const std::string& choice : listed(key.choices)) {
        if (choice != idle) return choice;
      }
      return "something";
    case JsonKind::kNumbers:
      return OrderedJson::array({0.5, 0.5});
    case JsonKind::kTexts:
      return OrderedJson::array({"all_reduce"});
    case JsonKind::kBlock:
    case JsonKind::kOpenBlock:
      return {{"enabled", true}};
    default:
      return idle == 3 ? 2 : 3;
  }
}

/// Every key that is no block.
inline std::vector<KnownKey> plain_keys() {
  std::vector<KnownKey> keys;
  for (const KeyGroup& group : key_groups()) {
    for (const KnownKey& key : group.keys) {
      if (key.kind != JsonKind::kBlock) keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace zerolab::test
