// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Cutting a failing instance down: try a simpler one, keep it if it still fails, until nothing simpler does.
#include <algorithm>
#include <cmath>
#include <dbc/io/instance.h>
#include <tuple>

namespace dbc {

namespace {

template <class Body> void each_value(Value &value, const TypeInfo &type, Body &&body) {
  body(value, type);
  for (size_t i = 0; i < value.elements.size(); ++i)
    each_value(value.elements[i], type.elements[type.form == TypeInfo::Form::List ? 0 : i], body);
}

class Shrinker {
public:
  Shrinker(const ModelInfo &model, const EntryInfo &entry, const std::function<bool(const Instance &)> &fails,
           int tries)
      : model_(model), entry_(entry), fails_(fails), tries_(tries) {}

  Instance run(Instance instance) {
    best_ = std::move(instance);
    weigh(best_, best_weight_);
    Instance compact = best_;
    drop_unreferenced(compact);
    accept(std::move(compact));
    for (bool better = true; better && tries_ > 0;) {
      better = false;
      // Values are numbered as each_site meets them; a change found good at one number is tried again there.
      for (size_t site = 0; tries_ > 0;) {
        int edits = edits_at(site);
        if (edits < 0)
          break;
        bool changed = false;
        for (int edit = 0; edit < edits && !changed && tries_ > 0; ++edit)
          changed = attempt(site, edit);
        better |= changed;
        site += changed ? 0 : 1;
      }
    }
    return std::move(best_);
  }

private:
  /// What must become less: nodes, then elements of lists, then what the numbers come to.
  using Weight = std::tuple<size_t, size_t, double>;

  template <class Body> void each_site(Instance &instance, Body &&body) {
    for (size_t a = 0; a < instance.args.size(); ++a)
      each_value(instance.args[a], entry_.args[a].type, body);
    for (Instance::Node &node : instance.nodes)
      for (size_t f = 0; f < node.fields.size(); ++f)
        if (node.given[f])
          each_value(node.fields[f], model_.datas[node.data].constructors[node.kind].fields[f].type, body);
  }

  void weigh(Instance &instance, Weight &weight) {
    weight = Weight(instance.nodes.size(), 0, 0);
    each_site(instance, [&](Value &value, const TypeInfo &) {
      if (value.kind == Value::Kind::List)
        std::get<1>(weight) += value.elements.size();
      else if (value.kind != Value::Kind::Node)
        std::get<2>(weight) += cost(value.number);
      for (double v : value.data)
        std::get<2>(weight) += cost(v);
    });
  }
  /// Small and whole is simple.
  static double cost(double v) {
    return std::isfinite(v) ? std::min(std::fabs(v), 1e6) + (v == std::floor(v) ? 0 : 1) : 1e7;
  }

  /// Number of changes to try at a site; -1 where there is no such site.
  int edits_at(size_t site) {
    int edits = -1;
    size_t at = 0;
    each_site(best_, [&](Value &value, const TypeInfo &) {
      if (at++ != site)
        return;
      switch (value.kind) {
      case Value::Kind::List:
        edits =
            value.elements.empty() ? 0 : 3 + static_cast<int>(std::min<size_t>(value.elements.size(), 16));
        break;
      case Value::Kind::Node:
        edits = static_cast<int>(others(best_, value).size());
        break;
      case Value::Kind::Tuple:
      case Value::Kind::Record:
        edits = 0;
        break;
      default:
        edits = 2;
      }
    });
    return edits;
  }

  /// What a reference may name instead: what its node refers to itself, and the simplest node of the type.
  std::vector<double> others(Instance &instance, const Value &reference) {
    std::vector<double> found;
    Instance::Node &node = instance.nodes[static_cast<size_t>(reference.number)];
    size_t fewest = SIZE_MAX;
    double simplest = reference.number;
    for (size_t n = 0; n < instance.nodes.size(); ++n)
      if (instance.nodes[n].data == node.data && below(instance.nodes[n]).size() < fewest) {
        fewest = below(instance.nodes[n]).size();
        simplest = static_cast<double>(n);
      }
    found.push_back(simplest);
    for (double n : below(node))
      if (instance.nodes[static_cast<size_t>(n)].data == node.data &&
          std::find(found.begin(), found.end(), n) == found.end())
        found.push_back(n);
    found.erase(std::remove(found.begin(), found.end(), reference.number), found.end());
    return found;
  }
  /// The nodes that a node's fields name.
  std::vector<double> below(Instance::Node &node) {
    std::vector<double> found;
    for (size_t f = 0; f < node.fields.size(); ++f)
      each_value(node.fields[f], model_.datas[node.data].constructors[node.kind].fields[f].type,
                 [&](Value &value, const TypeInfo &) {
                   if (value.kind == Value::Kind::Node)
                     found.push_back(value.number);
                 });
    return found;
  }

  bool attempt(size_t site, int edit) {
    Instance candidate = best_;
    std::vector<double> targets;
    size_t at = 0;
    each_site(candidate, [&](Value &value, const TypeInfo &) {
      if (at++ != site)
        return;
      std::vector<Value> &elements = value.elements;
      ptrdiff_t half = static_cast<ptrdiff_t>(elements.size() / 2);
      if (value.kind == Value::Kind::Node) {
        value.number = others(candidate, value)[static_cast<size_t>(edit)];
      } else if (value.kind != Value::Kind::List) {
        simplify(value, edit);
      } else if (edit == 0) {
        elements.clear();
      } else if (edit == 1) {
        elements.erase(elements.begin() + half, elements.end());
      } else if (edit == 2) {
        elements.erase(elements.begin(), elements.begin() + half);
      } else {
        elements.erase(elements.begin() + (edit - 3));
      }
    });
    drop_unreferenced(candidate);
    return accept(std::move(candidate));
  }

  static void simplify(Value &value, int edit) {
    auto simpler = [&](double v) { return edit == 0 ? 0.0 : std::trunc(v / 2); };
    value.number = simpler(value.number);
    for (double &v : value.data)
      v = simpler(v);
  }

  /// Keeps the candidate if it is simpler and fails too.
  bool accept(Instance candidate) {
    Weight weight;
    weigh(candidate, weight);
    if (!(weight < best_weight_))
      return false;
    --tries_;
    if (!fails_(candidate))
      return false;
    best_ = std::move(candidate);
    best_weight_ = weight;
    return true;
  }

  /// Removes what cannot be reached from the arguments; the others keep their order.
  void drop_unreferenced(Instance &instance) {
    std::vector<bool> reached(instance.nodes.size());
    std::vector<size_t> todo;
    auto visit = [&](Value &value, const TypeInfo &) {
      if (value.kind != Value::Kind::Node || reached[static_cast<size_t>(value.number)])
        return;
      reached[static_cast<size_t>(value.number)] = true;
      todo.push_back(static_cast<size_t>(value.number));
    };
    for (size_t a = 0; a < instance.args.size(); ++a)
      each_value(instance.args[a], entry_.args[a].type, visit);
    while (!todo.empty()) {
      Instance::Node &node = instance.nodes[todo.back()];
      todo.pop_back();
      for (size_t f = 0; f < node.fields.size(); ++f)
        if (node.given[f])
          each_value(node.fields[f], model_.datas[node.data].constructors[node.kind].fields[f].type, visit);
    }
    std::vector<size_t> new_number(instance.nodes.size());
    size_t kept = 0;
    for (size_t n = 0; n < instance.nodes.size(); ++n)
      if (reached[n]) {
        if (kept != n)
          instance.nodes[kept] = std::move(instance.nodes[n]);
        new_number[n] = kept++;
      }
    instance.nodes.resize(kept);
    each_site(instance, [&](Value &value, const TypeInfo &) {
      if (value.kind == Value::Kind::Node)
        value.number = static_cast<double>(new_number[static_cast<size_t>(value.number)]);
    });
  }

  const ModelInfo &model_;
  const EntryInfo &entry_;
  const std::function<bool(const Instance &)> &fails_;
  int tries_;
  Instance best_;
  Weight best_weight_;
};

} // namespace

Instance shrink_instance(const ModelInfo &model, const EntryInfo &entry, Instance instance,
                         const std::function<bool(const Instance &)> &fails, int tries) {
  return Shrinker(model, entry, fails, tries).run(std::move(instance));
}

} // namespace dbc
