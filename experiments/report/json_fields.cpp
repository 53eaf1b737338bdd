#include "experiments/report/json_fields.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "stages/core/error.h"
#include "stages/core/input_file.h"
#include "stages/core/nearest.h"

namespace zerolab {
namespace {

constexpr const char* kNonfinite = "nonfinite";

const char* nonfinite_name(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// What the value is, short enough for a sentence.
std::string described(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text = dumped(value);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

std::string element_key(const std::string& key, std::size_t index) {
  return fmt::format("{}/{}", key, index);
}

}  // namespace

void JsonField::reject(std::string_view expected) const {
  bad_input(
      "[report] {}: {} is {}, expected {}; the file was changed or written by another version",
      file_, key_.empty() ? "the value" : fmt::format("'{}'", key_), described(*value_), expected);
}

JsonField JsonField::operator[](std::string_view name) const {
  if (!value_->is_object()) reject("an object");
  const auto found = value_->find(name);
  if (found == value_->end()) {
    const std::string close = nearest(name, names());
    bad_input("[report] {}: {} has no '{}'{}; the file was cut short or written by another version",
              file_, key_.empty() ? "the object" : fmt::format("'{}'", key_), name,
              close.empty() ? "" : fmt::format(" (nearest is '{}')", close));
  }
  return {*found, file_, key_.empty() ? std::string(name) : fmt::format("{}.{}", key_, name)};
}

JsonField JsonField::operator[](std::size_t index) const {
  if (index >= size()) reject(fmt::format("an array of more than {} elements", index));
  return {(*value_)[index], file_, fmt::format("{}[{}]", key_, index)};
}

bool JsonField::has(std::string_view name) const {
  return value_->is_object() && value_->contains(name);
}

bool JsonField::is_null() const { return value_->is_null(); }

std::size_t JsonField::size() const {
  if (!value_->is_array()) reject("an array");
  return value_->size();
}

std::vector<std::string> JsonField::names() const {
  if (!value_->is_object()) reject("an object");
  std::vector<std::string> all;
  for (const auto& item : value_->items()) all.push_back(item.key());
  return all;
}

std::string JsonField::text() const {
  if (!value_->is_string()) reject("a text");
  return value_->get<std::string>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) reject("true or false");
  return value_->get<bool>();
}

std::int64_t JsonField::integer() const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() ||
                     value_->get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
  if (!fits) reject("a whole number");
  return value_->get<std::int64_t>();
}

std::int64_t JsonField::count() const {
  const std::int64_t whole = integer();
  if (whole < 0) reject("a whole number, 0 or larger");
  return whole;
}

std::uint64_t JsonField::unsigned_integer() const {
  if (!value_->is_number_unsigned()) reject("a whole number, 0 or larger");
  return value_->get<std::uint64_t>();
}

double JsonField::number() const {
  if (!value_->is_number()) reject("a number");
  return value_->get<double>();
}

double JsonField::number(const JsonField& parent, const std::string& name) const {
  if (!is_null()) return number();
  if (!parent.has(kNonfinite) || !parent[kNonfinite].has(name)) {
    reject(fmt::format("a number, or null with an entry '{}' in \"nonfinite\"", name));
  }
  const JsonField entry = parent[kNonfinite][name];
  const std::string kind = entry.text();
  if (kind == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (kind == "inf") return std::numeric_limits<double>::infinity();
  if (kind == "-inf") return -std::numeric_limits<double>::infinity();
  entry.reject("\"nan\", \"inf\" or \"-inf\"");
}

void put_number(Json& object, const std::string& key, double value) {
  if (std::isfinite(value)) {
    object[key] = value;
    return;
  }
  object[key] = nullptr;
  object[kNonfinite][key] = nonfinite_name(value);
}

void put_number(Json& object, const std::string& key, const std::optional<double>& value) {
  if (value) return put_number(object, key, *value);
  object[key] = nullptr;
}

void put_numbers(Json& object, const std::string& key, const std::vector<double>& values) {
  Json array = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool finite = std::isfinite(values[i]);
    array.push_back(finite ? Json(values[i]) : Json(nullptr));
    if (!finite) object[kNonfinite][element_key(key, i)] = nonfinite_name(values[i]);
  }
  object[key] = std::move(array);
}

double shortest(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  const double candidate = std::strtod(fmt::format("{}", value).c_str(), nullptr);
  return static_cast<float>(candidate) == value ? candidate : static_cast<double>(value);
}

double get_number(const JsonField& object, const std::string& key) {
  return object[key].number(object, key);
}

std::optional<double> get_optional_number(const JsonField& object, const std::string& key) {
  const JsonField field = object[key];
  const bool nonfinite = object.has(kNonfinite) && object[kNonfinite].has(key);
  if (field.is_null() && !nonfinite) return std::nullopt;
  return field.number(object, key);
}

std::vector<double> get_numbers(const JsonField& object, const std::string& key) {
  const JsonField array = object[key];
  std::vector<double> values(array.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = array[i].number(object, element_key(key, i));
  }
  return values;
}

std::string dumped(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json read_json_file(const std::string& path, std::int64_t limit) {
  const InputFile file(path, "report");
  if (file.size() > limit) {
    bad_input("[report] {} has {} bytes, more than the {} that a report can have", path,
              file.size(), limit);
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(0, text.data(), file.size());
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    bad_input("[report] {} is not JSON from byte {} on; it was cut short or changed by hand", path,
              error.byte);
  } catch (const Json::exception&) {
    bad_input("[report] {} has a number that no computer type holds; it was changed by hand", path);
  }
}

}  // namespace zerolab
