/// \file
/// One list of an object's fields serves both directions: `fields(writer, x)`, `fields(reader, x)`.
/// Heavy; for the report's own sources only.
#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>

#include "experiments/report/json_fields.h"

namespace zerolab {

/// The enumerator that `name_of` calls by the field's text. \throws BadInput listing all names.
template <class E>
E enum_named(const JsonField& field, int count) {
  const std::string name = field.text();
  std::string known;
  for (int i = 0; i < count; ++i) {
    const auto candidate = static_cast<E>(i);
    if (name == name_of(candidate)) return candidate;
    known += fmt::format("{}{}", i == 0 ? "one of " : ", ", name_of(candidate));
  }
  field.reject(known);
}

/// Writes fields into a JSON object.
class FieldWriter {
 public:
  explicit FieldWriter(Json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, const T& value) {
    if constexpr (std::is_same_v<T, float>) {
      put_number(object_, key, shortest(value));
    } else if constexpr (std::is_same_v<T, double>) {
      put_number(object_, key, value);
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      put_number(object_, key, value);
    } else {
      object_[key] = value;
    }
  }
  template <class E>
  void enumerator(const char* key, E value, int /*count*/) {
    object_[key] = name_of(value);
  }

 private:
  Json& object_;
};

/// Reads fields out of a JSON object. \throws BadInput
class FieldReader {
 public:
  explicit FieldReader(JsonField object) : object_(std::move(object)) {}

  void operator()(const char* key, std::string& value) { value = object_[key].text(); }
  void operator()(const char* key, bool& value) { value = object_[key].boolean(); }
  void operator()(const char* key, std::int64_t& value) { value = object_[key].integer(); }
  void operator()(const char* key, std::uint64_t& value) {
    value = object_[key].unsigned_integer();
  }
  void operator()(const char* key, int& value) {
    const std::int64_t whole = object_[key].integer();
    if (whole != static_cast<int>(whole)) object_[key].reject("a whole number of 32 bits");
    value = static_cast<int>(whole);
  }
  void operator()(const char* key, double& value) { value = get_number(object_, key); }
  void operator()(const char* key, float& value) {
    value = static_cast<float>(get_number(object_, key));
  }
  void operator()(const char* key, std::optional<double>& value) {
    value = get_optional_number(object_, key);
  }
  void operator()(const char* key, std::vector<std::string>& value) {
    const JsonField array = object_[key];
    value.clear();
    for (std::size_t i = 0; i < array.size(); ++i) value.push_back(array[i].text());
  }
  void operator()(const char* key, std::vector<std::int64_t>& value) {
    const JsonField array = object_[key];
    value.clear();
    for (std::size_t i = 0; i < array.size(); ++i) value.push_back(array[i].integer());
  }
  template <class E>
  void enumerator(const char* key, E& value, int count) {
    value = enum_named<E>(object_[key], count);
  }

 private:
  JsonField object_;
};

}  // namespace zerolab
