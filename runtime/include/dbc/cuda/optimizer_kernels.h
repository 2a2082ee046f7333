// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The kernels of an optimizer, for models that are trained. Behind dbc/cuda/kernels.h.
#pragma once

#include <dbc/cuda/kernels.h>

namespace dbc::cuda {

/// The parameter or array that a block of threads is about: the last one with no more blocks before it.
template <class Of> DBC_DEVICE const Of &of_block(const Of *all, int32_t count, int32_t Of::*first) {
  const int32_t block = blockIdx.x;
  int32_t low = 0;
  for (int32_t high = count; high - low > 1;) {
    const int32_t middle = low + (high - low) / 2;
    (all[middle].*first <= block ? low : high) = middle;
  }
  return all[low];
}

/// The sum of what the threads of a block have, in a fixed order, for the first of them. By the block.
DBC_DEVICE double sum_of_block(double mine, double *sums) {
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int32_t half = kThreads / 2; half > 0; half /= 2) {
    if (int32_t(threadIdx.x) < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

// Of the program's several models each has its own.
namespace {

/// The squares of a chunk of a gradient.
template <class Real>
__global__ void __launch_bounds__(kThreads)
    square_gradients(const ParamStep *params, int32_t count, double *sums) {
  DBC_SHARED(double, shared, 0, kThreads);
  const ParamStep &param = of_block(params, count, &ParamStep::first_measured);
  const auto *gradient = static_cast<const Real *>(param.gradient);
  const int64_t begin = int64_t(int32_t(blockIdx.x) - param.first_measured) * kStepChunk,
                end = std::min<int64_t>(begin + kStepChunk, param.given);
  double sum = 0;
  for (int64_t n = begin + int32_t(threadIdx.x); n < end; n += kThreads) {
    const double g = static_cast<float>(gradient[n]);
    sum += g * g;
  }
  sum = sum_of_block(sum, shared);
  if (threadIdx.x == 0)
    sums[blockIdx.x] = sum;
}

/// By one block: the norm. A sum is finite where all its numbers are, as squares of floats are doubles.
__global__ void __launch_bounds__(kThreads)
    add_squares(const ParamStep *params, int32_t count, int32_t blocks, float clip_norm, const double *sums,
                StepTotals *totals) {
  DBC_SHARED(double, shared, 0, kThreads);
  double sum = 0;
  for (int32_t n = threadIdx.x; n < blocks; n += kThreads)
    sum += sums[n];
  sum = sum_of_block(sum, shared);
  if (threadIdx.x != 0)
    return;
  StepTotals found;
  found.norm = static_cast<float>(std::sqrt(sum));
  for (int32_t n = 0; n < blocks && !(sum - sum == 0) && found.not_finite < 0; ++n)
    for (int32_t p = 0; p < count && !(sums[n] - sums[n] == 0) && found.not_finite < 0; ++p)
      if (n - params[p].first_measured < step_blocks(params[p].given))
        found.not_finite = p;
  if (clip_norm > 0)
    found.scale = std::min(1.0f, clip_norm / (found.norm + 1e-6f));
  found.proceeds = sum - sum == 0 && !(clip_norm > 0 && !(found.norm - found.norm == 0));
  *totals = found;
}

/// A chunk of a parameter, or of its rows that have a gradient.
template <class Real>
__global__ void __launch_bounds__(kThreads)
    change_weights(const ParamStep *params, int32_t count, const StepTotals *totals) {
  if (!totals->proceeds)
    return;
  const ParamStep param = of_block(params, count, &ParamStep::first_changed);
  OptimizerStep step = param.step;
  step.scale = totals->scale;
  const auto *gradient = static_cast<const Real *>(param.gradient);
  const int64_t begin = int64_t(int32_t(blockIdx.x) - param.first_changed) * kStepChunk,
                end = std::min<int64_t>(begin + kStepChunk, param.changed());
  for (int64_t n = begin + int32_t(threadIdx.x); n < end; n += kThreads) {
    int64_t at = n, given = n; // of the parameter, and of the gradient; below 0: it has none
    if (param.width > 0 && !param.changes_all) {
      at = param.rows[n / param.width] * param.width + n % param.width;
    } else if (param.width > 0) {
      const auto row = static_cast<int32_t>(n / param.width);
      int32_t low = 0;
      for (int32_t high = param.row_count; low < high;) {
        const int32_t middle = low + (high - low) / 2;
        if (param.rows[middle] < row)
          low = middle + 1;
        else
          high = middle;
      }
      given = low < param.row_count && param.rows[low] == row ? low * param.width + n % param.width : -1;
    }
    const float g = given >= 0 ? static_cast<float>(gradient[given]) : 0.f;
    switch (step.rule) {
    case OptimizerStep::Rule::Sgd:
      step.sgd(param.weights[at], g);
      break;
    case OptimizerStep::Rule::Momentum:
      step.with_momentum(param.weights[at], param.first[at], g);
      break;
    case OptimizerStep::Rule::Nesterov:
      step.nesterov(param.weights[at], param.first[at], g);
      break;
    case OptimizerStep::Rule::Adagrad:
      step.adagrad(param.weights[at], param.second[at], g);
      break;
    case OptimizerStep::Rule::Adam:
      step.adam(param.weights[at], param.first[at], param.second[at], g);
      break;
    }
    if (param.copy != nullptr)
      static_cast<Real *>(param.copy)[at] = param.weights[at];
  }
}

/// A chunk of a matrix or buffer.
template <class Real>
__global__ void __launch_bounds__(kThreads)
    gather_weights(const GatheredNumbers *arrays, int32_t count, const float *weights) {
  const GatheredNumbers array = of_block(arrays, count, &GatheredNumbers::first_block);
  auto *to = static_cast<Real *>(array.to);
  const int64_t begin = int64_t(int32_t(blockIdx.x) - array.first_block) * kStepChunk,
                end = std::min<int64_t>(begin + kStepChunk, array.count);
  for (int64_t n = begin + int32_t(threadIdx.x); n < end; n += kThreads) {
    const int64_t place = array.places != nullptr ? array.places[n] : array.first + n;
    const float weight = place >= 0 ? weights[place] : 0.f;
    to[n] = static_cast<Real>(n < array.tf32 ? finite_tf32(weight) : weight);
  }
}

/// How a device is reached that has an optimizer, too, for a model of such numbers.
template <class Real> const Backend &backend_that_trains(const Backend &base) {
  static const OptimizerKernels kernels = {
      [](const ParamStep *params, int32_t count, int32_t blocks, float clip_norm, double *sums,
         StepTotals *totals, void *stream) {
        constexpr size_t shared = kThreads * sizeof(double);
        if (blocks > 0)
          launch(square_gradients<Real>, blocks, shared, stream, params, count, sums);
        launch(add_squares, 1, shared, stream, params, count, blocks, clip_norm,
               static_cast<const double *>(sums), totals);
      },
      [](const ParamStep *params, int32_t count, int32_t blocks, const StepTotals *totals, void *stream) {
        if (blocks > 0)
          launch(change_weights<Real>, blocks, 0, stream, params, count, totals);
      },
      [](const GatheredNumbers *arrays, int32_t count, int32_t blocks, const float *weights, void *stream) {
        if (blocks > 0)
          launch(gather_weights<Real>, blocks, 0, stream, arrays, count, weights);
      },
  };
  static const Backend with = [&] {
    Backend made = base;
    made.optimizer = &kernels;
    return made;
  }();
  return with;
}
} // namespace

} // namespace dbc::cuda
