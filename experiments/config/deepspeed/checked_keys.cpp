#include "experiments/config/deepspeed/checked_keys.h"

#include <algorithm>

#include "experiments/config/deepspeed/json_kinds.h"
#include "experiments/config/deepspeed/known_keys.h"
#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/core/nearest.h"

namespace zerolab {
namespace {

using Json = nlohmann::ordered_json;

/// Hugging Face's trainer writes "auto" for what it fills in itself.
bool absent(const Json& value) { return value.is_null() || value == "auto"; }

class Walk {
 public:
  Walk(Overlay& overlay, std::span<const std::string_view> understood)
      : overlay_(overlay), understood_(understood) {}

  /// The block without keys that are absent. `on`: its switch, and that of the blocks around it;
  /// `type`: that of the block it is in.
  Json block(const Json& json, const std::string& path, bool on, const std::string& outer_type) {
    on = on && switched_on(json, path);
    Json kept = Json::object();
    // Which keys are right depends on the type.
    if (json.contains("type")) keep("type", json["type"], path, on, "", kept);
    const std::string type = kept.contains("type") ? kept["type"].get<std::string>() : outer_type;
    for (const auto& [name, value] : json.items()) {
      if (name != "type") keep(name, value, path, on, type, kept);
    }
    return kept;
  }

 private:
  void keep(const std::string& name, const Json& value, const std::string& path, bool on,
            const std::string& type, Json& kept) {
    const KnownKey& key = known(path.empty() ? name : fmt::format("{}.{}", path, name), path);
    if (absent(value)) return;
    require_kind(key, value);
    require_taker(key, type);
    if (key.kind == JsonKind::kBlock) {
      kept[name] = block(value, std::string(key.path), on, type);
      return;
    }
    kept[name] = key.choices.empty() ? value : Json(choice(key, value.get<std::string>()));
    if (on) treat(key, value);
  }

  /// A block with a key "enabled" does nothing unless that is true.
  static bool switched_on(const Json& json, const std::string& path) {
    if (path.empty() || find_key(path + ".enabled") == nullptr) return true;
    const auto found = json.find("enabled");
    return found != json.end() && *found == true;
  }

  const KnownKey& known(const std::string& path, const std::string& block) const {
    if (const KnownKey* key = find_key(path)) return *key;
    const std::string name = path.substr(block.empty() ? 0 : block.size() + 1);
    bad_input("[config] {} has an unknown key '{}'{}; did you mean '{}'?", overlay_.file(), name,
              block.empty() ? "" : fmt::format(" in {}", block), nearest(name, names_in(block)));
  }

  void require_kind(const KnownKey& key, const Json& value) const {
    if (has_kind(value, key.kind)) return;
    bad_input("[config] {}: {} is {}; give {}", overlay_.file(), key.path, described(value),
              expected(key.kind));
  }

  /// PyTorch's constructors take no keys but their own.
  void require_taker(const KnownKey& key, const std::string& type) const {
    if (key.types.empty() || type.empty()) return;
    const std::vector<std::string> types = listed(key.types);
    if (std::ranges::find(types, type) != types.end()) return;
    bad_input("[config] {}: {} is no key of {}, but of {}; take it out", overlay_.file(), key.path,
              type, joined(types));
  }

  /// The choice as the table spells it.
  std::string choice(const KnownKey& key, const std::string& text) const {
    const std::vector<std::string> choices = listed(key.choices);
    if (const std::string known = same_but_for_case(text, choices); !known.empty()) return known;
    if (!same_but_for_case(text, listed(key.missing)).empty()) {
      bad_input("[config] {}: {} is \"{}\", which is not implemented; choose from {}",
                overlay_.file(), key.path, text, joined(choices));
    }
    bad_input("[config] {}: {} is \"{}\"; did you mean \"{}\"? (known: {})", overlay_.file(),
              key.path, text, nearest(text, choices), joined(choices));
  }

  void treat(const KnownKey& key, const Json& value) {
    if (key.treatment != Treatment::kNoted && key.treatment != Treatment::kRefused) return;
    if (!asks_for_something(key, value)) return;
    if (std::ranges::find(understood_, key.path) != understood_.end()) return;
    if (key.treatment == Treatment::kRefused) {
      bad_input("[config] {}: {} is {}, but {}; take the key out, or turn it off", overlay_.file(),
                key.path, described(value), key.remark);
    }
    overlay_.say(fmt::format("{} of {} was not used: {}", key.path, overlay_.file(), key.remark));
  }

  Overlay& overlay_;
  std::span<const std::string_view> understood_;
};

}  // namespace

CheckedKeys::CheckedKeys(nlohmann::ordered_json json, Overlay& overlay,
                         std::span<const std::string_view> understood)
    : json_(Walk(overlay, understood).block(json, "", true, "")), file_(overlay.file()) {}

const Json* CheckedKeys::find(std::string_view path) const {
  const Json* at = &json_;
  while (true) {
    const std::size_t dot = path.find('.');
    const auto found = at->find(path.substr(0, dot));
    if (found == at->end()) return nullptr;
    at = &*found;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
}

Json CheckedKeys::given_or_standard(std::string_view path) const {
  if (const Json* value = find(path)) return *value;
  const KnownKey* key = find_key(path);
  require(key != nullptr && !key->standard.empty(), "[config] {} has no default", path);
  return Json::parse(key->standard);
}

void CheckedKeys::reject(std::string_view path, std::string_view what_to_do) const {
  const Json* value = find(path);
  bad_input("[config] {}: {} is {}; {}", file_, path, value ? described(*value) : "absent",
            what_to_do);
}

}  // namespace zerolab
