/// \file
/// How --help is laid out.
#pragma once

#include <CLI/Formatter.hpp>
#include <string>

namespace zerolab {

/// "--ranks N    ranks of the world [4]": the value's kind after the name, the default in brackets
/// behind the description.
class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() { column_width(32); }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string value = option->get_default_str();
    return option->get_description() + (value.empty() ? "" : " [" + value + "]");
  }
};

}  // namespace zerolab
