/// \file
/// Every key of a DeepSpeed JSON configuration, and what becomes of it here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zerolab {

enum class JsonKind : std::uint8_t {
  kBool,
  kCount,      ///< a whole number of at least 0; DeepSpeed's files write 5e8, too
  kPositive,   ///< a whole number of at least 1
  kInteger,    ///< any whole number
  kNumber,     ///< any finite number
  kMagnitude,  ///< a finite number of at least 0
  kText,
  kNumbers,    ///< an array of numbers
  kTexts,      ///< an array of texts
  kBlock,      ///< an object whose keys are all known
  kOpenBlock,  ///< an object of a feature that zerolab lacks; its keys are not looked into
};

enum class Treatment : std::uint8_t {
  kHonoured,  ///< does what it does in DeepSpeed
  kNoted,     ///< changes no result; named to the user, unless it asks for what happens anyway
  kRefused,   ///< cannot be left out silently; an error unless it is off
  kNoEffect,  ///< belongs to something that is off, or makes no difference here; nothing is said
};

/// One row of the table. Texts are empty where they do not apply.
struct KnownKey {
  std::string_view path;  ///< "zero_optimization.stage"
  JsonKind kind;
  std::string_view standard;  ///< DeepSpeed's default, as JSON
  Treatment treatment;
  std::string_view remark;           ///< how it is honoured, or why it is not
  std::string_view other_idle = "";  ///< what `idle()` is where that is not `standard`
  std::string_view choices = "";     ///< of a text: "fp16|bf16|fp32"
  std::string_view missing = "";     ///< choices that DeepSpeed has and zerolab has not
  std::string_view types = "";       ///< the block's types that take the key; empty: all

  // What few rows have.
  constexpr KnownKey idle_at(std::string_view value) const {
    KnownKey key = *this;
    key.other_idle = value;
    return key;
  }
  constexpr KnownKey one_of(std::string_view known, std::string_view known_but_missing = "") const {
    KnownKey key = *this;
    key.choices = known;
    key.missing = known_but_missing;
    return key;
  }
  constexpr KnownKey of(std::string_view types_of_block) const {
    KnownKey key = *this;
    key.types = types_of_block;
    return key;
  }

  /// As JSON, what a noted key may say without a notice and a refused one without an error;
  /// "null": nothing.
  std::string_view idle() const { return other_idle.empty() ? standard : other_idle; }
  /// "stage".
  std::string_view name() const { return path.substr(path.rfind('.') + 1); }
  /// "zero_optimization"; empty at the top.
  std::string_view block() const;
};

// The table by block, for reading; `known_keys` has all of it.
std::span<const KnownKey> batch_keys();
std::span<const KnownKey> training_keys();
std::span<const KnownKey> optimizer_keys();
std::span<const KnownKey> scheduler_keys();
std::span<const KnownKey> precision_keys();
std::span<const KnownKey> zero_keys();
std::span<const KnownKey> offload_keys();
std::span<const KnownKey> observation_keys();
std::span<const KnownKey> feature_keys();

/// A heading of the documentation and its rows.
struct KeyGroup {
  std::string_view title;
  std::span<const KnownKey> keys;
};
std::vector<KeyGroup> key_groups();

/// The row of a path; null when there is none.
const KnownKey* find_key(std::string_view path);
/// The names of a block's keys; of the top level for "".
std::vector<std::string> names_in(std::string_view block);
/// "fp16|bf16" as a list.
std::vector<std::string> listed(std::string_view choices);

}  // namespace zerolab
