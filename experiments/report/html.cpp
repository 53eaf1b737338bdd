#include "experiments/report/html.h"

#include <fmt/format.h>

namespace zerolab {

std::string escaped(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        // Control characters have no place in XML.
        safe += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return safe;
}

Cell number(std::string text) { return {std::move(text), "number"}; }

HtmlTable::HtmlTable(std::string caption, std::vector<std::string> header)
    : caption_(std::move(caption)), header_(std::move(header)) {}

void HtmlTable::row(std::vector<Cell> cells, std::string_view css_class) {
  rows_ += css_class.empty() ? std::string("<tr>") : fmt::format("<tr class=\"{}\">", css_class);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const char* tag = i == 0 ? "th scope=\"row\"" : "td";
    const std::string attribute =
        cells[i].css_class.empty() ? "" : fmt::format(" class=\"{}\"", cells[i].css_class);
    rows_ += fmt::format("<{}{}>{}</{}>", tag, attribute, cells[i].html, i == 0 ? "th" : "td");
  }
  rows_ += "</tr>\n";
}

std::string HtmlTable::html() const {
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table>\n";
  if (!caption_.empty()) html += fmt::format("<caption>{}</caption>\n", caption_);
  html += "<thead><tr>";
  for (const std::string& name : header_) html += fmt::format("<th scope=\"col\">{}</th>", name);
  return html + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody></table></div>\n";
}

}  // namespace zerolab
