// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `ggnn`: test/models/32_ggnn.dyn, a gated graph network of four steps, on molecules.
#include "bench/Random.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Reference.h"
#include "bench/workloads/Workloads.h"

#include <cmath>
#include <cstdio>
#include <fstream>

namespace dbc::bench {
namespace {

constexpr int32_t kFeatures = 7, kKinds = 4, kSteps = 4;
enum { kAtom, kBond }; ///< tables
enum { kX, kBonds };   ///< columns of kAtom
enum { kKind, kTo };   ///< columns of kBond

class Ggnn final : public Workload {
public:
  explicit Ggnn(int32_t hidden) : Workload(hidden) {
    const int64_t H = hidden;
    parameters.draw("lift.W", H * kFeatures, 1);
    parameters.draw("lift.b", H, 0.1);
    parameters.draw("along.W", kKinds * H * H, glorot(H, H));
    parameters.draw("along.b", kKinds * H, 0.1);
    for (const char *matrix : {"gru.W", "gru.U"})
      parameters.draw(matrix, 3 * H * H, glorot(H, H));
    for (const char *bias : {"gru.b", "gru.d"})
      parameters.draw(bias, 3 * H, 0.1);
    parameters.draw("gate.W", H + kFeatures, 2 * glorot(H, 1));
    parameters.draw("gate.b", 1, 0.5);
    parameters.draw("value.W", H, 2 * glorot(H, 1));
    parameters.draw("value.b", 1, 0.5);
  }
  const char *entry() const override { return "energy"; }
  Data load(const std::string &data, std::string &error) const override;
  int64_t instances(const Inputs &inputs) const override {
    return int64_t(inputs.table(kAtom).rows()) * (kSteps + 1);
  }
  int64_t values(const Inputs &inputs) const override { return inputs.count(); }
  double flops(const Inputs &inputs) const override {
    const double H = hidden, atoms = inputs.table(kAtom).rows(), bonds = inputs.table(kBond).rows();
    return 2 * (atoms * kFeatures * H + kSteps * (bonds * H * H + atoms * 6 * H * H) +
                atoms * (2 * H + kFeatures));
  }
  std::vector<double> reference(const Inputs &inputs) const override;
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    std::vector<Contestant> one;
    one.push_back({"cblas", ggnn_cblas(parameters, hidden, kFeatures, kKinds, kSteps, batches)});
    return one;
  }
};

/// A graph: a tag of each atom, and the neighbours of each.
struct Graph {
  std::vector<int32_t> tags;
  std::vector<std::vector<int32_t>> near;
};

void add(const Graph &graph, Inputs &inputs) {
  const auto atoms = static_cast<int32_t>(graph.tags.size());
  const int32_t first = inputs.table(kAtom).rows();
  int32_t bond = inputs.table(kBond).rows(), bonds = 0;
  std::vector<Column> &atom = inputs.table(kAtom).columns, &columns = inputs.table(kBond).columns;
  Column &list = inputs.arguments().columns[0];
  for (int32_t a = 0; a < atoms; ++a) {
    for (int32_t f = 0; f < kFeatures; ++f)
      atom[kX].floats.push_back(f == graph.tags[a] ? 1.0f : 0.0f);
    for (int32_t to : graph.near[a]) {
      // The files say nothing of kinds of bonds: the two atoms decide, whichever way it is looked at.
      columns[kKind].ints.push_back((graph.tags[a] + graph.tags[to]) % kKinds);
      columns[kTo].ints.push_back(first + to);
      atom[kBonds].ints.push_back(bond++);
      ++bonds;
    }
    atom[kBonds].end_list();
    list.ints.push_back(first + a);
  }
  list.end_list();
  inputs.end_input({atoms, bonds});
}

/// The next graph of a TU file: its size and class, then for each node its tag, its degree and its
/// neighbours. False if it is none.
bool read(std::istream &file, Graph &graph) {
  int32_t size = 0, label, degree, to;
  file >> size >> label;
  if (!file || size < 0)
    return false;
  graph.tags.resize(size);
  graph.near.resize(size);
  for (int32_t a = 0; a < size; ++a) {
    file >> graph.tags[a] >> degree;
    for (int32_t d = 0; file && d < degree; ++d) {
      file >> to;
      if (!file || to < 0 || to >= size)
        return false;
      graph.near[a].push_back(to);
    }
  }
  return static_cast<bool>(file);
}

/// Rings with some bonds across, of as many atoms as MUTAG's graphs have.
Graph generate(Random &random) {
  Graph graph;
  const int32_t size = 10 + random.below(10) + random.below(9);
  graph.near.resize(size);
  auto join = [&](int32_t a, int32_t b) {
    graph.near[a].push_back(b);
    graph.near[b].push_back(a);
  };
  for (int32_t a = 0; a < size; ++a) {
    graph.tags.push_back(random.below(kFeatures));
    join(a, (a + 1) % size);
  }
  for (int32_t across = size / 9; across > 0; --across)
    join(random.below(size), random.below(size));
  return graph;
}

Data Ggnn::load(const std::string &data, std::string &error) const {
  Data loaded{Inputs({{"Atom", {vectors("x", kFeatures), lists("bonds", kBond)}},
                      {"Bond", {numbers("kind"), numbers("to", kAtom)}}},
                     {lists("atoms", kAtom)}),
              "mutag"};
  std::string path = data + "/tu_graphs/MUTAG.txt";
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s is absent: graphs are generated\n", path.c_str());
    loaded.name = "generated";
    Random random(1);
    for (int32_t g = 0; g < 188; ++g)
      add(generate(random), loaded.inputs);
    return loaded;
  }
  int32_t count = 0;
  file >> count;
  for (int32_t g = 0; g < count; ++g) {
    Graph graph;
    if (!read(file, graph)) {
      error = path + ": graph " + std::to_string(g) + " is malformed";
      break;
    }
    add(graph, loaded.inputs);
  }
  return loaded;
}

std::vector<double> Ggnn::reference(const Inputs &inputs) const {
  using namespace naive;
  const size_t H = hidden;
  const Column &x = inputs.table(kAtom).columns[kX], &bonds = inputs.table(kAtom).columns[kBonds];
  const std::vector<Column> &bond = inputs.table(kBond).columns;
  const int32_t atoms = inputs.table(kAtom).rows();
  std::vector<Vector> h(atoms);
  for (int32_t a = 0; a < atoms; ++a)
    h[a] = affine(parameters["lift.W"], row(x.floats, a, kFeatures), parameters["lift.b"]);
  for (int32_t t = 0; t < kSteps; ++t) {
    std::vector<Vector> next(atoms, Vector(H));
    for (int32_t a = 0; a < atoms; ++a) {
      Vector m(H);
      for (int32_t e = bonds.offsets[a]; e < bonds.offsets[a + 1]; ++e) {
        const int64_t b = bonds.ints[e], kind = bond[kKind].ints[b];
        m = sum(m, product(parameters["along.W"], hidden, h[bond[kTo].ints[b]], kind * hidden * hidden));
        m = sum(m, parameters["along.b"], kind * hidden);
      }
      Vector p = affine(parameters["gru.W"], m, parameters["gru.b"]);
      Vector q = affine(parameters["gru.U"], h[a], parameters["gru.d"]);
      for (size_t j = 0; j < H; ++j) {
        const double z = sigmoid(p[H + j] + q[H + j]);
        const double g = std::tanh(p[2 * H + j] + sigmoid(p[j] + q[j]) * q[2 * H + j]);
        next[a][j] = (1 - z) * g + z * h[a][j];
      }
    }
    h.swap(next);
  }
  Vector out;
  for (int32_t i = 0; i < inputs.count(); ++i) {
    double total = 0;
    for (int32_t a = inputs.table(kAtom).begin[i]; a < inputs.table(kAtom).begin[i + 1]; ++a)
      total += sigmoid(affine(parameters["gate.W"], join(h[a], row(x.floats, a, kFeatures)),
                              parameters["gate.b"])[0]) *
               affine(parameters["value.W"], h[a], parameters["value.b"])[0];
    out.push_back(total);
  }
  return out;
}

} // namespace

std::unique_ptr<Workload> make_ggnn(int32_t hidden) { return std::make_unique<Ggnn>(hidden); }

} // namespace dbc::bench
