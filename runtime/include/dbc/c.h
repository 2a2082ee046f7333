// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The runtime for C11. `dbc compile --c-interface` writes <model>_c.h, in which the functions below have the
// model's names; a program includes that and links the model and dbc_runtime (C++'s library comes along: link
// with the C++ compiler).
//
// Handles are opaque. Who makes one by `_new` frees it by `_free`, which takes null; `_new` gives null where
// there is no memory, or for a null argument. What a handle is made of must outlive it. A handle is for one
// thread at a time; a model that is made is read only and may be shared by any number of sessions and
// threads. Nothing is thrown and nothing is kept but in handles.
//
// A null handle is a wrong call like others: DBC_BAD_CALL, null, or 0. Mistakes while a batch is filled come
// out of the next run, as in C++.
#ifndef DBC_C_H
#define DBC_C_H

#include <dbc/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What kind of failure a status tells of; as dbc::Code.
typedef enum dbc_status_code {
  DBC_OK,
  DBC_BAD_INPUT,   ///< the application's structure or arguments are wrong; concerns one input of a batch
  DBC_BAD_WEIGHTS, ///< a parameter is missing, or has the wrong shape or type
  DBC_BAD_CALL,    ///< the interface was used wrongly
  DBC_LIMIT,       ///< no memory, or more than 2^31 - 1 rows
  DBC_IO,          ///< a file could not be read or written
  DBC_INTERNAL     ///< a mistake in dbc
} dbc_status_code;

/// Success, or one failure in words.
typedef struct dbc_status {
  dbc_status_code code;
  int32_t input; ///< the input's number in the batch, or -1
  int32_t node;  ///< the node's number in its input, or -1
  const char
      *message; ///< belongs to the handle of the call, until the next call with it; "" where all is well
} dbc_status;

typedef struct dbc_model_code dbc_model_code; ///< a compiled model: what `dbc_code_<model>()` gives
typedef struct dbc_weights dbc_weights;
typedef struct dbc_model dbc_model;
typedef struct dbc_batch dbc_batch;
typedef struct dbc_session dbc_session;

//===-- Weights: all parameters in float, row-major, yours to fill
//-----------------------------------------------------===//

dbc_weights *dbc_weights_new(const dbc_model_code *code);
void dbc_weights_free(dbc_weights *weights);
/// Draws every parameter by its initialiser; the same on every machine.
dbc_status dbc_weights_draw(dbc_weights *weights, uint64_t seed);
/// Reads a safetensors file, strictly. Of the library dbc_runtime_io.
dbc_status dbc_weights_load(dbc_weights *weights, const char *path);
/// Writes one.
dbc_status dbc_weights_save(dbc_weights *weights, const char *path);
/// The number of the parameter of a path ("fwd.W"), or -1.
int32_t dbc_weights_find(const dbc_weights *weights, const char *path);
/// How many numbers a parameter has; 0 where there is none.
size_t dbc_weights_size(const dbc_weights *weights, int32_t param);
/// Its numbers, to be changed; null where there is none.
float *dbc_weights_data(dbc_weights *weights, int32_t param);
/// Says that a parameter was filled through dbc_weights_data.
void dbc_weights_mark_given(dbc_weights *weights, int32_t param);

//===-- Models: a snapshot of weights in the form that stages read
//------------------------------------------------------===//

dbc_model *dbc_model_new(void);
void dbc_model_free(dbc_model *model);
/// Packs the weights, which are copied. Fails with DBC_BAD_WEIGHTS, naming all parameters that are not given.
dbc_status dbc_model_make(dbc_model *model, const dbc_model_code *code, const dbc_weights *weights);
/// Takes over what weights have become. Nothing may read the model meanwhile.
dbc_status dbc_model_renew(dbc_model *model, const dbc_weights *weights);

//===-- Batches: the inputs of a run
//------------------------------------------------------------------------------------===//
//
// Tables 0, 1, .. are the model's data types, dbc_batch_args() is that of arguments; a row is a node's
// number, or an input's.

dbc_batch *dbc_batch_new(const dbc_model_code *code);
void dbc_batch_free(dbc_batch *batch);
/// Forgets all inputs, and keeps the memory.
void dbc_batch_clear(dbc_batch *batch);
/// Starts the next input: nodes that are added and arguments that are set from here on are its own. Returns
/// its number.
int32_t dbc_batch_begin_input(dbc_batch *batch);
int32_t dbc_batch_inputs(const dbc_batch *batch);
/// Adds a node to the newest input; returns its number, -1 where the call was wrong.
int32_t dbc_batch_add_node(dbc_batch *batch, int32_t data, int32_t constructor);
int32_t dbc_batch_args(const dbc_batch *batch);
/// The column in dbc_batch_args() of a component of an entry's arguments; -1: there is none.
int32_t dbc_batch_arg_column(const dbc_batch *batch, int32_t entry, int32_t component);

/// One value: a number, a node by its number, a tensor of `count` numbers.
void dbc_batch_set_int(dbc_batch *batch, int32_t table, int32_t row, int32_t column, int32_t value);
void dbc_batch_set_bool(dbc_batch *batch, int32_t table, int32_t row, int32_t column, bool value);
void dbc_batch_set_node(dbc_batch *batch, int32_t table, int32_t row, int32_t column, int32_t node);
void dbc_batch_set_f32(dbc_batch *batch, int32_t table, int32_t row, int32_t column, float value);
void dbc_batch_set_ints(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const int32_t *values,
                        size_t count);
void dbc_batch_set_bools(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const uint8_t *values,
                         size_t count);
void dbc_batch_set_f32s(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const float *values,
                        size_t count);
/// A list: the numbers of all elements one after the other, `count` in all; of nodes, their numbers.
void dbc_batch_list_ints(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const int32_t *values,
                         size_t count);
void dbc_batch_list_bools(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const uint8_t *values,
                          size_t count);
void dbc_batch_list_f32s(dbc_batch *batch, int32_t table, int32_t row, int32_t column, const float *values,
                         size_t count);
/// Lists of lists, as they are read: open once for each level, push the elements into the innermost, one by
/// one, and close what was opened. `count` numbers are those of ONE element: 1 where elements are numbers.
void dbc_batch_open_list(dbc_batch *batch, int32_t table, int32_t row, int32_t column);
void dbc_batch_push_ints(dbc_batch *batch, const int32_t *values, size_t count);
void dbc_batch_push_bools(dbc_batch *batch, const uint8_t *values, size_t count);
void dbc_batch_push_f32s(dbc_batch *batch, const float *values, size_t count);
void dbc_batch_close_list(dbc_batch *batch);

/// Flat arrays in place of all that, borrowed until the batch is cleared: first the inputs, then each table's
/// nodes (`kinds`, the constructor of each, null where the type has one; `begin`, the first node of each
/// input, then `count`), then columns. Of lists first the offsets, outermost level 0: one number more than
/// there are lists. Returns the last one.
void dbc_batch_borrow_inputs(dbc_batch *batch, int32_t inputs);
bool dbc_batch_borrow_nodes(dbc_batch *batch, int32_t data, const uint8_t *kinds, int32_t count,
                            const int32_t *begin);
size_t dbc_batch_borrow_offsets(dbc_batch *batch, int32_t table, int32_t column, int32_t level,
                                const int32_t *offsets, size_t count);
void dbc_batch_borrow_ints(dbc_batch *batch, int32_t table, int32_t column, const int32_t *values,
                           size_t count);
void dbc_batch_borrow_bools(dbc_batch *batch, int32_t table, int32_t column, const uint8_t *values,
                            size_t count);
void dbc_batch_borrow_f32s(dbc_batch *batch, int32_t table, int32_t column, const float *values,
                           size_t count);

//===-- Sessions: one thread's runs and results
//-------------------------------------------------------------------------===//

/// `threads` workers, the caller being one: 1 to 1024, else runs fail with DBC_BAD_CALL.
dbc_session *dbc_session_new(const dbc_model *model, int32_t threads);
void dbc_session_free(dbc_session *session);
/// Runs an entry or loss. The status tells of the run as a whole; for single inputs ask dbc_session_status.
dbc_status dbc_session_run(dbc_session *session, int32_t entry, dbc_batch *batch);
/// Of an input in the last run. The message is valid until the next run; of an input that the run did not
/// have, until the calling thread asks again.
dbc_status dbc_session_status(const dbc_session *session, int32_t input);
/// Number of inputs of the last run that failed.
int32_t dbc_session_failed(const dbc_session *session);
/// Whether runs from now on compute once what nodes of a batch have in common (dbc::Session::share_subtrees).
void dbc_session_share_subtrees(dbc_session *session, bool on);

/// A component of an input's result: its first number, valid until the next run of the entry; null where it
/// is not there, as before the first run. An input that failed has zeros. f64: of a model compiled with
/// --real f64; i32: integers, bools 0 and 1, and nodes by their number.
const float *dbc_session_f32(const dbc_session *session, int32_t entry, int32_t component, int32_t input);
const double *dbc_session_f64(const dbc_session *session, int32_t entry, int32_t component, int32_t input);
const int32_t *dbc_session_i32(const dbc_session *session, int32_t entry, int32_t component, int32_t input);
/// Of a component that is a list: how many elements the list of an input has, and element `i` of it; null
/// behind the last.
int32_t dbc_session_length(const dbc_session *session, int32_t entry, int32_t component, int32_t input);
const float *dbc_session_f32_at(const dbc_session *session, int32_t entry, int32_t component, int32_t input,
                                int32_t i);
const double *dbc_session_f64_at(const dbc_session *session, int32_t entry, int32_t component, int32_t input,
                                 int32_t i);
const int32_t *dbc_session_i32_at(const dbc_session *session, int32_t entry, int32_t component, int32_t input,
                                  int32_t i);
/// Where the lists of a depth begin and end: list i is offsets[i] .. offsets[i + 1] - 1; depth 0 has a list
/// for each input.
const int32_t *dbc_session_offsets(const dbc_session *session, int32_t entry, int32_t component,
                                   int32_t depth);
/// All numbers of a component, of lists those of all elements; null where there are none, and of another
/// type.
const float *dbc_session_all_f32(const dbc_session *session, int32_t entry, int32_t component);
const double *dbc_session_all_f64(const dbc_session *session, int32_t entry, int32_t component);
const int32_t *dbc_session_all_i32(const dbc_session *session, int32_t entry, int32_t component);

/// The gradient of a parameter by the last run of a loss, of the sum over inputs of weight times loss:
/// `count` numbers. Of a table of which rows were looked up, those of the rows that dbc_session_gradient_rows
/// lists, one after the other. Null where there is none.
const float *dbc_session_gradient_f32(const dbc_session *session, int32_t loss, int32_t param, size_t *count);
const double *dbc_session_gradient_f64(const dbc_session *session, int32_t loss, int32_t param,
                                       size_t *count);
/// The rows of a sparse gradient, ascending; null, and 0 rows, of one that is dense.
const int32_t *dbc_session_gradient_rows(const dbc_session *session, int32_t loss, int32_t param,
                                         int32_t *rows);
/// In gradients of runs from now on the loss of input i counts weights[i] times; 1 / inputs by default.
/// Copied.
void dbc_session_weigh_losses(dbc_session *session, const float *weights, int32_t inputs);
/// Whether losses give gradients in runs from now on, as by default, or their values alone.
void dbc_session_give_gradients(dbc_session *session, bool on);
/// The seed of dropout in losses, and the step of the next run of one.
void dbc_session_set_dropout(dbc_session *session, uint64_t seed, int64_t step);
/// Whether losses drop in runs from now on, as by default.
void dbc_session_drop_elements(dbc_session *session, bool on);

#ifdef __cplusplus
}
#endif

#endif // DBC_C_H
