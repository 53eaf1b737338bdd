#include "experiments/config/deepspeed/known_keys.h"

namespace zerolab {

std::string_view KnownKey::block() const {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::vector<KeyGroup> key_groups() {
  return {{"Batch", batch_keys()},
          {"Training", training_keys()},
          {"Optimizer", optimizer_keys()},
          {"Scheduler", scheduler_keys()},
          {"Precision", precision_keys()},
          {"ZeRO", zero_keys()},
          {"Offloading", offload_keys()},
          {"Logs, profiles and checkpoints", observation_keys()},
          {"Features that zerolab does not have", feature_keys()}};
}

const KnownKey* find_key(std::string_view path) {
  for (const KeyGroup& group : key_groups()) {
    for (const KnownKey& key : group.keys) {
      if (key.path == path) return &key;
    }
  }
  return nullptr;
}

std::vector<std::string> names_in(std::string_view block) {
  std::vector<std::string> names;
  for (const KeyGroup& group : key_groups()) {
    for (const KnownKey& key : group.keys) {
      if (key.block() == block) names.emplace_back(key.name());
    }
  }
  return names;
}

std::vector<std::string> listed(std::string_view choices) {
  std::vector<std::string> list;
  while (!choices.empty()) {
    const std::size_t bar = choices.find('|');
    list.emplace_back(choices.substr(0, bar));
    choices = bar == std::string_view::npos ? std::string_view() : choices.substr(bar + 1);
  }
  return list;
}

}  // namespace zerolab
