// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "DrawSizes.h"

#include <algorithm>

namespace dbc::io {

Sizes::Sizes(const ModelInfo &model, int64_t fewest, int64_t elements, Of of)
    : least(model.datas.size(), never), most(model.datas.size(), 0), ctor_least(model.datas.size()),
      ctor_most(model.datas.size()), fewest_(fewest), elements_(elements), of_(of) {
  // Each round is right for trees one level higher. What is finite is done after n rounds; what grows still
  // is recursive and has no largest value, and so has what refers to it.
  const size_t n = model.datas.size();
  for (size_t k = 0; k < 2 * n + 2; ++k) {
    const std::vector<int64_t> old_least = least, old_most = most;
    round(model, old_most);
    if (k == n)
      for (size_t d = 0; d < n; ++d)
        if (most[d] > old_most[d])
          most[d] = never;
    if (least == old_least && most == old_most)
      break;
  }
}

void Sizes::round(const ModelInfo &model, const std::vector<int64_t> &old_most) {
  for (size_t d = 0; d < model.datas.size(); ++d) {
    const auto &constructors = model.datas[d].constructors;
    ctor_least[d].assign(constructors.size(), 1);
    ctor_most[d].assign(constructors.size(), 1);
    for (size_t c = 0; c < constructors.size(); ++c) {
      for (const FieldInfo &field : constructors[c].fields)
        count(field.type, old_most, ctor_least[d][c], ctor_most[d][c]);
      least[d] = std::min(least[d], ctor_least[d][c]);
      if (ctor_least[d][c] < never)
        most[d] = std::max(most[d], ctor_most[d][c]);
    }
  }
}

/// Adds what a field's references come to.
void Sizes::count(const TypeInfo &field, const std::vector<int64_t> &old_most, int64_t &low,
                  int64_t &high) const {
  const TypeInfo *type = &field;
  int64_t few = 1, many = 1;
  for (; type->form == TypeInfo::Form::List; type = &type->elements[0]) {
    few *= fewest_;
    many = std::min(never, many * elements_);
  }
  if (type->elem != Elem::Node)
    return;
  const bool finite = least[type->data] < never;
  if (of_ == Of::Ways) {
    low = std::max(low, few ? std::min(never, 1 + least[type->data]) : 0);
    if (many && finite)
      high = std::max(high, std::min(never, 1 + old_most[type->data]));
    return;
  }
  low = std::min(never, low + few * least[type->data]);
  if (finite)
    high = std::min(never, high + many * old_most[type->data]);
}

} // namespace dbc::io
