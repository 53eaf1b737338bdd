#include "experiments/config/parameter_groups.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "stages/core/error.h"
#include "stages/core/nearest.h"

namespace zerolab {
namespace {

constexpr const char* kForm = "PATTERN:lr=X,decay=Y, as in '*.bias:lr=2,decay=0'";

float number(const std::string& group, const std::string& text) {
  float value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !(value >= 0) || !std::isfinite(value)) {
    bad_input("[options] --param-group {} has '{}' where a number of at least 0 belongs; write {}",
              group, text, kForm);
  }
  return value;
}

/// The entry of a tensor in group `i`.
int group_number(std::size_t i, bool decays) {
  return kFirstOwnGroup + 2 * static_cast<int>(i) + (decays ? 1 : 0);
}

}  // namespace

ParameterGroup parse_parameter_group(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string::npos || colon + 1 == text.size()) {
    bad_input("[options] --param-group is '{}'; write {}", text, kForm);
  }
  ParameterGroup group;
  group.pattern = text.substr(0, colon);
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string setting = text.substr(begin, end - begin);
    begin = end + 1;
    if (setting.starts_with("lr=")) {
      group.rate = number(text, setting.substr(3));
    } else if (setting.starts_with("decay=")) {
      group.decay = number(text, setting.substr(6));
    } else {
      bad_input("[options] --param-group {} sets '{}'; a group sets lr= or decay=, write {}", text,
                setting, kForm);
    }
  }
  return group;
}

std::vector<GroupRule> group_rules(const std::vector<std::string>& groups, float weight_decay) {
  std::vector<GroupRule> rules;
  for (const std::string& text : groups) {
    const ParameterGroup group = parse_parameter_group(text);
    for (const float usual : {0.0F, weight_decay}) {
      rules.push_back({group.rate, group.decay.value_or(usual)});
    }
  }
  return rules;
}

namespace {

/// \throws BadInput when no name matches.
std::vector<int> matching(const char* option, const std::string& text, const std::string& pattern,
                          const ParameterLayout& layout) {
  std::vector<std::string> names;
  std::vector<int> tensors;
  for (const TensorSpec& tensor : layout.tensors()) {
    if (fnmatch(pattern.c_str(), tensor.name.c_str(), 0) == 0) {
      tensors.push_back(static_cast<int>(names.size()));
    }
    names.push_back(tensor.name);
  }
  if (tensors.empty()) {
    bad_input(
        "[options] {} {}: no tensor matches '{}'; the nearest name is '{}', and * stands for any "
        "characters",
        option, text, pattern, nearest(pattern, names));
  }
  return tensors;
}

}  // namespace

ParameterLayout grouped(ParameterLayout layout, const std::vector<std::string>& groups) {
  std::vector<bool> taken(layout.tensors().size(), false);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string pattern = parse_parameter_group(groups[i]).pattern;
    for (const int tensor : matching("--param-group", groups[i], pattern, layout)) {
      if (taken[static_cast<std::size_t>(tensor)]) continue;
      taken[static_cast<std::size_t>(tensor)] = true;
      layout.set_group(tensor, group_number(i, layout.tensor(tensor).decay));
    }
  }
  return layout;
}

void require_groups_that_train(const ParameterLayout& layout,
                               const std::vector<std::string>& groups) {
  for (const std::string& group : groups) {
    const std::vector<int> tensors =
        matching("--param-group", group, parse_parameter_group(group).pattern, layout);
    const bool trains =
        std::ranges::any_of(tensors, [&](int tensor) { return !layout.tensor(tensor).frozen; });
    if (!trains) {
      bad_input(
          "[options] --param-group {}: --freeze takes all its tensors out of training; leave "
          "the group out",
          group);
    }
  }
}

std::vector<int> frozen_tensors(const ParameterLayout& layout,
                                const std::vector<std::string>& patterns) {
  std::set<int> frozen;
  for (const std::string& pattern : patterns) {
    for (const int tensor : matching("--freeze", pattern, pattern, layout)) frozen.insert(tensor);
  }
  if (frozen.size() == layout.tensors().size()) {
    bad_input("[options] --freeze leaves nothing to train; freeze fewer tensors");
  }
  return {frozen.begin(), frozen.end()};
}

}  // namespace zerolab
