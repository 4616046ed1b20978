// Small drawings for a page: rectangles, lines, dots and texts in a box of fixed size that scales with the
// page. Everything given as text is escaped.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// For element content and for attributes in double quotes: markup characters become entities, control
// characters and what is not UTF-8 become visible.
std::string escape_html(std::string_view text);

class Drawing {
 public:
  Drawing(double width, double height) : width_(width), height_(height) {}

  // `style`: a class of the page's style sheet. `tip`: shown where the pointer rests; may be empty.
  void rectangle(double x, double y, double width, double height, std::string_view style,
                 std::string_view tip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void dot(double x, double y, double radius, std::string_view style, std::string_view tip = {});
  enum class Anchor : unsigned char { start, middle, end };
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::start);

  // The <svg> element. `label`: what it shows, for those who cannot see it.
  std::string svg(std::string_view label) const;

 private:
  double width_, height_;
  std::string body_;
};

} // namespace assay
