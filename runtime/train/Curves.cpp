// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Curves.h"
#include "Digits.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace dbc::train {

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
  void draw(std::string &out) const {
    out += std::string("<polyline fill=\"none\" stroke=\"") + colour + "\" stroke-width=\"2\" points=\"";
    for (const LogRow &row : rows)
      if (std::isfinite(row.*value))
        out += fixed(x(row), 1) + "," + fixed(y(row.*value), 1) + " ";
    out += "\"/>\n";
    for (int i = 0; i <= 4; ++i) {
      const double at = low + (high - low) * i / 4;
      out += "<text x=\"" + fixed(right ? kWidth - kRight + 8 : kLeft - 8, 2) + "\" y=\"" +
             fixed(y(at) + 4, 1) + "\" text-anchor=\"" + (right ? "start" : "end") + "\" fill=\"" + colour +
             "\">" + general(at, 4) + "</text>\n";
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

std::string draw_curves(const std::vector<LogRow> &rows, const std::string &title, const std::string &metric,
                        int64_t best_epoch) {
  const auto attribute = [](const char *name, double number) {
    return std::string(" ") + name + "=\"" + fixed(number, 2) + "\"";
  };
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", kWidth) +
                    attribute("height", kHeight) + " font-family=\"sans-serif\" font-size=\"12\">\n" +
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text" + attribute("x", kLeft) +
                    " y=\"22\" font-size=\"14\">" + escaped(title) + "</text>\n<rect" +
                    attribute("x", kLeft) + attribute("y", kTop) +
                    attribute("width", kWidth - kLeft - kRight) +
                    attribute("height", kHeight - kTop - kBottom) + " fill=\"none\" stroke=\"#ccc\"/>\n";
  if (!rows.empty()) {
    const Curve loss(rows, &LogRow::loss, /*right=*/false, "#b03060"),
        of(rows, &LogRow::metric, /*right=*/true, "#2060b0");
    loss.draw(out);
    of.draw(out);
    for (const LogRow &row : rows)
      if (row.epoch == best_epoch && std::isfinite(row.metric))
        out += "<circle cx=\"" + fixed(of.x(row), 1) + "\" cy=\"" + fixed(of.y(row.metric), 1) +
               "\" r=\"4\" fill=\"" + of.colour + "\"/>\n";
    const auto text = [&](double x, double y, const std::string &rest) {
      out += "<text" + attribute("x", x) + attribute("y", y) + rest + "</text>\n";
    };
    const double below = kHeight - kBottom + 18, last = kHeight - 12;
    text(kLeft, below, ">epoch " + std::to_string(rows.front().epoch));
    text(kWidth - kRight, below, " text-anchor=\"end\">epoch " + std::to_string(rows.back().epoch));
    text(kLeft, last, std::string(" fill=\"") + loss.colour + "\">loss");
    text(kWidth - kRight, last,
         std::string(" text-anchor=\"end\" fill=\"") + of.colour + "\">" + escaped(metric) +
             ", best in epoch " + std::to_string(best_epoch));
  }
  return out + "</svg>\n";
}

} // namespace dbc::train
