// Colours and patterns of the drawings, written once for all of a page.
#include <fmt/format.h>

#include "experiments/report/palette.h"
#include "experiments/report/picture.h"

namespace zerolab {

std::string picture_style() {
  std::string css;
  const auto ink = [&](const std::string& name, const Ink& colours) {
    css += fmt::format(
        ".{}{{fill:{};stroke:#0006;stroke-width:.6}}.picture .on-{}{{fill:{};font-size:10px}}\n",
        name, colours.fill, name, colours.text);
  };
  for (int c = 0; c < kCategoryCount; ++c) {
    ink(class_of(static_cast<Category>(c)), ink_of(static_cast<Category>(c)));
  }
  for (int op = 0; op < kCollectiveOpCount; ++op) {
    ink(class_of(static_cast<CollectiveOp>(op)), ink_of(static_cast<CollectiveOp>(op)));
  }
  ink("move-control", {"#cccccc", "#000000", ""});
  return css;
}

std::string picture_patterns() {
  constexpr const char* kShapes[][2] = {{"diagonal", "M-2 2L2 -2M0 8L8 0M6 10L10 6"},
                                        {"back", "M-2 6L2 10M0 0L8 8M6 -2L10 2"},
                                        {"cross", "M0 4H8M4 0V8"},
                                        {"plus", "M2 .6V3.4M.6 2H3.4M6 4.6V7.4M4.6 6H7.4"}};
  std::string svg =
      "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>";
  for (const auto& [name, path] : kShapes) {
    svg += fmt::format(
        "<pattern id=\"pattern-{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
        "<path d=\"{}\" stroke=\"#fff\" stroke-opacity=\".55\" stroke-width=\"1.1\"/></pattern>",
        name, path);
  }
  return svg + "</defs></svg>\n";
}

}  // namespace zerolab
