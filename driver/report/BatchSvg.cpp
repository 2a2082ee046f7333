// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/BatchGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdio>

namespace dbc::driver {

namespace {

/// Pixels: around inputs and the drawing, above an input for its title, and across at most.
constexpr double kMargin = 16, kTitle = 18, kPage = 680;

/// By itself a drawing has a background; in a page report.html takes it away.
constexpr llvm::StringLiteral kStyle = R"(.batch { background: #ffffff; }
.batch text { font: 11px system-ui, sans-serif; fill: #1d2026; }
.batch .edge { stroke: #8b929e; stroke-width: 1.2; }
.batch .node text { text-anchor: middle; font-size: 10px; pointer-events: none; }
.batch .node text.light { fill: #ffffff; }
.batch .node text.dark { fill: #14161a; }
.batch .argument circle { stroke: #c2410c; stroke-width: 2.5; }
@media screen and (prefers-color-scheme: dark) {
  .batch { background: #16181c; }
  .batch text { fill: #e4e6ea; }
  .batch .edge { stroke: #777e8a; }
  .batch .argument circle { stroke: #fb923c; }
}
)";

/// Puts a text into XML.
struct InXml {
  llvm::StringRef text;
};
llvm::raw_ostream &operator<<(llvm::raw_ostream &out, InXml xml) {
  llvm::printHTMLEscaped(xml.text, out);
  return out;
}

/// From dark blue by green to yellow, which is told apart without seeing red or green.
std::string colourOf(int32_t level, int32_t levels) {
  constexpr int kStops[5][3] = {{68, 62, 140}, {49, 104, 142}, {33, 145, 140}, {94, 201, 98}, {249, 217, 50}};
  if (level < 0)
    return "#9aa0a8";
  const double at = levels > 1 ? 4.0 * level / (levels - 1) : 1;
  const int stop = std::min(3, static_cast<int>(at));
  char text[8];
  int mixed[3];
  for (int i = 0; i < 3; ++i)
    mixed[i] =
        static_cast<int>(kStops[stop][i] + (kStops[stop + 1][i] - kStops[stop][i]) * (at - stop) + 0.5);
  std::snprintf(text, sizeof text, "#%02x%02x%02x", mixed[0], mixed[1], mixed[2]);
  return text;
}

/// One input, its upper left corner at x, y.
void printInput(llvm::raw_ostream &out, const ModelInfo &info, const InputGraph &input, int32_t levels,
                double x, double y) {
  auto at = [](double value) { return llvm::format("%.1f", value); };
  out << "<g transform=\"translate(" << at(x) << " " << at(y) << ")\">\n<text x=\"0\" y=\"11\">input "
      << input.number << (input.nodes.empty() ? ", no nodes" : "") << "</text>\n<g transform=\"translate("
      << at(kNodeRadius + 2) << " " << at(kTitle + kNodeRadius + 2) << ")\">\n";
  for (const InputGraph::Edge &edge : input.edges) {
    const InputGraph::Node &from = input.nodes[edge.from], &to = input.nodes[edge.to];
    out << "<line class=\"edge\" x1=\"" << at(from.x) << "\" y1=\"" << at(from.y) << "\" x2=\"" << at(to.x)
        << "\" y2=\"" << at(to.y) << "\"><title>" << InXml{from.name} << "." << InXml{edge.field} << " is "
        << InXml{to.name} << "</title></line>\n";
  }
  for (const auto &[number, node] : llvm::enumerate(input.nodes)) {
    const bool argument = llvm::is_contained(input.arguments, static_cast<int32_t>(number));
    const std::string &constructor = info.datas[node.data].constructors[node.constructor].name;
    const bool bright = node.level >= 0 && levels > 1 && node.level * 5 > levels * 3;
    out << "<g class=\"node" << (argument ? " argument" : "") << "\"><title>" << InXml{node.name}
        << (node.level < 0 ? ", leads into a cycle" : ", level " + std::to_string(node.level))
        << (argument ? ", an argument" : "") << "</title><circle cx=\"" << at(node.x) << "\" cy=\""
        << at(node.y) << "\" r=\"" << at(kNodeRadius) << "\" fill=\"" << colourOf(node.level, levels)
        << "\"/><text class=\"" << (bright ? "dark" : "light") << "\" x=\"" << at(node.x) << "\" y=\""
        << at(node.y + 3.5) << "\">" << InXml{constructor.substr(0, 1)} << "</text></g>\n";
  }
  out << "</g>\n</g>\n";
}

/// What colours are which levels; of many some.
void printKey(llvm::raw_ostream &out, int32_t levels, bool cyclic) {
  const int32_t shown = std::min(levels, 10);
  int32_t x = 0;
  auto one = [&](int32_t level, const std::string &words) {
    out << "<circle cx=\"" << x + 6 << "\" cy=\"6\" r=\"6\" fill=\"" << colourOf(level, levels)
        << "\"/><text x=\"" << x + 16 << "\" y=\"10\">" << words << "</text>\n";
    x += 24 + 7 * static_cast<int32_t>(words.size());
  };
  for (int32_t i = 0; i < shown; ++i) {
    const int32_t level = shown > 1 ? static_cast<int32_t>(int64_t(levels - 1) * i / (shown - 1)) : 0;
    one(level, (i == 0 ? "level " : "") + std::to_string(level));
  }
  if (cyclic)
    one(-1, "leads into a cycle");
}

} // namespace

std::string drawSvg(const ModelInfo &info, const std::vector<InputGraph> &inputs, const std::string &words) {
  int32_t levels = 1;
  bool cyclic = false;
  for (const InputGraph &input : inputs)
    for (const InputGraph::Node &node : input.nodes) {
      levels = std::max(levels, node.level + 1);
      cyclic |= node.level < 0;
    }
  std::string drawn;
  llvm::raw_string_ostream out(drawn);
  double x = 0, y = 24, rowHeight = 0, width = 560;
  for (const InputGraph &input : inputs) {
    const double across = std::max(input.width + 2 * kNodeRadius + 4, input.nodes.empty() ? 120.0 : 60.0);
    if (x > 0 && x + across > kPage) {
      x = 0;
      y += rowHeight + kMargin;
      rowHeight = 0;
    }
    printInput(out, info, input, levels, x, y);
    width = std::max(width, x + across);
    rowHeight = std::max(rowHeight, input.height + kTitle + 2 * kNodeRadius + 4);
    x += across + kMargin;
  }
  const auto fullWidth = static_cast<int64_t>(width + 2 * kMargin),
             fullHeight = static_cast<int64_t>(y + rowHeight + 2 * kMargin);
  std::string text;
  llvm::raw_string_ostream all(text);
  all << "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"batch\" width=\"" << fullWidth << "\" height=\""
      << fullHeight << "\" viewBox=\"0 0 " << fullWidth << " " << fullHeight
      << "\" role=\"img\">\n<title>The structure of a batch of " << InXml{info.name} << "</title>\n<desc>"
      << InXml{words} << "</desc>\n<style>\n"
      << kStyle << "</style>\n<g transform=\"translate(" << int(kMargin) << " " << int(kMargin) << ")\">\n";
  printKey(all, levels, cyclic);
  all << drawn << "</g>\n</svg>\n";
  return text;
}

} // namespace dbc::driver
