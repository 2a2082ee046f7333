// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/BatchDrawing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace dbc::driver {

namespace {

constexpr int64_t kMostNodes = 300, kMostInputs = 60;
constexpr double kAcross = 26, kRadius = 9, kMargin = 16, kTitle = 18, kPage = 680;
constexpr int32_t kInRow = 30; ///< nodes of an input that has one level

using Node = BatchDrawing::Node;
using Edge = BatchDrawing::Edge;
using Input = BatchDrawing::Input;

/// Reads the nodes of an input, and what refers to them in the columns that an entry reads.
class InputReader {
public:
  InputReader(const ModelInfo &info, const EntryCode &entry, const Batch &batch)
      : info(info), entry(entry), batch(batch) {}

  void read(int32_t number, Input &to) {
    first.clear();
    for (int32_t data = 0; data < batch.args(); ++data) {
      const int32_t begin = batch.begin(data)[number], end = batch.begin(data)[number + 1];
      first.push_back(static_cast<int32_t>(to.nodes.size()) - begin);
      const uint8_t *kinds = batch.kinds(data);
      for (int32_t node = begin; node < end; ++node)
        to.nodes.push_back({data, kinds != nullptr ? kinds[node] : 0, node, 0, 0, 0, ""});
    }
    for (int32_t node = 0; node < static_cast<int32_t>(to.nodes.size()); ++node)
      fields(node, to);
    for (int32_t component : entry.reads_args)
      if (const int32_t column = batch.arg_column(entry.entry, component); column >= 0)
        targets(batch.args(), column, number, [&](int32_t target) { to.arguments.push_back(target); });
  }

private:
  void fields(int32_t node, Input &to) {
    const Node &from = to.nodes[node];
    const ConstructorInfo &constructor = info.datas[from.data].constructors[from.constructor];
    for (const FieldInfo &field : constructor.fields)
      if (llvm::any_of(entry.reads, [&](const ColumnRef &read) {
            return read.table == from.data && read.column == field.column;
          }))
        targets(from.data, field.column, from.number, [&](int32_t target) {
          to.edges.push_back({node, target, field.name});
        });
  }
  /// Calls `each` with the number in its input of each node that a row of a column refers to.
  void targets(int32_t table, int32_t column, int32_t row, llvm::function_ref<void(int32_t)> each) {
    const ColumnInfo &known = batch.column_info(table, column);
    const ColumnView &view = batch.column(table, column);
    if (known.elem != Elem::Node || !view.has(row))
      return;
    std::vector<int32_t> values{row}; // of the row: lists, lists in these, and so on
    for (int32_t depth = 0; depth < known.depth; ++depth) {
      const ColumnView::Lists &lists = view.lists[depth];
      std::vector<int32_t> inner;
      for (int32_t list : values)
        for (int32_t element = lists.begin[list]; element < lists.end[list]; ++element)
          inner.push_back(element);
      values = std::move(inner);
    }
    for (int32_t value : values)
      for (int64_t i = 0; i < known.extent; ++i)
        each(first[known.target] + view.i32[value * known.extent + i]);
  }

  const ModelInfo &info;
  const EntryCode &entry;
  const Batch &batch;
  std::vector<int32_t> first; ///< of each data type: what makes a node's number that in its input
};

/// Levels by Kahn's algorithm from the nodes that refer to none. O(nodes + edges), without a stack.
void findLevels(Input &input) {
  std::vector<std::vector<int32_t>> referring(input.nodes.size());
  std::vector<int32_t> open(input.nodes.size());
  for (const Edge &edge : input.edges) {
    referring[edge.to].push_back(edge.from);
    ++open[edge.from];
  }
  std::vector<int32_t> ready, level(input.nodes.size());
  for (size_t node = 0; node < open.size(); ++node) {
    input.nodes[node].level = -1;
    if (open[node] == 0)
      ready.push_back(static_cast<int32_t>(node));
  }
  for (size_t at = 0; at < ready.size(); ++at) {
    const int32_t node = ready[at];
    input.nodes[node].level = level[node];
    for (int32_t from : referring[node]) {
      level[from] = std::max(level[from], level[node] + 1);
      if (--open[from] == 0)
        ready.push_back(from);
    }
  }
}

/// Leaves the `most` nodes that are nearest to the arguments, and the references between them.
void cut(Input &input, int64_t most) {
  std::vector<std::vector<int32_t>> targets(input.nodes.size());
  for (const Edge &edge : input.edges)
    targets[edge.from].push_back(edge.to);
  std::vector<int32_t> place(input.nodes.size(), -1), order;
  auto reach = [&](int32_t node) {
    if (place[node] >= 0 || static_cast<int64_t>(order.size()) == most)
      return;
    place[node] = static_cast<int32_t>(order.size());
    order.push_back(node);
  };
  llvm::for_each(input.arguments, reach);
  for (size_t at = 0, other = 0; static_cast<int64_t>(order.size()) < most;) {
    if (at < order.size())
      llvm::for_each(targets[order[at++]], reach);
    else
      reach(static_cast<int32_t>(other++));
  }
  Input left;
  left.number = input.number;
  for (int32_t node : order)
    left.nodes.push_back(input.nodes[node]);
  for (const Edge &edge : input.edges)
    if (place[edge.from] >= 0 && place[edge.to] >= 0)
      left.edges.push_back({place[edge.from], place[edge.to], edge.field});
  for (int32_t node : input.arguments)
    if (place[node] >= 0)
      left.arguments.push_back(place[node]);
  input = std::move(left);
}

/// Nodes from left to right, as a walk down from the nodes that no other refers to finds them.
std::vector<double> walked(const Input &input) {
  std::vector<std::vector<int32_t>> targets(input.nodes.size());
  std::vector<bool> referred(input.nodes.size()), seen(input.nodes.size());
  for (const Edge &edge : input.edges) {
    targets[edge.from].push_back(edge.to);
    referred[edge.to] = true;
  }
  std::vector<double> position(input.nodes.size());
  double next = 0;
  for (size_t root = 0; root < input.nodes.size(); ++root) {
    if (referred[root])
      continue;
    for (std::vector<int32_t> stack{static_cast<int32_t>(root)}; !stack.empty();) {
      const int32_t node = stack.back();
      stack.pop_back();
      if (seen[node])
        continue;
      seen[node] = true;
      position[node] = next++;
      for (int32_t target : llvm::reverse(targets[node]))
        stack.push_back(target);
    }
  }
  return position;
}

/// Rows of equal levels, the deepest at the bottom; a node stands above the middle of what it refers to.
void layOutLevels(Input &input, int32_t levels) {
  std::vector<std::vector<int32_t>> rows(levels), targets(input.nodes.size());
  for (const Edge &edge : input.edges)
    targets[edge.from].push_back(edge.to);
  const std::vector<double> position = walked(input);
  for (size_t node = 0; node < input.nodes.size(); ++node)
    rows[input.nodes[node].level].push_back(static_cast<int32_t>(node));
  const double down = std::clamp(900.0 / levels, 2.2 * kRadius, 44.0);
  double most = 0;
  for (int32_t level = 0; level < levels; ++level) {
    std::vector<int32_t> &row = rows[level];
    llvm::sort(row, [&](int32_t a, int32_t b) { return position[a] < position[b]; });
    double free = 0;
    for (int32_t node : row) {
      double wanted = free;
      if (!targets[node].empty()) {
        double sum = 0;
        for (int32_t target : targets[node])
          sum += input.nodes[target].x;
        wanted = std::max(free, sum / double(targets[node].size()));
      }
      input.nodes[node].x = wanted;
      input.nodes[node].y = (levels - 1 - level) * down;
      free = wanted + kAcross;
      most = std::max(most, wanted);
    }
  }
  input.width = most;
  input.height = (levels - 1) * down;
}

void layOut(Input &input) {
  int32_t levels = 0;
  bool cyclic = false;
  for (const Node &node : input.nodes) {
    levels = std::max(levels, node.level + 1);
    cyclic |= node.level < 0;
  }
  const auto count = static_cast<int32_t>(input.nodes.size());
  if (cyclic) {
    const double radius = std::max(kAcross, kAcross * count / 6.28);
    input.width = input.height = 2 * radius;
    for (int32_t i = 0; i < count; ++i) {
      input.nodes[i].x = radius + radius * std::sin(6.2832 * i / count);
      input.nodes[i].y = radius - radius * std::cos(6.2832 * i / count);
    }
  } else if (levels > 1) {
    layOutLevels(input, levels);
  } else {
    for (int32_t i = 0; i < count; ++i) {
      input.nodes[i].x = i % kInRow * kAcross;
      input.nodes[i].y = i / kInRow * kAcross; // NOLINT(bugprone-integer-division): rows
    }
    input.width = std::max(0, std::min(count, kInRow) - 1) * kAcross;
    input.height = std::max(0, (count - 1) / kInRow) * kAcross;
  }
}

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

std::string inXml(llvm::StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
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

std::string counted(int64_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// One input, its upper left corner at x, y.
void print(llvm::raw_ostream &out, const ModelInfo &info, const Input &input, int32_t levels, double x,
           double y) {
  auto at = [](double value) { return llvm::format("%.1f", value); };
  out << "<g transform=\"translate(" << at(x) << " " << at(y) << ")\">\n<text x=\"0\" y=\"11\">input "
      << input.number << (input.nodes.empty() ? ", no nodes" : "") << "</text>\n<g transform=\"translate("
      << at(kRadius + 2) << " " << at(kTitle + kRadius + 2) << ")\">\n";
  for (const Edge &edge : input.edges) {
    const Node &from = input.nodes[edge.from], &to = input.nodes[edge.to];
    out << "<line class=\"edge\" x1=\"" << at(from.x) << "\" y1=\"" << at(from.y) << "\" x2=\"" << at(to.x)
        << "\" y2=\"" << at(to.y) << "\"><title>" << inXml(from.name) << "." << inXml(edge.field) << " is "
        << inXml(to.name) << "</title></line>\n";
  }
  for (const auto &[number, node] : llvm::enumerate(input.nodes)) {
    const bool argument = llvm::is_contained(input.arguments, static_cast<int32_t>(number));
    const std::string &constructor = info.datas[node.data].constructors[node.constructor].name;
    const bool bright = node.level >= 0 && levels > 1 && node.level * 5 > levels * 3;
    out << "<g class=\"node" << (argument ? " argument" : "") << "\"><title>" << inXml(node.name)
        << (node.level < 0 ? ", leads into a cycle" : ", level " + std::to_string(node.level))
        << (argument ? ", an argument" : "") << "</title><circle cx=\"" << at(node.x) << "\" cy=\""
        << at(node.y) << "\" r=\"" << at(kRadius) << "\" fill=\"" << colourOf(node.level, levels)
        << "\"/><text class=\"" << (bright ? "dark" : "light") << "\" x=\"" << at(node.x) << "\" y=\""
        << at(node.y + 3.5) << "\">" << inXml(constructor.substr(0, 1)) << "</text></g>\n";
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

void BatchDrawing::add(const Batch &batch, const std::vector<bool> &failed) {
  InputReader reader(info_, entry_, batch);
  for (int32_t number = 0; number < batch.inputs(); ++number) {
    ++inputs_;
    int64_t nodes = 0;
    for (int32_t data = 0; data < batch.args(); ++data)
      nodes += batch.begin(data)[number + 1] - batch.begin(data)[number];
    nodes_ += nodes;
    if (failed[number]) {
      ++failed_;
      continue;
    }
    full_ |= !drawn_.empty() && (drawnNodes_ + nodes > kMostNodes || int64_t(drawn_.size()) == kMostInputs);
    if (full_)
      continue;
    Input input;
    input.number = inputs_;
    reader.read(number, input);
    findLevels(input);
    if (nodes > kMostNodes) {
      cut(input, kMostNodes);
      cut_ = nodes - kMostNodes;
    }
    for (Node &node : input.nodes) {
      const std::string name = batch.node_name(node.data, node.number);
      const DataInfo &data = info_.datas[node.data];
      node.name = name + " (" + data.constructors[node.constructor].name + ")";
    }
    layOut(input);
    drawnNodes_ += int64_t(input.nodes.size());
    drawn_.push_back(std::move(input));
  }
}

std::string BatchDrawing::words() const {
  const auto drawn = static_cast<int64_t>(drawn_.size());
  std::string words = "Drawn: " + counted(drawn, "input") + " of " + std::to_string(inputs_) + ", with " +
                      std::to_string(drawnNodes_) + " of " + counted(nodes_, "node") +
                      "; those that an argument refers to have a ring. A node's level is how many references "
                      "lead down from it, at most, by the fields that the entry reads.";
  if (cut_ > 0)
    words += " Of the first one the " + std::to_string(kMostNodes) +
             " nodes are drawn that are nearest to its arguments.";
  if (failed_ > 0)
    words += " " + counted(failed_, "input") + (failed_ == 1 ? " is" : " are") + " left out for " +
             (failed_ == 1 ? "its error." : "their errors.");
  if (inputs_ - failed_ > drawn)
    words += " Left out, as a drawing has at most " + std::to_string(kMostNodes) + " nodes and " +
             std::to_string(kMostInputs) + " inputs: " + counted(inputs_ - failed_ - drawn, "input") +
             " behind these.";
  return words;
}

std::string BatchDrawing::svg() const {
  int32_t levels = 1;
  bool cyclic = false;
  for (const Input &input : drawn_)
    for (const Node &node : input.nodes) {
      levels = std::max(levels, node.level + 1);
      cyclic |= node.level < 0;
    }
  std::string inputs;
  llvm::raw_string_ostream out(inputs);
  double x = 0, y = 24, rowHeight = 0, width = 560;
  for (const Input &input : drawn_) {
    const double across = std::max(input.width + 2 * kRadius + 4, input.nodes.empty() ? 120.0 : 60.0);
    if (x > 0 && x + across > kPage) {
      x = 0;
      y += rowHeight + kMargin;
      rowHeight = 0;
    }
    print(out, info_, input, levels, x, y);
    width = std::max(width, x + across);
    rowHeight = std::max(rowHeight, input.height + kTitle + 2 * kRadius + 4);
    x += across + kMargin;
  }
  const auto fullWidth = static_cast<int64_t>(width + 2 * kMargin),
             fullHeight = static_cast<int64_t>(y + rowHeight + 2 * kMargin);
  std::string text;
  llvm::raw_string_ostream all(text);
  all << "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"batch\" width=\"" << fullWidth << "\" height=\""
      << fullHeight << "\" viewBox=\"0 0 " << fullWidth << " " << fullHeight
      << "\" role=\"img\">\n<title>The structure of a batch of " << inXml(info_.name) << "</title>\n<desc>"
      << inXml(words()) << "</desc>\n<style>\n"
      << kStyle << "</style>\n<g transform=\"translate(" << int(kMargin) << " " << int(kMargin) << ")\">\n";
  printKey(all, levels, cyclic);
  all << inputs << "</g>\n</svg>\n";
  return text;
}

} // namespace dbc::driver
