// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Random instances. A node is drawn with a budget of nodes for everything below it; it is numbered after its
// children, so references are acyclic until some are bent. What a subtree leaves of its budget goes to its
// later siblings.
#include "Random.h"
#include "Result.h"

#include <algorithm>
#include <dbc/io/instance.h>
#include <numeric>

namespace dbc {

namespace {

constexpr int64_t never = 1 << 20; ///< a size beyond all budgets

/// How large values of each data type must be and can be, counted in nodes without sharing.
struct Sizes {
  std::vector<int64_t> least, most; ///< by data type; `least` is `never` without finite values
  std::vector<std::vector<int64_t>> ctor_least, ctor_most; ///< by data type and constructor

  /// Lists have `fewest` to `elements` elements at every depth.
  Sizes(const ModelInfo &model, int64_t fewest, int64_t elements) {
    size_t n = model.datas.size();
    least.assign(n, never);
    most.assign(n, 0);
    ctor_least.resize(n);
    ctor_most.resize(n);
    // Each round is right for trees one level higher. `least` is done after n rounds; `most` grows for ever
    // where a type is recursive, and need not be known beyond any budget.
    for (size_t round = 0; round < std::max<size_t>(n, 1000); ++round) {
      std::vector<int64_t> old_most = most;
      bool changed = false;
      for (size_t d = 0; d < n; ++d) {
        const auto &constructors = model.datas[d].constructors;
        ctor_least[d].assign(constructors.size(), 1);
        ctor_most[d].assign(constructors.size(), 1);
        for (size_t c = 0; c < constructors.size(); ++c) {
          for (const FieldInfo &field : constructors[c].fields)
            count(field.type, fewest, elements, old_most, ctor_least[d][c], ctor_most[d][c]);
          changed |= ctor_least[d][c] < least[d];
          least[d] = std::min(least[d], ctor_least[d][c]);
          if (ctor_least[d][c] < never) {
            changed |= ctor_most[d][c] > most[d];
            most[d] = std::max(most[d], ctor_most[d][c]);
          }
        }
      }
      if (!changed)
        break;
    }
  }

private:
  /// Adds what a field's references come to.
  void count(const TypeInfo &field, int64_t fewest, int64_t elements, const std::vector<int64_t> &old_most,
             int64_t &low, int64_t &high) const {
    const TypeInfo *type = &field;
    int64_t few = 1, many = 1;
    for (; type->form == TypeInfo::Form::List; type = &type->parts[0]) {
      few *= fewest;
      many = std::min(never, many * elements);
    }
    if (type->elem != Elem::Node)
      return;
    low = std::min(never, low + few * least[type->data]);
    if (least[type->data] < never)
      high = std::min(never, high + many * old_most[type->data]);
  }
};

class Drawer {
public:
  Drawer(const ModelInfo &model, const EntryInfo &entry, uint64_t seed, uint64_t number,
         const DrawOptions &options)
      : model_(model), entry_(entry), options_(options), random_(seed, number),
        sizes_(model, 0, std::max(options.most_elements, 0)), filled_sizes_(model, 1, 1),
        made_(model.datas.size()), uses_(model.datas.size()) {
    for (size_t d = 0; d < model.datas.size(); ++d)
      uses_[d].resize(model.datas[d].constructors.size());
    int lengths = static_cast<int>(random_.below(10));
    equal_ = lengths < 5;
    filled_ = lengths % 5 < 2;
    share_ = random_.chance(50) ? static_cast<int>(random_.between(5, 50)) : 0;
    split_ = static_cast<Split>(random_.below(4));
    negative_ = random_.chance(10);
  }

  Status draw(Instance &instance) {
    int64_t budget = size(), left = budget, each = 0;
    for (const ArgInfo &arg : entry_.args) {
      if (const DataInfo *bad = endless(arg.type))
        return Status::error(Code::bad_input,
                             model_.name + ": argument `" + arg.name + "` of `" + entry_.name +
                                 "`: data type `" + bad->name +
                                 "` has no finite value: each of its constructors needs another node; "
                                 "what may be absent is a list, `[" +
                                 bad->name + "]`");
      left -= needed(arg.type);
      each += needed_by_lists(arg.type);
    }
    int64_t length = list_length(options_.most_arg_elements, left, each);
    for (const ArgInfo &arg : entry_.args)
      instance_.args.push_back(skeleton_of(arg.type, options_.most_arg_elements, length, left, each));
    std::vector<Slot> slots;
    for (Value &arg : instance_.args)
      collect(arg, slots);
    fill(slots, budget);
    if (!instance_.nodes.empty() && random_.chance(10))
      add_stray();
    if (options_.cycles)
      for (Instance::Node &node : instance_.nodes)
        for (Value &field : node.fields)
          bend(field);
    if (random_.chance(25))
      permute();
    instance = std::move(instance_);
    return Status();
  }

private:
  enum class Split { Even, Uneven, Chain, Random };
  /// A reference that is still to be drawn; `value` stays where it is until it is.
  struct Slot {
    Value *value;
    int32_t data;
  };

  /// How many nodes the input should have.
  int64_t size() {
    int64_t most = std::clamp<int64_t>(options_.most_nodes, 1, 1000);
    if (random_.chance(4))
      return random_.between(most, std::clamp<int64_t>(options_.big_nodes, most, 1000));
    if (random_.chance(15))
      return random_.between(1, (most + 3) / 4);
    return random_.between((most + 1) / 2, most);
  }

  /// A data type without finite values that a value of this type would need.
  const DataInfo *endless(const TypeInfo &type) const {
    if (type.form == TypeInfo::Form::List)
      return nullptr;
    if (type.form == TypeInfo::Form::Value)
      return type.elem == Elem::Node && sizes_.least[type.data] >= never ? &model_.datas[type.data] : nullptr;
    for (const TypeInfo &part : type.parts)
      if (const DataInfo *bad = endless(part))
        return bad;
    return nullptr;
  }

  /// Nodes that a value of this type must have.
  int64_t needed(const TypeInfo &type) const {
    if (type.form == TypeInfo::Form::List)
      return 0;
    if (type.form == TypeInfo::Form::Value)
      return type.elem == Elem::Node ? sizes_.least[type.data] : 0;
    int64_t n = 0;
    for (const TypeInfo &part : type.parts)
      n += needed(part);
    return n;
  }

  /// Nodes that one more element in every outermost list of this type would need.
  int64_t needed_by_lists(const TypeInfo &type) const {
    if (type.form == TypeInfo::Form::Value)
      return 0;
    int64_t n = 0;
    for (const TypeInfo &part : type.parts)
      n += type.form == TypeInfo::Form::List ? finite(needed(part)) : needed_by_lists(part);
    return n;
  }
  static int64_t finite(int64_t nodes) { return nodes < never ? nodes : 0; }

  /// A length for lists whose elements need `each` nodes, `left` being there.
  int64_t list_length(int32_t most, int64_t left, int64_t each) {
    if (most <= 0)
      return 0;
    int64_t n = random_.between(filled_ ? 1 : 0, most);
    if (each <= 0)
      return n;
    int64_t fits = std::max<int64_t>(left, 0) / each;
    // A recursion that goes through lists only would end at the first empty one.
    if (n == 0 && fits > 1 && random_.chance(70))
      n = 1;
    return std::min(n, fits);
  }

  /// The skeleton of one of several fields or arguments. `each` is what an element in every list of this one
  /// and those after it would need: where lists are to be filled, that is kept for them.
  Value skeleton_of(const TypeInfo &type, int32_t most, int64_t length, int64_t &left, int64_t &each) {
    each -= needed_by_lists(type);
    int64_t kept = filled_ ? std::clamp<int64_t>(each, 0, std::max<int64_t>(left, 0)) : 0;
    left -= kept;
    Value value = skeleton(type, most, length, left);
    left += kept;
    return value;
  }

  /// A value with everything drawn but its references. `length` is that of all lists where they are equally
  /// long; `left` are the nodes that lists may still ask for.
  Value skeleton(const TypeInfo &type, int32_t most, int64_t length, int64_t &left) {
    switch (type.form) {
    case TypeInfo::Form::Value:
      if (type.elem == Elem::Node)
        return Value::scalar(Value::Kind::Node, -1 - type.data); // the data type, until collect() finds it
      return numbers(type);
    case TypeInfo::Form::List: {
      int64_t each = needed(type.parts[0]);
      int64_t n = list_length(most, left, finite(each));
      if (equal_)
        n = each > 0 ? std::min(length, std::max<int64_t>(left, 0) / each) : length;
      if (each >= never)
        n = 0;
      left -= n * each;
      Value list = Value::group(Value::Kind::List, {});
      for (int64_t k = 0; k < n; ++k)
        list.parts.push_back(skeleton(type.parts[0], most, length, left));
      return list;
    }
    case TypeInfo::Form::Tuple:
    case TypeInfo::Form::Record:
      break;
    }
    Value group =
        Value::group(type.form == TypeInfo::Form::Tuple ? Value::Kind::Tuple : Value::Kind::Record, {});
    for (const TypeInfo &part : type.parts)
      group.parts.push_back(skeleton(part, most, length, left));
    return group;
  }

  Value numbers(const TypeInfo &type) {
    auto one = [&]() -> double {
      switch (type.elem) {
      case Elem::Index:
        return static_cast<double>(random_.below(type.bound));
      case Elem::Bool:
        return static_cast<double>(random_.below(2));
      case Elem::Int:
        if (negative_ && random_.chance(20))
          return static_cast<double>(random_.between(-3, -1));
        return static_cast<double>(random_.between(0, random_.chance(85) ? 4 : 12));
      case Elem::F32:
      case Elem::Node:
        break;
      }
      return static_cast<float>(static_cast<double>(random_.normal_thousandths()) / 1000);
    };
    Value::Kind kind = type.elem == Elem::F32    ? Value::Kind::Number
                       : type.elem == Elem::Bool ? Value::Kind::Bool
                                                 : Value::Kind::Int;
    if (type.extents.empty())
      return Value::scalar(kind, one());
    std::vector<double> data(static_cast<size_t>(type.size()));
    for (double &v : data)
      v = one();
    return Value::tensor(type.extents, std::move(data), kind);
  }

  /// The references of a skeleton that lies where it will stay.
  static void collect(Value &value, std::vector<Slot> &slots) {
    if (value.kind == Value::Kind::Node)
      slots.push_back({&value, static_cast<int32_t>(-1 - value.number)});
    for (Value &part : value.parts)
      collect(part, slots);
  }

  /// How many of `extra` nodes each slot gets beyond what it needs.
  std::vector<int64_t> shares(const std::vector<Slot> &slots, int64_t extra) {
    std::vector<int64_t> weight(slots.size());
    int64_t total = 0, last = -1;
    Split split = split_ == Split::Random ? static_cast<Split>(random_.below(3)) : split_;
    int64_t chosen = slots.empty() ? 0 : random_.below(static_cast<int64_t>(slots.size()));
    for (size_t i = 0; i < slots.size(); ++i) {
      if (sizes_.most[slots[i].data] <= sizes_.least[slots[i].data])
        continue;
      int64_t w = random_.between(1, 8);
      weight[i] = split == Split::Even ? 1 : w * w;
      total += weight[i];
      // A chain goes on at one slot: the last that can grow, up to a random one.
      if (last < 0 || static_cast<int64_t>(i) <= chosen)
        last = static_cast<int64_t>(i);
    }
    std::vector<int64_t> share(slots.size());
    if (total == 0)
      return share;
    if (split == Split::Chain) {
      share[last] = extra;
      return share;
    }
    int64_t given = 0;
    for (size_t i = 0; i < slots.size(); ++i)
      given += share[i] = extra * weight[i] / total;
    share[last] += extra - given;
    return share;
  }

  /// Draws what the slots refer to, about `budget` nodes in all.
  void fill(const std::vector<Slot> &slots, int64_t budget) {
    int64_t extra = budget;
    for (const Slot &slot : slots)
      extra -= sizes_.least[slot.data];
    std::vector<int64_t> share = shares(slots, std::max<int64_t>(extra, 0));
    int64_t spare = 0; // what earlier slots left
    for (size_t i = 0; i < slots.size(); ++i) {
      const std::vector<int32_t> &made = made_[slots[i].data];
      int64_t allowed = sizes_.least[slots[i].data] + share[i] + spare;
      // Large subtrees are drawn, small ones may be something that is there already, of any size.
      if (share[i] <= 4 && !made.empty() && random_.chance(share_)) {
        slots[i].value->number = made[random_.below(static_cast<int64_t>(made.size()))];
        spare = allowed;
        continue;
      }
      int64_t before = static_cast<int64_t>(instance_.nodes.size());
      slots[i].value->number = node(slots[i].data, allowed);
      spare = std::max<int64_t>(0, allowed - (static_cast<int64_t>(instance_.nodes.size()) - before));
    }
  }

  /// A constructor that fits the budget: nearly always one that can use it up, of those rather one that is
  /// rare so far.
  int32_t constructor(int32_t data, int64_t budget) {
    const auto &least = sizes_.ctor_least[data], &most = sizes_.ctor_most[data];
    bool grow = instance_.nodes.empty() || random_.chance(93);
    int64_t reach = 0;
    for (size_t c = 0; c < least.size(); ++c)
      if (least[c] <= budget)
        reach = std::max(reach, std::min(most[c], budget));
    // Where lists are to be filled, a constructor whose lists would have to be empty is the last choice.
    auto fits = [&](size_t c, bool filled) {
      return least[c] <= budget && (!grow || most[c] >= reach) &&
             (!filled || filled_sizes_.ctor_least[data][c] <= budget);
    };
    std::vector<int32_t> fit;
    for (bool filled = filled_; fit.empty(); filled = false)
      for (size_t c = 0; c < least.size(); ++c)
        if (fits(c, filled))
          fit.push_back(static_cast<int32_t>(c));
    int32_t a = fit[random_.below(static_cast<int64_t>(fit.size()))];
    int32_t b = fit[random_.below(static_cast<int64_t>(fit.size()))];
    int32_t chosen = uses_[data][b] < uses_[data][a] ? b : a;
    ++uses_[data][chosen];
    return chosen;
  }

  /// Draws a node with everything below it and returns its index. As deep as the budget is large, at most
  /// 1000.
  int32_t node(int32_t data, int64_t budget) {
    Instance::Node drawn;
    drawn.data = data;
    drawn.kind = constructor(data, budget);
    const std::vector<FieldInfo> &fields = model_.datas[data].constructors[drawn.kind].fields;
    int64_t left = budget - sizes_.ctor_least[data][drawn.kind], each = 0;
    for (const FieldInfo &field : fields)
      each += needed_by_lists(field.type);
    int64_t length = list_length(options_.most_elements, left, each);
    for (const FieldInfo &field : fields)
      drawn.fields.push_back(skeleton_of(field.type, options_.most_elements, length, left, each));
    drawn.given.assign(fields.size(), true);
    std::vector<Slot> slots;
    for (Value &field : drawn.fields)
      collect(field, slots);
    fill(slots, budget - 1);
    int32_t index = static_cast<int32_t>(instance_.nodes.size());
    instance_.nodes.push_back(std::move(drawn));
    made_[data].push_back(index);
    return index;
  }

  /// A few nodes that nothing refers to.
  void add_stray() {
    int32_t data = instance_.nodes[random_.below(static_cast<int64_t>(instance_.nodes.size()))].data;
    node(data, sizes_.least[data] + random_.below(4));
  }

  /// Lets one in six references lead to any node of its type.
  void bend(Value &value) {
    if (value.kind == Value::Kind::Node && random_.below(6) == 0) {
      const std::vector<int32_t> &made = made_[instance_.nodes[static_cast<size_t>(value.number)].data];
      value.number = made[random_.below(static_cast<int64_t>(made.size()))];
    }
    for (Value &part : value.parts)
      bend(part);
  }

  /// Renumbers the nodes at random, which makes references go forward too.
  void permute() {
    size_t n = instance_.nodes.size();
    std::vector<int32_t> place(n);
    std::iota(place.begin(), place.end(), 0);
    for (size_t i = n; i > 1; --i)
      std::swap(place[i - 1], place[random_.below(static_cast<int64_t>(i))]);
    std::vector<Instance::Node> nodes(n);
    for (size_t i = 0; i < n; ++i) {
      for (Value &field : instance_.nodes[i].fields)
        renumber(field, place);
      nodes[place[i]] = std::move(instance_.nodes[i]);
    }
    for (Value &arg : instance_.args)
      renumber(arg, place);
    instance_.nodes = std::move(nodes);
  }
  static void renumber(Value &value, const std::vector<int32_t> &place) {
    if (value.kind == Value::Kind::Node)
      value.number = place[static_cast<size_t>(value.number)];
    for (Value &part : value.parts)
      renumber(part, place);
  }

  const ModelInfo &model_;
  const EntryInfo &entry_;
  const DrawOptions &options_;
  io::Random random_;
  Sizes sizes_;
  Sizes filled_sizes_; ///< where no list is empty; only `ctor_least` is of use
  Instance instance_;
  std::vector<std::vector<int32_t>> made_; ///< nodes of each data type
  std::vector<std::vector<int>> uses_;     ///< of each constructor
  bool equal_ = false, filled_ = false, negative_ = false;
  int share_ = 0; ///< percent
  Split split_ = Split::Even;
};

} // namespace

Status draw_instance(const ModelInfo &model, const EntryInfo &entry, uint64_t seed, uint64_t number,
                     Instance &instance, const DrawOptions &options) {
  return io::guarded([&]() -> Status { return Drawer(model, entry, seed, number, options).draw(instance); });
}

} // namespace dbc
