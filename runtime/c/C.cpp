// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The interface for C (dbc/c.h), function by function.
#include "Handles.h"

using namespace dbc;
using namespace dbc::c;

// The numbers of dbc::Code.
static_assert(int(Code::bad_input) == DBC_BAD_INPUT && int(Code::bad_weights) == DBC_BAD_WEIGHTS &&
              int(Code::bad_call) == DBC_BAD_CALL && int(Code::limit) == DBC_LIMIT &&
              int(Code::io) == DBC_IO && int(Code::internal) == DBC_INTERNAL);

/// A new handle, or null without memory.
template <class Handle, class... Arguments> static Handle *make(Arguments &&...arguments) noexcept {
  try {
    return new Handle(std::forward<Arguments>(arguments)...);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

static const ModelCode *codeOf(const dbc_model_code *code) {
  return reinterpret_cast<const ModelCode *>(code);
}

//===-- Weights and models
//----------------------------------------------------------------------------------===//

dbc_weights *dbc_weights_new(const dbc_model_code *code) {
  return code ? make<dbc_weights>(*codeOf(code)->info) : nullptr;
}
void dbc_weights_free(dbc_weights *weights) { delete weights; }
dbc_status dbc_weights_draw(dbc_weights *weights, uint64_t seed) {
  return kept(weights, [&] {
    weights->weights.draw(seed);
    return Status();
  });
}
int32_t dbc_weights_find(const dbc_weights *weights, const char *path) {
  return weights && path ? weights->weights.find(path) : -1;
}
size_t dbc_weights_size(const dbc_weights *weights, int32_t param) {
  return weights ? weights->weights.size(param) : 0;
}
float *dbc_weights_data(dbc_weights *weights, int32_t param) {
  return weights ? weights->weights.data(param) : nullptr;
}
void dbc_weights_mark_given(dbc_weights *weights, int32_t param) {
  if (weights)
    weights->weights.mark_given(param);
}

dbc_model *dbc_model_new(void) { return make<dbc_model>(); }
void dbc_model_free(dbc_model *model) { delete model; }
dbc_status dbc_model_make(dbc_model *model, const dbc_model_code *code, const dbc_weights *weights) {
  if (!code || !weights)
    return nullHandle();
  return kept(model, [&] { return Model::make(*codeOf(code), weights->weights, &model->model); });
}
dbc_status dbc_model_renew(dbc_model *model, const dbc_weights *weights) {
  if (!weights)
    return nullHandle();
  return kept(model, [&] { return model->model.renew(weights->weights); });
}

//===-- Batches
//---------------------------------------------------------------------------------------------===//

dbc_batch *dbc_batch_new(const dbc_model_code *code) {
  return code ? make<dbc_batch>(*codeOf(code)->info) : nullptr;
}
void dbc_batch_free(dbc_batch *batch) { delete batch; }
void dbc_batch_clear(dbc_batch *batch) {
  if (batch)
    batch->batch.clear();
}
int32_t dbc_batch_begin_input(dbc_batch *batch) { return batch ? batch->batch.begin_input() : -1; }
int32_t dbc_batch_inputs(const dbc_batch *batch) { return batch ? batch->batch.inputs() : 0; }
int32_t dbc_batch_add_node(dbc_batch *batch, int32_t data, int32_t constructor) {
  return batch ? batch->batch.add_node(data, constructor) : -1;
}
int32_t dbc_batch_args(const dbc_batch *batch) { return batch ? batch->batch.args() : -1; }
int32_t dbc_batch_arg_column(const dbc_batch *batch, int32_t entry, int32_t component) {
  return batch ? batch->batch.arg_column(entry, component) : -1;
}

void dbc_batch_set_int(dbc_batch *batch, int32_t table, int32_t row, int32_t column, int32_t value) {
  if (batch)
    batch->batch.set_int(table, row, column, value);
}
void dbc_batch_set_bool(dbc_batch *batch, int32_t table, int32_t row, int32_t column, bool value) {
  if (batch)
    batch->batch.set_bool(table, row, column, value);
}
void dbc_batch_set_node(dbc_batch *batch, int32_t table, int32_t row, int32_t column, int32_t node) {
  if (batch)
    batch->batch.set_node(table, row, column, node);
}
void dbc_batch_set_f32(dbc_batch *batch, int32_t table, int32_t row, int32_t column, float value) {
  if (batch)
    batch->batch.set_f32(table, row, column, value);
}
void dbc_batch_set_ints(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const int32_t *values,
                        size_t count) {
  if (batch)
    batch->batch.set_ints(table, row, column, values, count);
}
void dbc_batch_set_bools(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const uint8_t *values,
                         size_t count) {
  if (batch)
    batch->batch.set_bools(table, row, column, values, count);
}
void dbc_batch_set_f32s(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const float *values,
                        size_t count) {
  if (batch)
    batch->batch.set_f32s(table, row, column, values, count);
}
void dbc_batch_list_ints(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const int32_t *values,
                         size_t count) {
  if (batch)
    batch->batch.set_list(table, row, column, values, count);
}
void dbc_batch_list_bools(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const uint8_t *values,
                          size_t count) {
  if (batch)
    batch->batch.set_list(table, row, column, values, count);
}
void dbc_batch_list_f32s(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const float *values,
                         size_t count) {
  if (batch)
    batch->batch.set_list(table, row, column, values, count);
}
void dbc_batch_open_list(dbc_batch *batch, int32_t table, int32_t row, int32_t column) {
  if (batch)
    batch->batch.open_list(table, row, column);
}
void dbc_batch_push_ints(dbc_batch *batch, const int32_t *values, size_t count) {
  if (batch)
    batch->batch.push_ints(values, count);
}
void dbc_batch_push_bools(dbc_batch *batch, const uint8_t *values, size_t count) {
  if (batch)
    batch->batch.push_bools(values, count);
}
void dbc_batch_push_f32s(dbc_batch *batch, const float *values, size_t count) {
  if (batch)
    batch->batch.push_f32s(values, count);
}
void dbc_batch_close_list(dbc_batch *batch) {
  if (batch)
    batch->batch.close_list();
}

void dbc_batch_borrow_inputs(dbc_batch *batch, int32_t inputs) {
  if (batch)
    batch->batch.borrow_inputs(inputs);
}
bool dbc_batch_borrow_nodes(dbc_batch *batch, int32_t data, const uint8_t *kinds, int32_t count,
                            const int32_t *begin) {
  return batch && batch->batch.borrow_nodes(data, kinds, count, begin);
}
size_t dbc_batch_borrow_offsets(dbc_batch *batch, int32_t table, int32_t column, int32_t level,
                                const int32_t *offsets, size_t count) {
  return batch ? batch->batch.borrow_offsets(table, column, level, offsets, count) : 0;
}
void dbc_batch_borrow_ints(dbc_batch *batch, int32_t table, int32_t column, const int32_t *values,
                           size_t count) {
  if (batch)
    batch->batch.borrow_ints(table, column, values, count);
}
void dbc_batch_borrow_bools(dbc_batch *batch, int32_t table, int32_t column, const uint8_t *values,
                            size_t count) {
  if (batch)
    batch->batch.borrow_bools(table, column, values, count);
}
void dbc_batch_borrow_f32s(dbc_batch *batch, int32_t table, int32_t column, const float *values,
                           size_t count) {
  if (batch)
    batch->batch.borrow_f32s(table, column, values, count);
}

//===-- Sessions
//--------------------------------------------------------------------------------------------===//

dbc_session *dbc_session_new(const dbc_model *model, int32_t threads) {
  return model ? make<dbc_session>(model->model, threads) : nullptr;
}
void dbc_session_free(dbc_session *session) { delete session; }
dbc_status dbc_session_run(dbc_session *session, int32_t entry, dbc_batch *batch) {
  if (!batch)
    return nullHandle();
  return kept(session, [&] { return session->session.run(entry, batch->batch); });
}
dbc_status dbc_session_status(const dbc_session *session, int32_t input) {
  return session ? statusOf(session->session.status(input)) : nullHandle();
}
int32_t dbc_session_failed(const dbc_session *session) { return session ? session->session.failed() : 0; }
void dbc_session_share_subtrees(dbc_session *session, bool on) {
  if (session)
    session->session.share_subtrees(on);
}

/// Where the numbers of an input's component begin that is no list.
template <class Number>
static const Number *ofInput(const dbc_session *session, int32_t entry, int32_t component, int32_t input) {
  if (!session)
    return nullptr;
  const Outputs &outputs = session->session.outputs(entry);
  const Number *numbers = outputs.numbers<Number>(component);
  if (!numbers || input < 0 || input >= outputs.inputs() || outputs.component(component).info.depth != 0)
    return nullptr;
  return numbers + input * outputs.component(component).info.extent;
}
/// Where an element of an input's list begins, of one that is a list of values.
template <class Number>
static const Number *ofElement(const dbc_session *session, int32_t entry, int32_t component, int32_t input,
                               int32_t i) {
  if (i < 0 || i >= dbc_session_length(session, entry, component, input))
    return nullptr;
  const Outputs &outputs = session->session.outputs(entry);
  const Number *numbers = outputs.numbers<Number>(component);
  if (!numbers || outputs.component(component).info.depth != 1)
    return nullptr;
  return numbers +
         (int64_t(outputs.offsets(component, 0)[input]) + i) * outputs.component(component).info.extent;
}

const float *dbc_session_f32(const dbc_session *session, int32_t entry, int32_t component, int32_t input) {
  return ofInput<float>(session, entry, component, input);
}
const double *dbc_session_f64(const dbc_session *session, int32_t entry, int32_t component, int32_t input) {
  return ofInput<double>(session, entry, component, input);
}
const int32_t *dbc_session_i32(const dbc_session *session, int32_t entry, int32_t component, int32_t input) {
  return ofInput<int32_t>(session, entry, component, input);
}
int32_t dbc_session_length(const dbc_session *session, int32_t entry, int32_t component, int32_t input) {
  const int32_t *offsets = dbc_session_offsets(session, entry, component, 0);
  if (!offsets || input < 0 || input >= session->session.outputs(entry).inputs())
    return 0;
  return offsets[input + 1] - offsets[input];
}
const float *dbc_session_f32_at(const dbc_session *session, int32_t entry, int32_t component, int32_t input,
                                int32_t i) {
  return ofElement<float>(session, entry, component, input, i);
}
const double *dbc_session_f64_at(const dbc_session *session, int32_t entry, int32_t component, int32_t input,
                                 int32_t i) {
  return ofElement<double>(session, entry, component, input, i);
}
const int32_t *dbc_session_i32_at(const dbc_session *session, int32_t entry, int32_t component, int32_t input,
                                  int32_t i) {
  return ofElement<int32_t>(session, entry, component, input, i);
}
const int32_t *dbc_session_offsets(const dbc_session *session, int32_t entry, int32_t component,
                                   int32_t depth) {
  return session ? session->session.outputs(entry).offsets(component, depth) : nullptr;
}
const float *dbc_session_all_f32(const dbc_session *session, int32_t entry, int32_t component) {
  return session ? session->session.outputs(entry).f32(component) : nullptr;
}
const double *dbc_session_all_f64(const dbc_session *session, int32_t entry, int32_t component) {
  return session ? session->session.outputs(entry).f64(component) : nullptr;
}
const int32_t *dbc_session_all_i32(const dbc_session *session, int32_t entry, int32_t component) {
  return session ? session->session.outputs(entry).i32(component) : nullptr;
}

const float *dbc_session_gradient_f32(const dbc_session *session, int32_t loss, int32_t param,
                                      size_t *count) {
  if (count)
    *count = session ? session->session.outputs(loss).gradient_size(param) : 0;
  return session ? session->session.outputs(loss).gradient_f32(param) : nullptr;
}
const double *dbc_session_gradient_f64(const dbc_session *session, int32_t loss, int32_t param,
                                       size_t *count) {
  if (count)
    *count = session ? session->session.outputs(loss).gradient_size(param) : 0;
  return session ? session->session.outputs(loss).gradient_f64(param) : nullptr;
}
const int32_t *dbc_session_gradient_rows(const dbc_session *session, int32_t loss, int32_t param,
                                         int32_t *rows) {
  const GradientRows found = session ? session->session.outputs(loss).gradient_rows(param) : GradientRows();
  if (rows)
    *rows = found.count;
  return found.rows;
}
void dbc_session_weigh_losses(dbc_session *session, const float *weights, int32_t inputs) {
  if (session)
    session->session.weigh_losses(weights, inputs);
}
void dbc_session_give_gradients(dbc_session *session, bool on) {
  if (session)
    session->session.give_gradients(on);
}
void dbc_session_set_dropout(dbc_session *session, uint64_t seed, int64_t step) {
  if (session)
    session->session.set_dropout(seed, step);
}
void dbc_session_drop_elements(dbc_session *session, bool on) {
  if (session)
    session->session.drop_elements(on);
}
