/// \file
/// Whether a JSON value is of the kind that a key takes, and what to say when it is not.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/config/deepspeed/known_keys.h"

namespace zerolab {

bool has_kind(const nlohmann::ordered_json& value, JsonKind kind);
/// "true or false", "a whole number of at least 1", …
std::string_view expected(JsonKind kind);
/// The value, short enough for a sentence.
std::string described(const nlohmann::ordered_json& value);

/// The one that is `name` but for upper and lower case; empty when there is none.
std::string same_but_for_case(const std::string& name, const std::vector<std::string>& among);

/// Whether the value asks for what a key that is not honoured would do: something else than
/// `idle`; in an open block, a switch that is on.
bool asks_for_something(const KnownKey& key, const nlohmann::ordered_json& value);

}  // namespace zerolab
