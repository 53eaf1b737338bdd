/// \file
/// Reading JSON that somebody else may have written: every miss is one sentence with file and key.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerolab {

using Json = nlohmann::ordered_json;

/// One JSON value and the way to it. `file` begins the messages: "runs/003/report.json", or with a
/// line, "runs/003/zero1/steps.jsonl:17".
class JsonField {
 public:
  JsonField(const Json& value, std::string file, std::string key = "")
      : value_(&value), file_(std::move(file)), key_(std::move(key)) {}

  /// The member `name`. \throws BadInput when this is no object or lacks it, naming the nearest.
  JsonField operator[](std::string_view name) const;
  /// Element `index` of an array. \throws BadInput
  JsonField operator[](std::size_t index) const;
  bool has(std::string_view name) const;
  bool is_null() const;

  /// Elements of an array. \throws BadInput for anything else.
  std::size_t size() const;
  /// Member names of an object, in the order of the file. \throws BadInput for anything else.
  std::vector<std::string> names() const;

  /// \throws BadInput when the value is of another kind or does not fit.
  std::string text() const;
  bool boolean() const;
  std::int64_t integer() const;
  std::int64_t count() const;  ///< an integer ≥ 0
  std::uint64_t unsigned_integer() const;
  /// A number that may be null when the object's "nonfinite" says which one it was.
  /// `parent` is the object that holds it, `name` its key there ("loss" or "loss/3").
  double number(const JsonField& parent, const std::string& name) const;
  double number() const;

  /// \throws BadInput: "[report] FILE: 'KEY' is TEXT, expected …; …"
  [[noreturn]] void reject(std::string_view expected) const;

  const Json& value() const { return *value_; }
  const std::string& file() const { return file_; }
  const std::string& key() const { return key_; }

 private:
  const Json* value_;
  std::string file_;
  std::string key_;
};

/// Writes a double into `object[key]`; NaN and infinities, which JSON does not know, become null
/// and are named in `object["nonfinite"]`.
void put_number(Json& object, const std::string& key, double value);
void put_number(Json& object, const std::string& key, const std::optional<double>& value);
void put_numbers(Json& object, const std::string& key, const std::vector<double>& values);

/// The double that is written with the fewest digits among those that round to `value`: 0.9, not
/// 0.8999999761581421.
double shortest(float value);

double get_number(const JsonField& object, const std::string& key);
std::optional<double> get_optional_number(const JsonField& object, const std::string& key);
std::vector<double> get_numbers(const JsonField& object, const std::string& key);

/// Text with bytes that are not UTF-8 replaced, so that a file's odd name cannot spoil a report.
std::string dumped(const Json& value, int indent = -1);

/// A whole file as JSON. \throws BadInput when it is missing, larger than `limit` or not JSON.
Json read_json_file(const std::string& path, std::int64_t limit = std::int64_t{1} << 30);

}  // namespace zerolab
