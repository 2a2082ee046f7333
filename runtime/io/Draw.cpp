// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Random instances. A node is drawn with a budget of nodes for everything below it; it is numbered after its
// children, so references are acyclic until some are bent. What a subtree leaves of its budget goes to its
// later siblings. Nodes whose children are being drawn lie on a stack of our own: a chain may be long.
#include "DrawSizes.h"
#include "Random.h"
#include "Result.h"

#include <algorithm>
#include <dbc/io/instance.h>
#include <limits>
#include <numeric>

namespace dbc {

namespace {

using io::Sizes;

constexpr int64_t never = Sizes::never;
constexpr int kTries = 100; ///< inputs drawn where sizes are asked for, until one has them

class Drawer {
public:
  Drawer(const ModelInfo &model, const EntryInfo &entry, uint64_t seed, uint64_t number,
         const DrawOptions &options)
      : model_(model), entry_(entry), options_(options), random_(seed, number),
        sizes_(model, 0, std::max(options.most_elements, 0)), filled_sizes_(model, 1, 1),
        heights_(options.depth ? std::optional<Sizes>(std::in_place, model, 0, 1, Sizes::Of::Ways)
                               : std::nullopt),
        made_(model.datas.size()), uses_(model.datas.size()) {
    for (size_t d = 0; d < model.datas.size(); ++d)
      uses_[d].resize(model.datas[d].constructors.size());
    int lengths = static_cast<int>(random_.below(10));
    equal_ = lengths < 5;
    filled_ = lengths % 5 < 2;
    share_ = random_.chance(50) ? static_cast<int>(random_.between(5, 50)) : 0;
    split_ = static_cast<Split>(random_.below(4));
    negative_ = random_.chance(10);
    most_numbers_ = options.most_elements;
    most_arg_ = options.most_arg_elements;
    bool lengthens = io::Random(~seed, number).chance(10); // by itself, so that the others are drawn as ever
    // Where all lists are equally long, lists in lists would have very many elements.
    lengthens &= !equal_ || !has_lists_in_lists();
    if (lengthens && options.long_elements > 0 && !options.length && std::min(most_numbers_, most_arg_) > 0)
      most_numbers_ = most_arg_ = std::max({most_numbers_, most_arg_, options.long_elements});
    if (options.depth && options.depth->least > 1)
      filled_ = true; // a recursion through lists ends at empty ones
    if (options.nodes || options.depth)
      share_ = std::min(share_, 10);
  }

  /// What was drawn; where it is not asked for, before references were bent and nodes added that nothing
  /// refers to.
  int64_t nodes() const { return nodes_; }
  int64_t depth() const { return depth_; }

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
    int64_t longest = options_.length ? options_.length->most : most_arg_;
    if (longest > options_.most_arg_elements && each > 0) { // as many nodes as the lists may need
      int64_t more = std::max<int64_t>(0, longest * each - left);
      budget += more;
      left += more;
    }
    if (options_.depth)
      below_ = options_.depth->most;
    int64_t length = list_length(most_arg_, left, each, true);
    for (const ArgInfo &arg : entry_.args)
      instance_.args.push_back(skeleton_of(arg.type, most_arg_, length, left, each, true));
    std::vector<Reference> references;
    for (Value &arg : instance_.args)
      collect(arg, references);
    fill(references, budget, options_.depth.value_or(DrawRange{1, never}));
    nodes_ = static_cast<int64_t>(instance_.nodes.size());
    for (const Reference &reference : references)
      depth_ = std::max(depth_, height_[reference.value->number]);
    // Nothing that would make it larger than what is asked for.
    if (!instance_.nodes.empty() && random_.chance(10) && !options_.nodes)
      add_stray();
    if (options_.cycles && !options_.depth)
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
  struct Reference {
    Value *value;
    int32_t data;
  };

  /// How many nodes the input should have.
  int64_t size() {
    if (options_.nodes)
      return random_.between(options_.nodes->least, options_.nodes->most);
    int64_t n = usual_size();
    return options_.depth ? std::max(n, 3 * options_.depth->least) : n;
  }
  int64_t usual_size() {
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
    for (const TypeInfo &element : type.elements)
      if (const DataInfo *bad = endless(element))
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
    for (const TypeInfo &element : type.elements)
      n += needed(element);
    return n;
  }

  /// Nodes that one more element in every outermost list of this type would need.
  int64_t needed_by_lists(const TypeInfo &type) const {
    if (type.form == TypeInfo::Form::Value)
      return 0;
    int64_t n = 0;
    for (const TypeInfo &element : type.elements)
      n += type.form == TypeInfo::Form::List ? finite(needed(element)) : needed_by_lists(element);
    return n;
  }
  static int64_t finite(int64_t nodes) { return nodes < never ? nodes : 0; }

  /// A length for lists whose elements need `each` nodes, `left` being there. `asked`: what options say of
  /// lengths is about these lists.
  int64_t list_length(int32_t most, int64_t left, int64_t each, bool asked) {
    asked &= options_.length.has_value();
    if (most <= 0 && !asked)
      return 0;
    int64_t n = asked ? random_.between(options_.length->least, options_.length->most)
                      : random_.between(filled_ ? 1 : 0, most);
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
  Value skeleton_of(const TypeInfo &type, int32_t most, int64_t length, int64_t &left, int64_t &each,
                    bool arg) {
    each -= needed_by_lists(type);
    int64_t kept = filled_ ? std::clamp<int64_t>(each, 0, std::max<int64_t>(left, 0)) : 0;
    left -= kept;
    Value value = skeleton(type, most, length, left, arg);
    left += kept;
    return value;
  }

  /// A value with everything drawn but its references. `length` is that of all lists where they are equally
  /// long; `left` are the nodes that lists may still ask for.
  Value skeleton(const TypeInfo &type, int32_t most, int64_t length, int64_t &left, bool arg) {
    switch (type.form) {
    case TypeInfo::Form::Value:
      if (type.elem == Elem::Node)
        return Value::scalar(Value::Kind::Node, -1 - type.data); // the data type, until collect() finds it
      return numbers(type);
    case TypeInfo::Form::List: {
      int64_t each = needed(type.elements[0]);
      bool asked = arg || each == 0;
      if (inside_ > 0) // the outermost is long, if any
        most = std::min(most, arg ? options_.most_arg_elements : options_.most_elements);
      else if (each == 0)
        most = most_numbers(most);
      int64_t n = list_length(most, left, finite(each), asked);
      if (equal_ && !(options_.length && asked && !arg))
        n = each > 0 ? std::min(length, std::max<int64_t>(left, 0) / each) : length;
      if (each >= never || (heights_ && height_needed(type.elements[0]) > below_))
        n = 0;
      left -= n * each;
      Value list = Value::group(Value::Kind::List, {});
      ++inside_;
      for (int64_t k = 0; k < n; ++k)
        list.elements.push_back(skeleton(type.elements[0], most, length, left, arg));
      --inside_;
      return list;
    }
    case TypeInfo::Form::Tuple:
    case TypeInfo::Form::Record:
      break;
    }
    Value group =
        Value::group(type.form == TypeInfo::Form::Tuple ? Value::Kind::Tuple : Value::Kind::Record, {});
    for (const TypeInfo &element : type.elements)
      group.elements.push_back(skeleton(element, most, length, left, arg));
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

  /// Lists of numbers may be longer than those that need nodes.
  int32_t most_numbers(int32_t most) const { return std::max(most, most_numbers_); }

  /// How deep lists are in each other.
  static int lists_in(const TypeInfo &type) {
    int deepest = 0;
    for (const TypeInfo &element : type.elements)
      deepest = std::max(deepest, lists_in(element));
    return deepest + (type.form == TypeInfo::Form::List);
  }
  bool has_lists_in_lists() const {
    bool found = false;
    for (const ArgInfo &arg : entry_.args)
      found |= lists_in(arg.type) > 1;
    for (const DataInfo &data : model_.datas)
      for (const ConstructorInfo &constructor : data.constructors)
        for (const FieldInfo &field : constructor.fields)
          found |= lists_in(field.type) > 1;
    return found;
  }

  /// Nodes on the longest way down that a value of this type must have.
  int64_t height_needed(const TypeInfo &type) const {
    if (type.form == TypeInfo::Form::List)
      return 0;
    if (type.form == TypeInfo::Form::Value)
      return type.elem == Elem::Node ? heights_->least[type.data] : 0;
    int64_t n = 0;
    for (const TypeInfo &element : type.elements)
      n = std::max(n, height_needed(element));
    return n;
  }

  /// The references of a skeleton that lies where it will stay.
  static void collect(Value &value, std::vector<Reference> &references) {
    if (value.kind == Value::Kind::Node)
      references.push_back({&value, static_cast<int32_t>(-1 - value.number)});
    for (Value &element : value.elements)
      collect(element, references);
  }

  /// How many of `extra` nodes each reference gets beyond what it needs.
  std::vector<int64_t> shares(const std::vector<Reference> &references, int64_t extra) {
    std::vector<int64_t> weight(references.size());
    int64_t total = 0, last = -1;
    Split split = split_ == Split::Random ? static_cast<Split>(random_.below(3)) : split_;
    int64_t chosen = references.empty() ? 0 : random_.below(static_cast<int64_t>(references.size()));
    for (size_t i = 0; i < references.size(); ++i) {
      if (sizes_.most[references[i].data] <= sizes_.least[references[i].data])
        continue;
      int64_t w = random_.between(1, 8);
      weight[i] = split == Split::Even ? 1 : w * w;
      total += weight[i];
      // A chain goes on at one reference: the last that can grow, up to a random one.
      if (last < 0 || static_cast<int64_t>(i) <= chosen)
        last = static_cast<int64_t>(i);
    }
    std::vector<int64_t> share(references.size());
    if (total == 0)
      return share;
    if (split == Split::Chain) {
      share[last] = extra;
      return share;
    }
    int64_t given = 0;
    for (size_t i = 0; i < references.size(); ++i)
      given += share[i] = extra * weight[i] / total;
    share[last] += extra - given;
    return share;
  }

  /// A node whose children are being drawn, or what the first references of all stand in.
  struct Frame {
    Instance::Node drawn;
    Value *result = nullptr; ///< where the node's number goes; null for the first references
    std::vector<Reference> references;
    std::vector<int64_t> share; ///< nodes of each reference beyond what it needs
    DrawRange below;            ///< how many nodes the longest way down from a reference may have
    size_t carrier = 0;         ///< the reference that must reach `below.least`
    size_t next = 0;
    int64_t spare = 0;               ///< what earlier references left
    int64_t allowed = 0, before = 0; ///< of the reference in hand; nodes that were there before it
  };

  /// Draws what the references refer to, about `budget` nodes in all, with ways down of `depth` nodes.
  void fill(std::vector<Reference> references, int64_t budget, DrawRange depth) {
    std::vector<Frame> stack(1);
    begin(stack.back(), std::move(references), budget, depth);
    draw_below(std::move(stack));
  }

  /// Draws what the frames' references refer to.
  void draw_below(std::vector<Frame> stack) {
    while (!stack.empty()) {
      Frame &frame = stack.back();
      if (frame.next == frame.references.size()) {
        if (frame.result)
          finish(frame);
        stack.pop_back();
        if (!stack.empty()) {
          Frame &outer = stack.back();
          int64_t used = static_cast<int64_t>(instance_.nodes.size()) - outer.before;
          outer.spare = std::max<int64_t>(0, outer.allowed - used);
        }
        continue;
      }
      size_t i = frame.next++;
      Reference reference = frame.references[i];
      DrawRange below = {i == frame.carrier ? frame.below.least : 1, frame.below.most};
      frame.allowed = sizes_.least[reference.data] + frame.share[i] + frame.spare;
      // Large subtrees are drawn, small ones may be something that is there already, of any size.
      if (frame.share[i] <= 4 && below.least <= 1 && !made_[reference.data].empty() && random_.chance(share_))
        if (int32_t made = any_made(reference.data, below.most); made >= 0) {
          reference.value->number = made;
          frame.spare = frame.allowed;
          continue;
        }
      frame.before = static_cast<int64_t>(instance_.nodes.size());
      int64_t allowed = frame.allowed; // the frame moves
      node(stack.emplace_back(), reference, allowed, below);
    }
  }

  /// Shares a budget among references.
  void begin(Frame &frame, std::vector<Reference> references, int64_t budget, DrawRange below) {
    frame.references = std::move(references);
    frame.below = below;
    int64_t extra = budget;
    for (const Reference &reference : frame.references)
      extra -= sizes_.least[reference.data];
    extra = std::max<int64_t>(extra, 0);
    std::vector<size_t> reaching;
    for (size_t i = 0; heights_ && i < frame.references.size(); ++i)
      if (heights_->most[frame.references[i].data] >= below.least)
        reaching.push_back(i);
    int64_t kept = 0; // for the reference that must reach far down
    if (!reaching.empty()) {
      frame.carrier = reaching[random_.below(static_cast<int64_t>(reaching.size()))];
      kept = std::min(extra, 3 * (below.least - 1));
    }
    frame.share = shares(frame.references, extra - kept);
    if (kept)
      frame.share[frame.carrier] += kept;
  }

  /// A node that is there already, from which ways down have at most `most` nodes; -1 if a random one has
  /// more.
  int32_t any_made(int32_t data, int64_t most) {
    const std::vector<int32_t> &made = made_[data];
    int32_t chosen = made[random_.below(static_cast<int64_t>(made.size()))];
    return height_[chosen] <= most ? chosen : -1;
  }

  /// A constructor that fits the budget: nearly always one that can use it up, of those rather one that is
  /// rare so far.
  int32_t constructor(int32_t data, int64_t budget, DrawRange depth) {
    const auto &least = sizes_.ctor_least[data], &most = sizes_.ctor_most[data];
    auto reaches = [&](size_t c) {
      return !heights_ ||
             (heights_->ctor_least[data][c] <= depth.most && heights_->ctor_most[data][c] >= depth.least);
    };
    bool grow = instance_.nodes.empty() || random_.chance(93);
    int64_t reach = 0;
    for (size_t c = 0; c < least.size(); ++c)
      if (least[c] <= budget && reaches(c))
        reach = std::max(reach, std::min(most[c], budget));
    // Where lists are to be filled, a constructor whose lists would have to be empty is the last choice but
    // for those of another depth than is asked for.
    auto fits = [&](size_t c, bool filled, bool deep) {
      return least[c] <= budget && (!grow || most[c] >= reach) && (!deep || reaches(c)) &&
             (!filled || filled_sizes_.ctor_least[data][c] <= budget);
    };
    std::vector<int32_t> fit;
    for (auto [filled, deep] : {std::pair(filled_, true), std::pair(false, true), std::pair(false, false)})
      if (fit.empty())
        for (size_t c = 0; c < least.size(); ++c)
          if (fits(c, filled, deep))
            fit.push_back(static_cast<int32_t>(c));
    int32_t a = fit[random_.below(static_cast<int64_t>(fit.size()))];
    int32_t b = fit[random_.below(static_cast<int64_t>(fit.size()))];
    int32_t chosen = uses_[data][b] < uses_[data][a] ? b : a;
    ++uses_[data][chosen];
    return chosen;
  }

  /// Draws a node but for what it refers to.
  void node(Frame &frame, Reference reference, int64_t budget, DrawRange depth) {
    frame.result = reference.value;
    frame.drawn.data = reference.data;
    frame.drawn.kind = constructor(reference.data, budget, depth);
    const std::vector<FieldInfo> &fields = model_.datas[reference.data].constructors[frame.drawn.kind].fields;
    int64_t left = budget - sizes_.ctor_least[reference.data][frame.drawn.kind], each = 0;
    for (const FieldInfo &field : fields)
      each += needed_by_lists(field.type);
    if (heights_) // what the longest way down needs is not for lists
      left = std::max(left - 3 * (depth.least - 1), std::min(left, each));
    below_ = depth.most - 1;
    int32_t most = each == 0 ? most_numbers(options_.most_elements) : options_.most_elements;
    int64_t length = list_length(most, left, each, false);
    for (const FieldInfo &field : fields)
      frame.drawn.fields.push_back(
          skeleton_of(field.type, options_.most_elements, length, left, each, false));
    frame.drawn.given.assign(fields.size(), true);
    std::vector<Reference> references;
    for (Value &field : frame.drawn.fields)
      collect(field, references);
    begin(frame, std::move(references), budget - 1, {std::max<int64_t>(depth.least - 1, 1), depth.most - 1});
  }

  /// Numbers a node whose children are drawn.
  void finish(Frame &frame) {
    int64_t height = 1;
    for (const Reference &reference : frame.references)
      height = std::max(height, 1 + height_[reference.value->number]);
    int32_t index = static_cast<int32_t>(instance_.nodes.size());
    frame.result->number = index;
    made_[frame.drawn.data].push_back(index);
    height_.push_back(height);
    instance_.nodes.push_back(std::move(frame.drawn));
  }

  /// A few nodes that nothing refers to.
  void add_stray() {
    int32_t data = instance_.nodes[random_.below(static_cast<int64_t>(instance_.nodes.size()))].data;
    Value unused;
    std::vector<Frame> stack(1);
    node(stack.back(), {&unused, data}, sizes_.least[data] + random_.below(4), {1, never});
    draw_below(std::move(stack));
  }

  /// Lets one in six references lead to any node of its type.
  void bend(Value &value) {
    if (value.kind == Value::Kind::Node && random_.below(6) == 0) {
      const std::vector<int32_t> &made = made_[instance_.nodes[static_cast<size_t>(value.number)].data];
      value.number = made[random_.below(static_cast<int64_t>(made.size()))];
    }
    for (Value &element : value.elements)
      bend(element);
  }

  /// Renumbers the nodes at random, which makes references go forward too.
  void permute() {
    size_t n = instance_.nodes.size();
    std::vector<int32_t> new_number(n);
    std::iota(new_number.begin(), new_number.end(), 0);
    for (size_t i = n; i > 1; --i)
      std::swap(new_number[i - 1], new_number[random_.below(static_cast<int64_t>(i))]);
    std::vector<Instance::Node> nodes(n);
    for (size_t i = 0; i < n; ++i) {
      for (Value &field : instance_.nodes[i].fields)
        renumber(field, new_number);
      nodes[new_number[i]] = std::move(instance_.nodes[i]);
    }
    for (Value &arg : instance_.args)
      renumber(arg, new_number);
    instance_.nodes = std::move(nodes);
  }
  static void renumber(Value &value, const std::vector<int32_t> &new_number) {
    if (value.kind == Value::Kind::Node)
      value.number = new_number[static_cast<size_t>(value.number)];
    for (Value &element : value.elements)
      renumber(element, new_number);
  }

  const ModelInfo &model_;
  const EntryInfo &entry_;
  const DrawOptions &options_;
  io::Random random_;
  Sizes sizes_;
  Sizes filled_sizes_;           ///< where no list is empty; only `ctor_least` is of use
  std::optional<Sizes> heights_; ///< where a depth is asked for
  Instance instance_;
  std::vector<std::vector<int32_t>> made_;  ///< nodes of each data type
  std::vector<std::vector<int>> uses_;      ///< of each constructor
  std::vector<int64_t> height_;             ///< of each node: nodes on the longest way down
  int64_t nodes_ = 0, depth_ = 0;           ///< see nodes() and depth()
  int64_t below_ = never;                   ///< nodes that ways down from a field may have
  int32_t most_numbers_ = 0, most_arg_ = 0; ///< elements of lists of numbers in fields, and of arguments
  int inside_ = 0;                          ///< lists around the one that is drawn
  bool equal_ = false, filled_ = false, negative_ = false;
  int share_ = 0; ///< percent
  Split split_ = Split::Even;
};

} // namespace

/// How far a size is from what is asked for.
static int64_t away(int64_t size, const std::optional<DrawRange> &asked) {
  return asked ? std::max<int64_t>({asked->least - size, size - asked->most, 0}) : 0;
}

static std::string words(const char *what, const std::optional<DrawRange> &asked, int64_t nearest) {
  return std::string(what) + " in " + std::to_string(asked->least) + ".." + std::to_string(asked->most) +
         " (the nearest drawn has " + std::to_string(nearest) + ")";
}

Status draw_instance(const ModelInfo &model, const EntryInfo &entry, uint64_t seed, uint64_t number,
                     Instance &instance, const DrawOptions &options) {
  return io::guarded([&]() -> Status {
    int64_t nearest = std::numeric_limits<int64_t>::max(), nodes = 0, depth = 0;
    for (uint64_t attempt = 0; attempt < kTries; ++attempt) {
      Drawer drawer(model, entry, seed, number + (attempt << 40), options);
      if (Status status = drawer.draw(instance); !status.ok())
        return status;
      int64_t off = away(drawer.nodes(), options.nodes) + away(drawer.depth(), options.depth);
      if (off == 0)
        return Status();
      if (off < nearest)
        nearest = off, nodes = drawer.nodes(), depth = drawer.depth();
    }
    std::string sizes = away(nodes, options.nodes) ? words("nodes", options.nodes, nodes) : "";
    if (away(depth, options.depth))
      sizes += (sizes.empty() ? "" : " and ") + words("depth", options.depth, depth);
    return Status::error(Code::bad_input,
                         model.name + ": no input of `" + entry.name + "` was drawn with " + sizes);
  });
}

} // namespace dbc
