// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "bench/Plot.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <tuple>

namespace dbc::bench {

namespace {

// In units of the drawing.
constexpr double kWidth = 860, kLeft = 16, kHeight = 200, kTitle = 44, kBelow = 34, kLegendLine = 20;

__attribute__((format(printf, 1, 2))) std::string text_of(const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return text;
}

/// Text between tags.
std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

bool is_ours(const std::string &implementation) { return implementation.rfind("dbc", 0) == 0; }

/// Of one of the implementations of a panel. dbc stands out; those by hand and other libraries have colours
/// that differ in grey, too. No two have the same, unless there are more than colours.
const char *colour_of(const std::vector<std::string> &implementations, size_t which) {
  const bool ours = is_ours(implementations[which]);
  const auto number = static_cast<size_t>(
      std::count_if(implementations.begin(), implementations.begin() + static_cast<std::ptrdiff_t>(which),
                    [&](const std::string &before) { return is_ours(before) == ours; }));
  constexpr const char *kOurs[] = {"#4a97e0", "#0b5cad", "#9cc7f2", "#0a2f5c"};
  constexpr const char *kOthers[] = {"#8a8a8a", "#c9a227", "#7a9e59", "#b5651d", "#a88bbd", "#444444"};
  return ours ? kOurs[number % std::size(kOurs)] : kOthers[number % std::size(kOthers)];
}

/// What is drawn in one panel.
struct Panel {
  std::vector<Row> rows;
  std::vector<int32_t> batches;             ///< in the order of the rows
  std::vector<std::string> implementations; ///< likewise; those that are there
};

template <class T> void add_once(std::vector<T> &to, const T &value) {
  if (std::find(to.begin(), to.end(), value) == to.end())
    to.push_back(value);
}

std::vector<Panel> panels_of(const std::vector<Row> &rows) {
  const auto key = [](const Row &row) { return std::tie(row.workload, row.mode, row.hidden, row.threads); };
  std::vector<Panel> panels;
  for (const Row &row : rows) {
    auto at = std::find_if(panels.begin(), panels.end(),
                           [&](const Panel &panel) { return key(panel.rows.front()) == key(row); });
    if (at == panels.end())
      at = panels.insert(at, Panel());
    at->rows.push_back(row);
    add_once(at->batches, row.batch);
    if (row.per_second)
      add_once(at->implementations, row.impl);
  }
  return panels;
}

/// The panel from `top` on, and how high it is.
std::pair<std::string, double> draw(const Panel &panel, double top) {
  const Row &first = panel.rows.front();
  double most = 0;
  for (const Row &row : panel.rows)
    most = std::max(most, row.per_second.value_or(0));
  std::string svg = text_of("<text class=\"title\" x=\"%g\" y=\"%g\">", kLeft, top + 18);
  svg += escaped(first.workload) +
         text_of(", %s, hidden %d, %d thread%s, inputs a second (%s)", first.mode.c_str(), first.hidden,
                 first.threads, first.threads == 1 ? "" : "s", escaped(first.data).c_str()) +
         "</text>\n";

  const double floor = top + kTitle + kHeight;
  const double group = (kWidth - 2 * kLeft) / static_cast<double>(panel.batches.size());
  const double bar = std::min(40.0, group * .92 / std::max<size_t>(1, panel.implementations.size()));
  const auto position = [](const auto &of, const auto &value) {
    return static_cast<size_t>(std::find(of.begin(), of.end(), value) - of.begin());
  };
  for (const Row &row : panel.rows) {
    if (!row.per_second)
      continue;
    const size_t which = position(panel.implementations, row.impl);
    const double left = kLeft + group * static_cast<double>(position(panel.batches, row.batch)),
                 x = left + bar * static_cast<double>(which), height = kHeight * *row.per_second / most;
    svg +=
        text_of("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>", x,
                floor - height, bar - 2, height, colour_of(panel.implementations, which)) +
        escaped(row.impl) +
        text_of(", batch %d: %.0f</title></rect>\n<text class=\"value\" x=\"%.1f\" y=\"%.1f\">%.0f</text>\n",
                row.batch, *row.per_second, x + bar / 2 - 1, floor - height - 4, *row.per_second);
  }
  for (size_t i = 0; i < panel.batches.size(); ++i)
    svg += text_of("<text class=\"batch\" x=\"%.1f\" y=\"%.1f\">batch %d</text>\n",
                   kLeft + group * static_cast<double>(i), floor + 18, panel.batches[i]);

  // The legend goes on below where a line is full.
  double x = kLeft, y = floor + kBelow + 8;
  for (size_t i = 0; i < panel.implementations.size(); ++i) {
    const std::string &name = panel.implementations[i];
    const double width = 30 + 7.5 * static_cast<double>(name.size());
    if (x > kLeft && x + width > kWidth)
      x = kLeft, y += kLegendLine;
    svg += text_of("<rect x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"11\" fill=\"%s\"/>"
                   "<text x=\"%.1f\" y=\"%.1f\">",
                   x, y - 10, colour_of(panel.implementations, i), x + 16, y) +
           escaped(name) + "</text>\n";
    x += width;
  }
  return {svg, y + kLegendLine - top};
}

} // namespace

std::string plot(const std::vector<Row> &rows, const std::string &measured_on) {
  std::string body;
  double top = 8;
  for (const Panel &panel : panels_of(rows)) {
    auto [svg, height] = draw(panel, top);
    body += svg;
    top += height;
  }
  std::string below = measured_on; // a line
  for (size_t at; (at = below.find('\n')) != std::string::npos;)
    below.replace(at, 1, "; ");
  body += text_of("<text class=\"below\" x=\"%g\" y=\"%g\">", kLeft, top + 10) + escaped(below) + "</text>\n";
  return text_of("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" "
                 "font-size=\"13\">\n",
                 kWidth, std::ceil(top + 24)) +
         "<style>.title { font-weight: bold } .value { font-size: 8px; text-anchor: middle } .batch { "
         "font-size: 12px } "
         ".below { font-size: 11px; fill: #666 }</style>\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
         body + "</svg>\n";
}

} // namespace dbc::bench
