// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/train/Curves.h"
#include "driver/train/Digits.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace dbc::driver {

namespace {

constexpr double kWidth = 640, kHeight = 360, kLeft = 70, kRight = 70, kTop = 40, kBottom = 50;

/// One curve and its axis.
struct Curve {
  Curve(const std::vector<LogRow> &rows, double LogRow::*value, bool right, const char *colour)
      : rows(rows), value(value), right(right), colour(colour) {
    low = std::numeric_limits<double>::infinity(), high = -low;
    for (const LogRow &row : rows)
      if (std::isfinite(row.*value))
        low = std::min(low, row.*value), high = std::max(high, row.*value);
    if (!(low < high)) // one value, or none
      low = std::isfinite(low) ? low - 1 : 0, high = low + 2;
  }
  double x(const LogRow &row) const {
    const double first = static_cast<double>(rows.front().epoch),
                 last = static_cast<double>(rows.back().epoch);
    return kLeft + (kWidth - kLeft - kRight) *
                       (last > first ? (static_cast<double>(row.epoch) - first) / (last - first) : 0.5);
  }
  double y(double of) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * (of - low) / (high - low);
  }
  void draw(llvm::raw_ostream &out) const {
    out << llvm::formatv("<polyline fill=\"none\" stroke=\"{0}\" stroke-width=\"2\" points=\"", colour);
    for (const LogRow &row : rows)
      if (std::isfinite(row.*value))
        out << llvm::formatv("{0:f1},{1:f1} ", x(row), y(row.*value));
    out << "\"/>\n";
    for (int i = 0; i <= 4; ++i) {
      const double at = low + (high - low) * i / 4;
      out << llvm::formatv("<text x=\"{0}\" y=\"{1:f1}\" text-anchor=\"{2}\" fill=\"{3}\">{4}</text>\n",
                           right ? kWidth - kRight + 8 : kLeft - 8, y(at) + 4, right ? "start" : "end",
                           colour, general(at, 4));
    }
  }
  const std::vector<LogRow> &rows;
  double LogRow::*value;
  bool right;
  const char *colour;
  double low, high;
};

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

} // namespace

std::string drawCurves(const std::vector<LogRow> &rows, const std::string &title, const std::string &metric,
                       int64_t bestEpoch) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::formatv(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"14\">{3}</text>\n"
      "<rect x=\"{2}\" y=\"{4}\" width=\"{5}\" height=\"{6}\" fill=\"none\" stroke=\"#ccc\"/>\n",
      kWidth, kHeight, kLeft, escaped(title), kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  if (!rows.empty()) {
    const Curve loss(rows, &LogRow::loss, /*right=*/false, "#b03060"),
        of(rows, &LogRow::metric, /*right=*/true, "#2060b0");
    loss.draw(out);
    of.draw(out);
    for (const LogRow &row : rows)
      if (row.epoch == bestEpoch && std::isfinite(row.metric))
        out << llvm::formatv("<circle cx=\"{0:f1}\" cy=\"{1:f1}\" r=\"4\" fill=\"{2}\"/>\n", of.x(row),
                             of.y(row.metric), of.colour);
    out << llvm::formatv(
        "<text x=\"{0}\" y=\"{1}\">epoch {2}</text>\n"
        "<text x=\"{3}\" y=\"{1}\" text-anchor=\"end\">epoch {4}</text>\n"
        "<text x=\"{0}\" y=\"{5}\" fill=\"{6}\">loss</text>\n"
        "<text x=\"{3}\" y=\"{5}\" text-anchor=\"end\" fill=\"{7}\">{8}, best in epoch {9}</text>\n",
        kLeft, kHeight - kBottom + 18, rows.front().epoch, kWidth - kRight, rows.back().epoch, kHeight - 12,
        loss.colour, of.colour, escaped(metric), bestEpoch);
  }
  out << "</svg>\n";
  return text;
}

} // namespace dbc::driver
