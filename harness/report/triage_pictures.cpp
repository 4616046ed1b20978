#include "harness/report/triage_pictures.h"

#include "harness/report/svg.h"
#include "harness/report/table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace assay {

namespace {

using Anchor = Drawing::Anchor;
constexpr double width = 360; // a phone's: texts keep their size there

// A value on a logarithmic axis between two powers of ten; what lies outside is drawn at its end.
struct LogAxis {
  double from, to; // in the drawing
  int low, high;   // decimal exponents
  double at(double value) const {
    const double exponent = value > 0 ? std::log10(value) : -std::numeric_limits<double>::infinity();
    const double share = (exponent - low) / (high - low);
    return from + (to - from) * std::clamp(share, 0.0, 1.0);
  }
};

// Powers of ten that enclose the finite positive values; at least one decade, at most 12 from the largest.
LogAxis axis_of(std::span<const double> values, double from, double to) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!(value > 0) || !(value < 1e299)) continue;
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  if (low > high) low = high = 0;
  if (high == low) high = low + 1;
  low = std::max(low, high - 12);
  return {from, to, static_cast<int>(low), static_cast<int>(high)};
}

std::string power(int exponent) {
  return exponent >= -2 && exponent <= 4
             ? fmt::format("{:.{}f}", std::pow(10.0, exponent), std::max(0, -exponent))
             : fmt::format("1e{}", exponent);
}

std::string elements(std::int64_t first, std::int64_t end) {
  return end - first <= 1 ? std::to_string(first) : fmt::format("{}..{}", first, end - 1);
}

std::string level_text(double level) {
  if (std::isinf(level) || std::isnan(level)) return "NaN or infinity out of place";
  return level >= 1e299 ? "off, where nothing may be" : "error / threshold " + short_number(level);
}

std::string dims_text(const ErrorSamplePoint& point) {
  std::string text;
  for (const auto& [name, size] : point.dims)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
  return text;
}

std::string tip_of(const ErrorSamplePoint& point) {
  return fmt::format("{}; {}; {}{}", dims_text(point), point.distribution, level_text(point.ratio),
                     point.failed ? "; fails" : "");
}

double size_of(const ErrorSamplePoint& point) {
  double size = 1;
  for (const auto& [name, dim] : point.dims) size *= static_cast<double>(std::max<std::int64_t>(dim, 1));
  return size;
}

std::vector<double> ratios_of(std::span<const ErrorSamplePoint> samples) {
  std::vector<double> ratios{0.1, 10.0}; // the threshold is always in sight, and not at an edge
  for (const ErrorSamplePoint& point : samples) ratios.push_back(point.ratio);
  return ratios;
}

void label_exponents(Drawing& drawing, const LogAxis& axis, bool across, double other) {
  const int step = std::max(1, (axis.high - axis.low + 5) / 6);
  for (int exponent = axis.low; exponent <= axis.high; exponent += step) {
    const double place = axis.at(std::pow(10.0, exponent));
    if (across)
      drawing.text(place, other + 13, power(exponent), Anchor::middle);
    else
      drawing.text(other - 5, place + 4, power(exponent), Anchor::end);
  }
}

} // namespace

std::string_view level_class(double level) {
  if (!std::isfinite(level) || level >= 1e299) return "l5";
  return level <= 0 ? "l0" : level < 0.25 ? "l1" : level <= 1 ? "l2" : level < 4 ? "l3" : "l4";
}

std::string draw_heat_map(const ErrorMap& map) {
  constexpr double left = 48, top = 6, legend = 62;
  const double across = (width - left - 4) / std::max(map.cells_across, 1);
  const double down = std::clamp(180.0 / std::max(map.cells_down, 1), 6.0, 28.0);
  const double bottom = top + down * map.cells_down;
  Drawing drawing(width, bottom + legend);
  for (int row = 0; row < map.cells_down; ++row) {
    const std::string rows = elements(ErrorMap::begin(row, map.cells_down, map.rows),
                                      ErrorMap::begin(row + 1, map.cells_down, map.rows));
    for (int first = 0; first < map.cells_across;) {
      const auto level_of = [&](int cell) {
        return map.level[static_cast<std::size_t>(row) * static_cast<std::size_t>(map.cells_across) +
                         static_cast<std::size_t>(cell)];
      };
      int end = first + 1;
      double largest = level_of(first);
      for (; end < map.cells_across && level_class(level_of(end)) == level_class(largest); ++end)
        largest = std::max(largest, level_of(end));
      const std::string columns = elements(ErrorMap::begin(first, map.cells_across, map.columns),
                                           ErrorMap::begin(end, map.cells_across, map.columns));
      drawing.rectangle(left + across * first, top + down * row, across * (end - first), down,
                        level_class(largest),
                        fmt::format("{}[{}, {}]: {}", map.tensor, rows, columns, level_text(largest)));
      first = end;
    }
  }
  drawing.text(left - 4, top + 10, "0", Anchor::end);
  if (map.rows > 1 && bottom - top > 22)
    drawing.text(left - 4, bottom, std::to_string(map.rows - 1), Anchor::end);
  drawing.text(left, bottom + 13, "0");
  if (map.columns > 1) drawing.text(width - 4, bottom + 13, std::to_string(map.columns - 1), Anchor::end);
  drawing.text(left + (width - left) / 2, bottom + 13,
               fmt::format("{} [{}]", map.tensor, fmt::join(map.shape, ",")), Anchor::middle);
  constexpr std::pair<std::string_view, const char*> classes[] = {{"l0", "right"},    {"l1", "< 1/4"},
                                                                  {"l2", "up to 1"},  {"l3", "< 4"},
                                                                  {"l4", "4 and up"}, {"l5", "never right"}};
  double x = 4;
  for (const auto& [style, meaning] : classes) {
    drawing.rectangle(x, bottom + 36, 10, 10, style);
    drawing.text(x + 13, bottom + 45, meaning);
    x += 20 + 6.0 * static_cast<double>(std::string_view(meaning).size());
  }
  return drawing.svg("where in " + map.tensor + " the error sits: error / threshold of its elements");
}

std::string draw_histogram(const ErrorHistogram& histogram) {
  constexpr double left = 48, top = 24, bottom = 170;
  Drawing drawing(width, 230);
  const auto bins = static_cast<std::int64_t>(std::max(histogram.target.size(), histogram.reference.size()));
  struct Column {
    std::string label;
    std::int64_t target = 0, reference = 0;
  };
  const auto value = [](const std::vector<std::int64_t>& counts, std::int64_t bin) {
    return bin < std::ssize(counts) ? counts[static_cast<std::size_t>(bin)] : 0;
  };
  std::vector<Column> columns{{"0", histogram.target_exact, histogram.reference_exact}};
  for (std::int64_t bin = 0; bin < bins; ++bin)
    columns.push_back({fmt::format("1e{}", histogram.first + bin), value(histogram.target, bin),
                       value(histogram.reference, bin)});
  columns.push_back({"inf", histogram.target_not_finite, histogram.reference_not_finite});
  std::int64_t most = 1;
  for (const Column& column : columns) most = std::max({most, column.target, column.reference});
  const double column_width = (width - left - 4) / static_cast<double>(columns.size());
  // Logarithmic, so that one wrong element is seen beside thousands of right ones.
  const auto height = [&](std::int64_t count) {
    return count == 0 ? 0.0
                      : (bottom - top) * std::log1p(static_cast<double>(count)) /
                            std::log1p(static_cast<double>(most));
  };
  drawing.line(left, bottom, width - 4, bottom, "axis");
  drawing.text(left - 5, top + 8, std::to_string(most), Anchor::end);
  drawing.text(left - 5, bottom, "0", Anchor::end);
  const std::size_t step = std::max<std::size_t>(1, (columns.size() + 7) / 8);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const double x = left + column_width * static_cast<double>(i), bar = column_width * 0.4;
    const std::string range = i == 0                    ? "no error"
                              : i + 1 == columns.size() ? "not finite"
                                                        : "from " + column.label;
    for (const auto& [count, offset, style, who] :
         {std::tuple{column.target, 0.08, "target", "target"},
          std::tuple{column.reference, 0.52, "reference", "reference"}})
      if (count > 0)
        drawing.rectangle(x + column_width * offset, bottom - height(count), bar, height(count), style,
                          fmt::format("{}: {} elements, {}", who, count, range));
    if (i % step == 0 || i + 1 == columns.size())
      drawing.text(x + column_width / 2, bottom + 14, column.label, Anchor::middle);
  }
  drawing.text(left + (width - left) / 2, bottom + 31, "error / max|golden|, a decade a bar", Anchor::middle);
  drawing.rectangle(left, bottom + 42, 10, 10, "target");
  drawing.text(left + 14, bottom + 51, "target");
  drawing.rectangle(left + 80, bottom + 42, 10, 10, "reference");
  drawing.text(left + 94, bottom + 51, "reference");
  drawing.text(left, top - 10, "elements (logarithmic)");
  return drawing.svg("how many elements of the target and of the reference have an error of each size");
}

std::string draw_error_by_shape(std::span<const ErrorSamplePoint> samples) {
  constexpr double left = 48, top = 24, right = width - 20, bottom = 180;
  Drawing drawing(width, 232);
  std::vector<double> sizes;
  for (const ErrorSamplePoint& point : samples) sizes.push_back(size_of(point));
  const LogAxis x = axis_of(sizes, left + 8, right), y = axis_of(ratios_of(samples), bottom, top + 14);
  drawing.line(left, bottom, right, bottom, "axis");
  drawing.line(left, top, left, bottom, "axis");
  drawing.line(left, y.at(1), right, y.at(1), "limit");
  label_exponents(drawing, x, true, bottom);
  label_exponents(drawing, y, false, left);
  drawing.text(left, top - 10, "error / threshold (dashed: 1)");
  drawing.text((left + right) / 2, bottom + 30, "size of the case: product of its dims", Anchor::middle);
  for (const ErrorSamplePoint& point : samples) {
    const double height = std::isfinite(point.ratio) && point.ratio < 1e299 ? y.at(point.ratio) : top;
    drawing.dot(x.at(size_of(point)), height, 3.5, point.failed ? "fails" : "passes", tip_of(point));
  }
  drawing.dot(left + 6, bottom + 44, 3.5, "fails");
  drawing.text(left + 14, bottom + 48, "fails");
  drawing.dot(left + 66, bottom + 44, 3.5, "passes");
  drawing.text(left + 74, bottom + 48, "passes");
  drawing.text(left + 130, bottom + 48, "top edge: not finite");
  return drawing.svg("error of each sampled case against its size");
}

std::string draw_error_by_distribution(std::span<const ErrorSamplePoint> samples) {
  constexpr double left = 10, top = 8, right = width - 12, line = 34;
  std::map<std::string, std::vector<const ErrorSamplePoint*>> rows;
  for (const ErrorSamplePoint& point : samples) rows[point.distribution].push_back(&point);
  const double bottom = top + line * static_cast<double>(rows.size());
  Drawing drawing(width, bottom + 36);
  const LogAxis x = axis_of(ratios_of(samples), left + 4, right - 14);
  drawing.line(x.at(1), top, x.at(1), bottom, "limit");
  drawing.line(left, bottom, right, bottom, "axis");
  label_exponents(drawing, x, true, bottom);
  drawing.text(right, bottom + 30, "error / threshold", Anchor::end);
  double y = top;
  for (const auto& [distribution, points] : rows) {
    const auto failed = std::ranges::count_if(points, &ErrorSamplePoint::failed);
    std::string label = distribution.size() > 42 ? distribution.substr(0, 40) + ".." : distribution;
    drawing.text(left, y + 12, fmt::format("{} ({} of {} fail)", label, failed, points.size()));
    for (const ErrorSamplePoint* point : points) {
      const bool finite = std::isfinite(point->ratio) && point->ratio < 1e299;
      drawing.dot(finite ? x.at(point->ratio) : right - 2, y + 22, 3.5, point->failed ? "fails" : "passes",
                  tip_of(*point));
    }
    y += line;
  }
  return drawing.svg("error of each sampled case against its distribution");
}

} // namespace assay
