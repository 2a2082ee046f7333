// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_NAMETYPER_H
#define DBC_FRONTEND_NAMETYPER_H

#include "frontend/check/Typer.h"

namespace dbc::frontend {

/// Names, members of nodes, records, layers and modules, and record literals.
class NameTyper : Typer {
public:
  NameTyper(const TypingContext &context, Inference &inference) : Typer(context, inference) {}

  const Type *inferName(NameExpr &expr);
  const Type *inferMember(MemberExpr &expr);
  const Type *inferRecord(RecordExpr &expr);

private:
  const Type *valueOfBinding(Expr &expr, Binding *binding);
  const Type *inferNodeField(MemberExpr &expr, const DataInfo &data);
  const Type *inferRecordField(MemberExpr &expr, const Type *record);
  const Type *inferLayerMember(MemberExpr &expr, const Type *layer);
  /// The dims of the record from the fields that are given; nothing after a report.
  std::optional<DimMap> dimsOfFields(RecordExpr &expr, const RecordInfo &record, SourceRange name);
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_NAMETYPER_H
