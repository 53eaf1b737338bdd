/// \file
/// How numbers are written for people: bytes, counts, losses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zerolab {

/// "12,345,678"
std::string grouped(std::int64_t value);

/// Decimal units with three or four digits, as in the papers' tables: "812 B", "12.8 kB",
/// "3.40 MB", "1.20 GB".
std::string bytes_text(std::int64_t bytes);

/// Four decimals, "nan", "inf".
std::string loss_text(double value);

/// "1 rank", "2 ranks"
std::string counted(std::int64_t count, std::string_view noun);

/// "gathered_parameters" → "gathered parameters"
std::string spoken(std::string_view name);

}  // namespace zerolab
