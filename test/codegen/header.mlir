// The typed header: handles, builders, flat arrays, results, all in the model's names; two models in one program.
// RUN: rm -rf %t && dbc-codegen-test %S/Inputs/tree_lstm.mlir -o %t && dbc-codegen-test %S/Inputs/documents.mlir -o %t
// RUN: FileCheck %s --check-prefix TREE --input-file %t/tree_lstm.h
// RUN: FileCheck %s --check-prefix DOC --input-file %t/documents.h
// RUN: cat %t/tree_lstm.cpp %t/documents.cpp > %t/both.cpp
// RUN: %cxx -fsyntax-only -Wall -Wextra -Wpedantic -Werror -std=c++17 -I%root/runtime/include -I%t %t/both.cpp

// TREE: constexpr int64_t vocab = 100;
// TREE: constexpr int32_t E = 0; ///< `E`, 100 x 12
// TREE: struct Tree {
// TREE-NEXT: int32_t id = -1;
// TREE: class LeafBuilder {
// TREE: LeafBuilder &word(int32_t value) {
// TREE: NodeBuilder &left(::dbc::models::tree_lstm::Tree value) {
// TREE: struct TreeArrays {
// TREE: const uint8_t *kinds = nullptr; ///< 0 Leaf, 1 Node
// TREE: void sentiment(::dbc::models::tree_lstm::Tree t) {
// TREE: float *E() { return data(param::E); }
// TREE: using SentimentResult = dbc::Tensors<float, 5>;
// TREE: dbc::Status sentiment(Batch &batch) {

// Lists are views, lists of lists nested vectors; records of arguments come apart.
// DOC: DocBuilder &words(dbc::View<::dbc::models::documents::Word> values) {
// DOC: DocBuilder &links(const std::vector<std::vector<int32_t>> &lists) {
// DOC: WordBuilder &class_(int32_t value) {
// DOC: WordBuilder &vec(dbc::View<float> values) {
// DOC: const int32_t *links_offsets1 = nullptr; {{ *}}///< links_offsets[last] + 1
// DOC: void facts(::dbc::models::documents::Doc d, dbc::View<float> state_h, int32_t state_n,
// DOC-NEXT: dbc::View<int32_t> ids) {
// DOC: struct FactsResult {
// DOC: dbc::Tensors<float, 2> element2; ///< `2`
