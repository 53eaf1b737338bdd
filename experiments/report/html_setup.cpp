#include "experiments/report/html.h"
#include "experiments/report/html_sections.h"
#include "experiments/report/report_fields.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

/// "adamw" without quotes, lists with commas, an empty text as a dash.
std::string shown(const Json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return text.empty() ? "–" : escaped(text);
  }
  if (value.is_array()) {
    std::string text;
    for (const Json& item : value) text += (text.empty() ? "" : ", ") + shown(item);
    return text.empty() ? "–" : text;
  }
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  return escaped(dumped(value));
}

std::string definitions(const Json& object) {
  std::string html = "<dl class=\"setup\">\n";
  for (const auto& item : object.items()) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(spoken(item.key())),
                        shown(item.value()));
  }
  return html + "</dl>\n";
}

}  // namespace

std::string setup_section(const Comparison& comparison) {
  Json config = Json::object(), environment = Json::object();
  config_fields(FieldWriter(config), comparison.config);
  environment_fields(FieldWriter(environment), comparison.environment);
  return fmt::format("<h3>Configuration</h3>\n{}<h3>Environment</h3>\n{}", definitions(config),
                     definitions(environment));
}

}  // namespace zerolab
