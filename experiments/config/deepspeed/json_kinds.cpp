#include "experiments/config/deepspeed/json_kinds.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace zerolab {
namespace {

using Json = nlohmann::ordered_json;

/// 5e8 is a floating-point number to the parser and a whole one to whoever wrote it.
bool is_whole(const Json& value, double least) {
  if (!value.is_number()) return false;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= std::numeric_limits<std::int64_t>::max() &&
           static_cast<double>(number) >= least;
  }
  const auto number = value.get<double>();
  return std::floor(number) == number && number >= least && std::abs(number) < 0x1p63;
}

bool is_array_of(const Json& value, bool (Json::*is_kind)() const noexcept) {
  return value.is_array() &&
         std::ranges::all_of(value, [&](const Json& element) { return (element.*is_kind)(); });
}

/// The values of all keys "enabled", however deep.
void collect_switches(const Json& value, std::vector<bool>& switches) {
  if (!value.is_object()) return;
  for (const auto& [name, inner] : value.items()) {
    if (name == "enabled") switches.push_back(inner == true);
    collect_switches(inner, switches);
  }
}

/// A block without a switch is on by being there.
bool is_on(const Json& block) {
  if (const auto found = block.find("enabled"); found != block.end()) return *found == true;
  std::vector<bool> switches;
  collect_switches(block, switches);
  if (switches.empty()) return !block.empty();
  return std::ranges::find(switches, true) != switches.end();
}

}  // namespace

bool has_kind(const Json& value, JsonKind kind) {
  switch (kind) {
    case JsonKind::kBool:
      return value.is_boolean();
    case JsonKind::kCount:
      return is_whole(value, 0);
    case JsonKind::kPositive:
      return is_whole(value, 1);
    case JsonKind::kInteger:
      return is_whole(value, -0x1p63);
    case JsonKind::kNumber:
      return value.is_number();
    case JsonKind::kMagnitude:
      return value.is_number() && value.get<double>() >= 0;
    case JsonKind::kText:
      return value.is_string();
    case JsonKind::kNumbers:
      return is_array_of(value, &Json::is_number);
    case JsonKind::kTexts:
      return is_array_of(value, &Json::is_string);
    case JsonKind::kBlock:
    case JsonKind::kOpenBlock:
      return value.is_object();
  }
  return false;
}

std::string_view expected(JsonKind kind) {
  switch (kind) {
    case JsonKind::kBool:
      return "true or false";
    case JsonKind::kCount:
      return "a whole number of at least 0";
    case JsonKind::kPositive:
      return "a whole number of at least 1";
    case JsonKind::kInteger:
      return "a whole number";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kMagnitude:
      return "a number of at least 0";
    case JsonKind::kText:
      return "a text";
    case JsonKind::kNumbers:
      return "an array of numbers";
    case JsonKind::kTexts:
      return "an array of texts";
    case JsonKind::kBlock:
    case JsonKind::kOpenBlock:
      return "an object";
  }
  return "another value";
}

std::string described(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

std::string same_but_for_case(const std::string& name, const std::vector<std::string>& among) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  const auto found = std::ranges::find_if(
      among, [&](const std::string& known) { return std::ranges::equal(known, name, same); });
  return found == among.end() ? std::string() : *found;
}

bool asks_for_something(const KnownKey& key, const Json& value) {
  if (key.kind == JsonKind::kOpenBlock) return is_on(value);
  return key.idle().empty() || value != Json::parse(key.idle());
}

}  // namespace zerolab
