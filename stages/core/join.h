/// \file
/// Lists in messages. (GCC 12 warns falsely inside fmt::join at -O3.)
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace zerolab {

/// "a, b, c"
template <class T>
std::string joined(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += fmt::format("{}{}", text.empty() ? "" : ", ", item);
  return text;
}

}  // namespace zerolab
