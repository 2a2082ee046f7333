// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Small pieces that only the source files of compiled models use: how they multiply, copy rows. How they
// describe themselves is in describe.h, how they run stages in launch.h.
#pragma once

#include <dbc/describe.h>
#include <dbc/distinct_rows.h>
#include <dbc/input_order.h>
#include <dbc/launch.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || __FINITE_MATH_ONLY__
#error                                                                                                       \
    "a compiled model takes no -ffast-math or -Ofast: its results would have other bits in each batch, and no NaN"
#endif

/// Stands before a loop whose iterations are independent.
#if defined(__clang__) || !defined(__GNUC__)
#define DBC_VECTOR
#else
#define DBC_VECTOR _Pragma("GCC ivdep")
#endif

namespace dbc {

// --- scheduling
// -----------------------------------------------------------------------------------------------------

/// Adds a row to an index set: one value an index array.
template <class... Values> inline void push(IndexSet &index_set, Values... values) {
  index_set.push(values...);
}

/// Room for `count` more rows of state; their first.
inline int32_t reserve(int32_t &rows, int32_t count) {
  int32_t first = rows;
  if (__builtin_add_overflow(rows, count, &rows))
    throw std::bad_alloc();
  return first;
}

// --- products, rows
// -----------------------------------------------------------------------------------------------------------

/// Products with one of several matrices a row: row i is multiplied with `panels_of(*tables[table[i]])`,
/// which says what of a matrix is wanted. Rows of one table go together; a row's bits do not depend on the
/// others.
template <class Real, int32_t Count, class PanelsOf>
inline void product_of_tables(int32_t rows, const Segment<Real> (&segments)[Count],
                              const Packed<Real> *const *tables, const int32_t *table, PanelsOf panels_of,
                              RowsOut<Real> y) {
  constexpr int32_t kMost = 64; // rows that are sorted at once: one bit each
  int32_t same[kMost], x_rows[Count][kMost], y_rows[kMost];
  Segment<Real> x[Count] = {};
  for (int32_t first = 0; first < rows; first += kMost) {
    const int32_t count = std::min(kMost, rows - first);
    for (uint64_t left = ~uint64_t(0) >> (kMost - count); left != 0;) {
      const int32_t number = table[first + __builtin_ctzll(left)];
      int32_t found = 0;
      for (int32_t i = __builtin_ctzll(left); i < count; ++i)
        if ((left >> i & 1) != 0 && table[first + i] == number) {
          left &= ~(uint64_t(1) << i);
          same[found++] = first + i;
        }
      for (int32_t s = 0; s < Count; ++s) {
        const Rows<Real> &all = segments[s].rows;
        for (int32_t i = 0; i < found; ++i)
          x_rows[s][i] = all.row ? all.row[same[i]] : same[i];
        x[s] = {{all.base, x_rows[s], all.stride}, segments[s].length};
      }
      for (int32_t i = 0; i < found; ++i)
        y_rows[i] = y.row ? y.row[same[i]] : same[i];
      product<Real>(found, x, Count, panels_of(*tables[number]), {y.base, y_rows, y.stride});
    }
  }
}

/// Products of rows that are zeros where `some`[i] is 0: there the result is the bias, without multiplying,
/// unless the matrix has elements that are not finite.
template <class Real>
inline void product_of_some(int32_t rows, Rows<Real> x, const int32_t *some, const Panels<Real> &w,
                            RowsOut<Real> y) {
  constexpr int32_t kMost = 64; // rows that are looked at together
  int32_t x_rows[kMost], y_rows[kMost];
  for (int32_t first = 0; first < rows; first += kMost) {
    int32_t found = 0;
    for (int32_t i = first; i < std::min(first + kMost, rows); ++i)
      if (some[i] != 0 || !w.finite) {
        x_rows[found] = x.row ? x.row[i] : i;
        y_rows[found++] = y.row ? y.row[i] : i;
      } else {
        bias_alone(w, y.at(i));
      }
    product<Real>(found, {x.base, x_rows, x.stride}, w, {y.base, y_rows, y.stride});
  }
}

/// Copies rows begin .. begin + rows - 1, or rows `via`[0 .. rows - 1], from element `offset` on, `length`
/// elements each, into an array of rows: for operands that are float where arithmetic is double.
template <class Real, class From>
inline void copy_rows(Real *to, const From *from, const int32_t *via, int32_t begin, int32_t rows,
                      int64_t stride, int64_t offset, int64_t length) {
  for (int32_t i = 0; i < rows; ++i) {
    const From *row = from + (via ? via[i] : begin + i) * stride + offset;
    for (int64_t j = 0; j < length; ++j)
      to[i * length + j] = static_cast<Real>(row[j]);
  }
}

/// Puts the rows of a buffer where results of `size` elements lie: row r at `at`[r], or at r where `at` is
/// null. Rows of the buffer are `stride` elements apart; 0: `size`. Not inlined: every result has a call.
template <class To, class From>
[[gnu::noinline]] inline void give_rows(To *to, const int32_t *at, const From *from, int32_t rows,
                                        int64_t size, int64_t stride = 0) {
  stride = stride > 0 ? stride : size;
  for (int32_t r = 0; r < rows; ++r) {
    To *out = to + (at ? at[r] : r) * size;
    for (int64_t j = 0; j < size; ++j)
      out[j] = static_cast<To>(from[r * stride + j]);
  }
}

/// The same of the active rows of a list whose length is computed; they lie one after the other.
template <class To, class From>
[[gnu::noinline]] inline void give_active_rows(Outputs &out, int32_t component, const IndexSet &elements,
                                               const int32_t *inputs, const From *from, int64_t size,
                                               int64_t stride = 0) {
  stride = stride > 0 ? stride : size;
  const TimeSteps &time_steps = elements.time_steps;
  int32_t rows = time_steps.end(0);
  out.shorten(component, elements[0], time_steps.order.data(), rows, inputs);
  To *to = out.values<To>(component);
  for (int32_t r = 0; r < rows; ++r)
    for (int64_t j = 0; j < size; ++j)
      to[r * size + j] = static_cast<To>(from[time_steps.order[r] * stride + j]);
}

/// A parameter of rows x columns elements that is a submatrix of a packed matrix, and where in it it stands.
/// Or a block of a parameter, from its element `first`, whose rows are `stride` elements apart.
struct Submatrix {
  int32_t param;
  int64_t rows, columns;
  int64_t at_row, at_column;
  int64_t first = 0, stride = 0;
  bool turned = false; ///< what is a column of the parameter is a row here

  /// Elements from a row of the parameter to the next one.
  int64_t parameter_columns() const { return stride > 0 ? stride : turned ? rows : columns; }
};

/// A matrix of outputs x inputs elements made of parameters. `bias` is the parameter that its products start
/// from, or -1. With gates its outputs are gates x channels, packed in tiles of `width` channels, see
/// Packed::pack_tiles.
struct Matrix {
  int32_t outputs, inputs;
  int32_t bias = -1;
  int32_t gates = 0, width = 0;
};

namespace detail {
/// Assembles a matrix of its submatrices: outputs x inputs elements. Of Weights, or of WeightPlaces.
template <class From, class Real>
inline void assemble(const From &weights, std::initializer_list<Submatrix> submatrices, const Matrix &matrix,
                     int64_t table, Real *whole) {
  for (const Submatrix &submatrix : submatrices) {
    const int64_t stride = submatrix.parameter_columns();
    const auto from =
        weights.data(submatrix.param) + table * submatrix.rows * submatrix.columns + submatrix.first;
    Real *to = whole + submatrix.at_row * matrix.inputs + submatrix.at_column;
    for (int64_t r = 0; r < submatrix.rows; ++r)
      for (int64_t c = 0; c < submatrix.columns; ++c)
        to[r * matrix.inputs + c] =
            static_cast<Real>(submatrix.turned ? from[c * stride + r] : from[r * stride + c]);
  }
}
/// The matrix where it lies in the weights; null if it is made of several submatrices, or of other numbers.
template <class Real>
inline MatrixElements<Real> in_weights(const Weights &weights, std::initializer_list<Submatrix> submatrices,
                                       const Matrix &matrix, int64_t table) {
  const Submatrix &all = *submatrices.begin();
  if constexpr (std::is_same<Real, float>::value)
    if (submatrices.size() == 1 && all.rows == matrix.outputs && all.columns == matrix.inputs) {
      const float *at = weights.data(all.param) + table * all.rows * all.columns + all.first;
      if (all.turned)
        return {at, 1, all.parameter_columns()};
      return {at, all.parameter_columns(), 1};
    }
  return {nullptr, 0, 0};
}
template <class From, class Real>
inline void put_bias(const From &weights, const Matrix &matrix, Real *bias, Real none = Real(0)) {
  for (int32_t o = 0; o < matrix.outputs; ++o)
    bias[o] = matrix.bias >= 0 ? static_cast<Real>(weights.data(matrix.bias)[o]) : none;
}
} // namespace detail

/// Packs such a matrix, in bfloat16 if the model is compiled so. Of parameters with a leading axis, matrix
/// number `table` is taken.
template <class Real>
inline void pack_submatrices(Model &model, int32_t number, const Weights &weights,
                             std::initializer_list<Submatrix> submatrices, const Matrix &matrix,
                             int64_t table = 0) {
  const size_t size = static_cast<size_t>(matrix.outputs) * static_cast<size_t>(matrix.inputs);
  MatrixElements<Real> elements = detail::in_weights<Real>(weights, submatrices, matrix, table);
  const size_t assembled = elements.at != nullptr ? 0 : size;
  Real *memory = model.scratch<Real>(assembled + static_cast<size_t>(matrix.outputs));
  Real *bias = memory + assembled;
  if (elements.at == nullptr) {
    detail::assemble(weights, submatrices, matrix, table, memory);
    elements = {memory, matrix.inputs, 1};
  }
  detail::put_bias(weights, matrix, bias);
  Packed<Real> &packed = model.add_packed<Real>(number);
  if (matrix.gates > 0)
    packed.pack_tiles(elements, matrix.gates, matrix.outputs / matrix.gates, matrix.width, matrix.inputs,
                      bias);
  else
    packed.pack(elements, matrix.outputs, matrix.inputs, bias);
  if (!model.code().bf16_params.empty())
    packed.round_to_bf16();
}

/// The size of equal blocks, at most `most` rows each, that `rows` rows are cut into: 37 rows in blocks of at
/// most 36 are 19 and 18, because a single row is slow.
inline int32_t even_block(int32_t rows, int32_t most) {
  int32_t blocks = (rows + most - 1) / most;
  return blocks > 1 ? (rows + blocks - 1) / blocks : most;
}

template <class Plan> std::unique_ptr<EntryPlan> make_plan() { return std::make_unique<Plan>(); }

} // namespace dbc
