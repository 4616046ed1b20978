#include "harness/report/svg.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace assay {

namespace {

// Bytes of the well-formed UTF-8 sequence at the front (RFC 3629); 0: there is none.
std::size_t sequence_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xc2 ? 0
                           : first < 0xe0 ? 2
                           : first < 0xf0 ? 3
                           : first < 0xf5 ? 4
                                          : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (size < 3) return size;
  const std::uint8_t second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || outside ? 0 : size;
}

} // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = sequence_at(text);
    const char c = text.front();
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    if (size == 0 || control || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (size > 1) {
      out += text.substr(0, size);
    } else {
      switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
      }
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

namespace {

std::string closed(std::string_view element, std::string_view tip) {
  return tip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escape_html(tip), element);
}

} // namespace

void Drawing::rectangle(double x, double y, double width, double height, std::string_view style,
                        std::string_view tip) {
  body_ += fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" class="{}")", x, y,
                       width, height, escape_html(style)) +
           closed("rect", tip);
}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view style) {
  body_ += fmt::format(R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" class="{}"/>)", x1, y1, x2,
                       y2, escape_html(style)) +
           "\n";
}

void Drawing::dot(double x, double y, double radius, std::string_view style, std::string_view tip) {
  body_ += fmt::format(R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.2f}" class="{}")", x, y, radius,
                       escape_html(style)) +
           closed("circle", tip);
}

void Drawing::text(double x, double y, std::string_view text, Anchor anchor) {
  const char* name = anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
  body_ += fmt::format(R"(<text x="{:.2f}" y="{:.2f}" text-anchor="{}">{}</text>)", x, y, name,
                       escape_html(text)) +
           "\n";
}

std::string Drawing::svg(std::string_view label) const {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", width_,
                     height_, escape_html(label), body_);
}

} // namespace assay
