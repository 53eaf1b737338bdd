#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "experiments/report/html.h"
#include "experiments/report/html_sections.h"

namespace zerolab {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string inlined_plot(const std::filesystem::path& directory, const std::string& name,
                         const std::string& description) {
  std::ifstream file(directory / (name + ".svg"), std::ios::binary);
  std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string::npos) return "";
  svg.erase(0, begin);  // the XML declaration and the DTD
  const std::size_t metadata = svg.find("<metadata>");
  const std::size_t metadata_end = svg.find("</metadata>");
  if (metadata != std::string::npos && metadata_end != std::string::npos) {
    svg.erase(metadata, metadata_end + std::string("</metadata>").size() - metadata);
  }
  // Several drawings share this page, so each keeps its names to itself.
  replace_all(svg, "id=\"", "id=\"" + name + "-");
  replace_all(svg, "url(#", "url(#" + name + "-");
  replace_all(svg, "href=\"#", "href=\"#" + name + "-");
  // plots.py draws text and frames, background and grid in these, for the page to choose.
  replace_all(svg, "#1b1b1c", "currentColor");
  replace_all(svg, "#fdfdfe", "var(--paper)");
  replace_all(svg, "#b7b7b8", "var(--rule)");
  svg.insert(4,
             fmt::format(" role=\"img\" aria-label=\"{}\" class=\"plot\"", escaped(description)));
  return fmt::format("<figure><div class=\"scroll\" tabindex=\"0\">{}</div></figure>\n", svg);
}

}  // namespace zerolab
