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

namespace {
std::string cell(const char* tag, const char* attributes, const Cell& content) {
  const std::string css =
      content.css_class.empty() ? "" : fmt::format(" class=\"{}\"", content.css_class);
  return fmt::format("<{0}{1}{2}>{3}</{0}>", tag, attributes, css, content.html);
}
}  // namespace

Cell number(std::string text) { return {std::move(text), "number"}; }

HtmlTable::HtmlTable(std::string caption, std::vector<Cell> header)
    : caption_(std::move(caption)), header_(std::move(header)) {}

void HtmlTable::row(std::vector<Cell> cells, std::string_view css_class) {
  rows_ += css_class.empty() ? std::string("<tr>") : fmt::format("<tr class=\"{}\">", css_class);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    rows_ += i == 0 ? cell("th", " scope=\"row\"", cells[i]) : cell("td", "", cells[i]);
  }
  rows_ += "</tr>\n";
}

std::string HtmlTable::html() const {
  std::string html = "<div class=\"scroll\" tabindex=\"0\"><table>\n";
  if (!caption_.empty()) html += fmt::format("<caption>{}</caption>\n", caption_);
  html += "<thead><tr>";
  for (const Cell& name : header_) html += cell("th", " scope=\"col\"", name);
  return html + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody></table></div>\n";
}

}  // namespace zerolab
