// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/DimInference.h"

namespace dbc::frontend {

static void matchExtent(const Shape &declared, const Shape &actual, const std::set<const DimVar *> &dims,
                        DimMap &map) {
  const DimVar *dim = declared.singleDim();
  if (dim && dims.count(dim))
    map.emplace(dim, actual);
}

void DimInference::match(const Type *declared, const Type *actual, const std::set<const DimVar *> &dims,
                         DimMap &map) {
  if (declared->kind != actual->kind || dims.empty())
    return;
  switch (declared->kind) {
  case Type::Kind::Number:
    if (declared->rank() == actual->rank())
      for (size_t i = 0; i < declared->rank(); ++i)
        matchExtent(declared->extents[i], actual->extents[i], dims, map);
    if (declared->scalar == Scalar::Index && actual->scalar == Scalar::Index)
      matchExtent(declared->bound, actual->bound, dims, map);
    break;
  case Type::Kind::Record:
    if (declared->record == actual->record)
      for (size_t i = 0; i < declared->arguments.size(); ++i)
        matchExtent(declared->arguments[i], actual->arguments[i], dims, map);
    break;
  case Type::Kind::List:
    match(declared->element, actual->element, dims, map);
    break;
  case Type::Kind::Tuple:
    for (size_t i = 0; i < declared->elements.size() && i < actual->elements.size(); ++i)
      match(declared->elements[i], actual->elements[i], dims, map);
    break;
  default:
    break;
  }
}

void DimInference::checkInferable(const std::vector<const DimVar *> &dims,
                                  const std::vector<const Type *> &types, const std::string &what) {
  std::set<const DimVar *> own(dims.begin(), dims.end());
  DimMap found;
  bool known = true; // what a type with an error would have said is not asked for
  for (const Type *type : types) {
    match(type, type, own, found);
    known &= !type->isError();
  }
  for (const DimVar *dim : dims)
    if (!found.count(dim)) {
      notInferable_.insert(dim);
      if (!known)
        continue;
      error(dim->range,
            "no extent of " + what + " is just `" + dim->name +
                "`; its dims are taken from where they stand alone",
            "T5")
          .hint("leave `" + dim->name + "` out, or write an extent of its own");
    }
}

bool DimInference::requireAll(const std::vector<const DimVar *> &dims, const DimMap &map, SourceRange range,
                              const std::string &what) {
  bool fine = true;
  for (const DimVar *dim : dims) {
    if (map.count(dim))
      continue;
    fine = false;
    if (notInferable_.count(dim))
      continue;
    error(range, "the dim `" + dim->name + "` of " + what + " cannot be taken from what is given", "T5")
        .note(dim->range, "`" + dim->name + "` is declared here");
  }
  return fine;
}

} // namespace dbc::frontend
