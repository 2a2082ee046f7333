// Structure functions: calls inside and outside of a group, rows of index sets, what makes an input fail, steps in levels.
// RUN: dbc-codegen-test %S/Inputs/tree_lstm.mlir | FileCheck %s --check-prefix TREE
// RUN: dbc-codegen-test %S/Inputs/documents.mlir | FileCheck %s --check-prefix DOC

// A call inside the group is an edge; from outside the instance is visited.
// TREE-LABEL: void Plan::need_g0(int32_t cell, int32_t slot) {
// TREE-NEXT:    g0.discover(cell, slot, [this](int32_t, int32_t inner) { calls_encode(inner); });
// TREE-LABEL: void Plan::roots(
// TREE:         if (!given_argument_0.has(input))
// TREE-NEXT:      return errors->missing(1, input, batch->arg_column(0, 0));
// TREE-NEXT:    need_g0(0, t[input]);
// TREE-LABEL: void Plan::calls_encode(int32_t node) {
// TREE-NEXT:    if (Tree_kind[node] == 1) {
// TREE-NEXT:      if (!given_Tree_2.has(node))
// TREE-NEXT:        return errors->missing(0, node, 2);
// TREE-NEXT:      g0.call(0, Tree_left[node]);

// A stage over an index set that runs by level runs that level's rows.
// TREE-LABEL: void Plan::compute(dbc::Run &run) {
// TREE:         for (int32_t level = 0; level < g0.levels(); ++level) {
// TREE:           launch(1, encode_Node.time_steps.begin[level], encode_Node.time_steps.begin[level + 1]);

// Steps of a scan that stands in no other loop; the parameter of the model's stage is read once.
// DOC-LABEL: void Plan::schedule(dbc::Run &run) {
// DOC:         once.once(inputs.rows());
// DOC-NEXT:    dbc::make_steps(step_rows, once, 4);
// DOC-LABEL: void Plan::compute(dbc::Run &run) {
// DOC:         for (int32_t step = 0; step < step_rows.time_steps.count; ++step) {
// DOC-NEXT:      // next
// DOC-NEXT:      launch(1, step_rows.time_steps.begin[step], step_rows.time_steps.begin[step + 1]);

// nodes(t) follows all references of all data types.
// DOC-LABEL: void Plan::see_fields(int32_t data, int32_t node) {
// DOC:         // words
// DOC:           node_set.see(1, given.i32[e0]);
// DOC:         // friends
// DOC:           node_set.see(0, given.i32[e0]);

// Checked arithmetic names the operator, the location in the source and the numbers.
// DOC-LABEL: void Plan::index(
// DOC:         return errors->error(2, {{.*}}, dbc::ErrorKind::empty, "documents.dyn:9:3", "max");
// DOC:         if (!dbc::checked_add([[SUM:.*]], Doc_links[k], &[[N:.*]]))
// DOC-NEXT:      return errors->error(2, {{.*}}, dbc::ErrorKind::overflow, "documents.dyn:9:5", "+", [[SUM]], Doc_links[k]);

// Buffers of one storage share memory, and are then not said to be disjoint.
// DOC-LABEL: void compute(
// DOC:         real *other = plan.other;
// DOC-LABEL: void Plan::compute(dbc::Run &run) {
// DOC:         real *shared2 = run.buffer<real>(2, size_t(inputs.rows()) * 2);
// DOC-NEXT:    scaled = shared2;
// DOC-NEXT:    other = shared2;
