/// \file
/// A configuration whose every key is known and has a value of the right kind.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "experiments/config/deepspeed/overlay.h"

namespace zerolab {

/// Reads honoured keys. An absent key and the value "auto" are the same.
class CheckedKeys {
 public:
  /// Looks at every key of `json`, as `read_config_file` gives it. What is noted is said to
  /// `overlay`. Paths that are `understood` are not refused, whatever the table says. \throws
  /// BadInput for an unknown key, naming the nearest known one; for a value of another kind; for
  /// what is refused and on.
  CheckedKeys(nlohmann::ordered_json json, Overlay& overlay,
              std::span<const std::string_view> understood = {});

  /// Whether there is such a block or value: "optimizer.params".
  bool has(std::string_view path) const { return find(path) != nullptr; }
  /// The value; nothing when it is absent. Kinds have been checked: ask for the table's.
  template <class T>
  std::optional<T> given(std::string_view path) const {
    const nlohmann::ordered_json* value = find(path);
    return value ? std::optional(value->get<T>()) : std::nullopt;
  }
  /// The value, or DeepSpeed's default.
  template <class T>
  T get(std::string_view path) const {
    return given_or_standard(path).get<T>();
  }

  /// \throws BadInput "[config] FILE: PATH is VALUE; …".
  [[noreturn]] void reject(std::string_view path, std::string_view what_to_do) const;

 private:
  const nlohmann::ordered_json* find(std::string_view path) const;
  nlohmann::ordered_json given_or_standard(std::string_view path) const;

  nlohmann::ordered_json json_;
  std::string file_;
};

}  // namespace zerolab
