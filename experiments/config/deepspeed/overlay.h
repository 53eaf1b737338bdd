/// \file
/// Setting options from a file where the command line has not set them.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zerolab {

/// Whether the command line has set an option: "--lr".
using GivenOptions = std::function<bool(const std::string& option)>;

/// Writes a file's values over defaults, never over what was typed, and keeps a sentence about each
/// value that had to give way.
class Overlay {
 public:
  Overlay(std::string file, GivenOptions given)
      : file_(std::move(file)), given_(std::move(given)) {}

  const std::string& file() const { return file_; }
  bool given(const std::string& option) const { return given_(option); }
  void say(std::string notice) { notices_.push_back(std::move(notice)); }
  std::vector<std::string> take_notices() { return std::move(notices_); }

  /// `field` becomes `value`, which the file has under `key`, unless `option` was typed. `show`
  /// makes texts of both values.
  template <class T, class Show>
  void set(const std::string& option, T& field, const T& value, std::string_view key, Show show) {
    if (!given_(option)) {
      field = value;
    } else if (!(field == value)) {
      say(fmt::format("{} {} of the command line was used, not the {} that {} of {} asks for",
                      option, show(field), show(value), key, file_));
    }
  }
  template <class T>
  void set(const std::string& option, T& field, const T& value, std::string_view key) {
    set(option, field, value, key, [](const T& v) { return fmt::format("{}", v); });
  }

 private:
  std::string file_;
  GivenOptions given_;
  std::vector<std::string> notices_;
};

}  // namespace zerolab
