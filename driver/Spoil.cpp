// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "driver/Spoil.h"
#include <random>

namespace dbc::driver {

namespace {

class Spoiler {
public:
  Spoiler(uint64_t seed, uint64_t number) : random_(seed * 1000003 + number), often_(2 + random_() % 4) {}

  void spoil(Value &value, const TypeInfo &type) {
    if (type.form == TypeInfo::Form::List) {
      if (!value.elements.empty() && seldom())
        value.elements.resize(random_() % value.elements.size());
      for (Value &element : value.elements)
        spoil(element, type.elements[0]);
    } else if (type.form != TypeInfo::Form::Value) {
      for (size_t i = 0; i < value.elements.size(); ++i)
        spoil(value.elements[i], type.elements[i]);
    } else if (type.elem == Elem::Int && type.extents.empty() && seldom()) {
      static constexpr double wrong[] = {-1, 0, 7, 1000, 2147483647, -2147483648.0};
      value.number = wrong[random_() % std::size(wrong)];
    }
  }

  void spoil(Instance::Node &node, const ConstructorInfo &constructor) {
    for (size_t f = 0; f < node.fields.size(); ++f) {
      spoil(node.fields[f], constructor.fields[f].type);
      if (random_() % 40 == 0)
        node.given[f] = false;
    }
  }

private:
  bool seldom() { return random_() % often_ == 0; }

  std::mt19937_64 random_;
  const uint64_t often_;
};

} // namespace

void spoil(const ModelInfo &model, const EntryInfo &entry, Instance &instance, uint64_t seed,
           uint64_t number) {
  Spoiler spoiler(seed, number);
  for (size_t i = 0; i < instance.args.size(); ++i)
    spoiler.spoil(instance.args[i], entry.args[i].type);
  for (Instance::Node &node : instance.nodes)
    spoiler.spoil(node, model.datas[node.data].constructors[node.kind]);
}

} // namespace dbc::driver
