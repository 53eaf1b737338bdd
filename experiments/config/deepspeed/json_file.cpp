#include "experiments/config/deepspeed/json_file.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "stages/core/error.h"
#include "stages/core/input_file.h"

namespace zerolab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLongestFile = std::int64_t{1} << 20;

/// Reads a text and tells how far it has been read: the parser says what it has met, but not where.
struct TracedIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** reached = nullptr;

  reference operator*() const { return *at; }
  TracedIterator& operator++() {
    *reached = ++at;
    return *this;
  }
  bool operator==(const TracedIterator& other) const { return at == other.at; }
};

std::string read_text(const std::string& path) {
  const InputFile file(path, "config");
  if (file.size() > kLongestFile) {
    bad_input("[config] {} has {} bytes; a DeepSpeed configuration has at most {}", path,
              file.size(), kLongestFile);
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(0, text.data(), file.size());
  return text;
}

/// "ds.json, line 3 (byte 41)".
std::string place(const std::string& path, const std::string& text, std::size_t byte) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
  return fmt::format("{}, line {} (byte {})", path, 1 + std::count(text.begin(), end, '\n'), byte);
}

}  // namespace

nlohmann::ordered_json read_config_file(const std::string& path) {
  const std::string text = read_text(path);
  const char* reached = text.data();
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto key = parsed.get<std::string>();
      if (!open_objects.back().insert(key).second) {
        bad_input("[config] {} repeats the key '{}'; keep one",
                  place(path, text, static_cast<std::size_t>(reached - text.data())), key);
      }
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(TracedIterator{text.data(), &reached},
                       TracedIterator{text.data() + text.size(), &reached}, watch, true, true);
  } catch (const Json::parse_error& error) {
    bad_input("[config] {} is no JSON from there on; correct it",
              place(path, text, error.byte > 0 ? error.byte : 1));
  } catch (const Json::exception&) {
    bad_input("[config] {} has a number that no computer type holds; correct it",
              place(path, text, static_cast<std::size_t>(reached - text.data())));
  }
  if (!json.is_object()) {
    bad_input("[config] {} holds no JSON object; a DeepSpeed configuration begins with {{", path);
  }
  return json;
}

}  // namespace zerolab
