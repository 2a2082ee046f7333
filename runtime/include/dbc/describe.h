// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How the source file of a compiled model puts its ModelInfo together. Functions, not constructors: what is
// called once is not inlined, which would be up to a third of what the C++ compiler has to do for a model.
#pragma once

#include <dbc/model_info.h>

#include <initializer_list>

namespace dbc::types {

/// A scalar, or a tensor of these extents.
TypeInfo value(Elem elem, std::initializer_list<int64_t> extents = {});
/// The same of indices below `bound`.
TypeInfo index(int32_t bound, std::initializer_list<int64_t> extents = {});
/// A node of a data type, by its number.
TypeInfo node(int32_t data);
TypeInfo list(TypeInfo element);
TypeInfo tuple(std::initializer_list<TypeInfo> elements);
TypeInfo record(const char *name, std::initializer_list<const char *> names,
                std::initializer_list<TypeInfo> elements);

void add_data(ModelInfo &model, const char *name, int32_t columns);
/// Of the data type that was added last.
void add_constructor(ModelInfo &model, const char *name, std::initializer_list<FieldInfo> fields);
FieldInfo field(const char *name, TypeInfo type, int32_t column);

InitInfo init(InitInfo::Kind kind, double a, double b);
void add_parameter(ModelInfo &model, const char *path, std::initializer_list<int64_t> extents,
                   const InitInfo &init, bool is_const);

void add_entry(ModelInfo &model, const char *name, bool is_loss, TypeInfo result);
/// Of the entry that was added last.
void add_argument(ModelInfo &model, const char *name, TypeInfo type);

} // namespace dbc::types
