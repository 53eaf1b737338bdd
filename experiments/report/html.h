/// \file
/// Small parts that the HTML page is built from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zerolab {

/// Text that is safe in HTML and XML, in elements and in quoted attributes.
std::string escaped(std::string_view text);

/// One cell. `html` is inserted as it is; escape what comes from outside.
struct Cell {
  std::string html;
  std::string css_class;  ///< "number", "good", …
};

/// A table in a box that scrolls sideways on narrow screens. The first cell of each row heads it.
class HtmlTable {
 public:
  HtmlTable(std::string caption, std::vector<Cell> header);
  void row(std::vector<Cell> cells, std::string_view css_class = "");
  std::string html() const;

 private:
  std::string caption_;
  std::vector<Cell> header_;
  std::string rows_;
};

/// A number column's cell.
Cell number(std::string text);

}  // namespace zerolab
