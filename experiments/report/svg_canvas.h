/// \file
/// Writes the few SVG shapes that the drawings need.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "experiments/report/html.h"

namespace zerolab {

/// Coordinates are pixels of the drawing's own size.
class SvgCanvas {
 public:
  /// A rectangle filled by CSS class, its pattern on top, with a tooltip.
  void box(double x, double y, double width, double height, std::string_view css_class,
           std::string_view pattern, std::string_view tooltip) {
    body_ += fmt::format(
        "<g><title>{}</title><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\" rx=\"2\"/>",
        escaped(tooltip), css_class, x, y, width, height);
    if (!pattern.empty()) {
      body_ += fmt::format(
          "<rect fill=\"url(#pattern-{})\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\" rx=\"2\"/>",
          pattern, x, y, width, height);
    }
    body_ += "</g>\n";
  }
  /// `anchor`: "start", "middle" or "end".
  void text(double x, double y, std::string_view css_class, std::string_view anchor,
            std::string_view words) {
    body_ +=
        fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                    css_class, x, y, anchor, escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view css_class) {
    body_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css_class,
        x1, y1, x2, y2);
  }
  /// An arrow with a head at its end, and one at its start where `both`.
  void arrow(double x, double from_y, double to_y, bool both) {
    line(x, from_y, x, to_y, "arrow");
    head(x, to_y, to_y > from_y);
    if (both) head(x, from_y, from_y > to_y);
  }

  const std::string& body() const { return body_; }

 private:
  void head(double x, double y, bool down) {
    const double back = down ? y - 5 : y + 5;
    body_ += fmt::format(
        "<path class=\"arrow-head\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z\"/>\n", x, y,
        x - 3, back, x + 3, back);
  }

  std::string body_;
};

}  // namespace zerolab
