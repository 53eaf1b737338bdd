/// \file
/// Reading a JSON file that a person has written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace zerolab {

/// The object that the file holds. Comments (// and /* */) are skipped, as DeepSpeed's reader does.
/// \throws BadInput with line and byte where it is no JSON or repeats a key, or when it is missing,
/// not an object, or longer than a configuration can be.
nlohmann::ordered_json read_config_file(const std::string& path);

}  // namespace zerolab
