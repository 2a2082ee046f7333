// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_COLLECTOR_H
#define DBC_FRONTEND_COLLECTOR_H

#include "frontend/check/Scopes.h"

namespace dbc::frontend {

/// Enters what each file declares into the scopes, before anything of it is resolved.
class Collector : CheckerBase {
public:
  /// `main` is the model.
  Collector(CheckedProgram &out, Reporter &reporter, Scopes &scopes, const File &main)
      : CheckerBase(out, reporter), scopes_(scopes), main_(main) {}

  void collectFile(File &file);

  /// What a declaration that was collected stands for.
  DataInfo &infoOf(const DataDecl &decl) { return *datas_.at(&decl); }
  RecordInfo &infoOf(const RecordDecl &decl) { return *records_.at(&decl); }
  LayerInfo &infoOf(const LayerDecl &decl) { return *layers_.at(&decl); }
  FuncInfo &infoOf(const FuncDecl &decl) { return *funcs_.at(&decl); }

private:
  void collectDecl(Decl &decl, const File &file, LayerInfo *layer);
  void collectData(DataDecl &decl, Binding &binding);
  void collectRecord(RecordDecl &decl, Binding &binding, const File &file);
  void collectLayer(LayerDecl &decl, Binding &binding, const File &file);
  void collectFunc(FuncDecl &decl, Binding &binding, const File &file, LayerInfo *layer);
  /// Creates the dims of a record, layer or fn and enters them in `names`.
  void declareDims(const std::vector<Ident> &dims, std::vector<const DimVar *> &infos, Names &names);

  Scopes &scopes_;
  const File &main_;
  std::map<const DataDecl *, DataInfo *> datas_;
  std::map<const RecordDecl *, RecordInfo *> records_;
  std::map<const LayerDecl *, LayerInfo *> layers_;
  std::map<const FuncDecl *, FuncInfo *> funcs_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_COLLECTOR_H
