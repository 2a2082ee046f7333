// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "GradientSum.h"
#include "../io/Result.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace dbc::train {

namespace {

template <class Real> const Real *gradient_of(const Outputs &outputs, int32_t param);
template <> const float *gradient_of<float>(const Outputs &outputs, int32_t param) {
  return outputs.gradient_f32(param);
}
template <> const double *gradient_of<double>(const Outputs &outputs, int32_t param) {
  return outputs.gradient_f64(param);
}

/// The first and the last but one of the rows that lie in a part of the parameter.
Range rows_in(const GradientRows &rows, ParamRange part) {
  const auto width = static_cast<size_t>(rows.width);
  const auto at = [&](size_t number) {
    return static_cast<int32_t>(
        std::lower_bound(rows.rows, rows.rows + rows.count, static_cast<int32_t>(number / width)) -
        rows.rows);
  };
  return {at(part.begin), at(part.end)};
}

template <class Number> void copy(const Number *from, size_t count, Number *to) {
  if (count > 0)
    std::memcpy(to, from, count * sizeof(Number));
}

template <class Real> void add(const Real *__restrict from, size_t count, Real *__restrict to) {
  for (size_t i = 0; i < count; ++i)
    to[i] += from[i];
}

/// Adds rows to those of a sum, which has all of them, or begins these; both ascend. `begun` says which of
/// the sum's rows were.
template <class Real>
void add_to_rows(const int32_t *rows, int64_t count, const Real *values, size_t width, const IndexArray &all,
                 std::vector<bool> &begun, Real *to) {
  size_t at = 0;
  for (int64_t r = 0; r < count; ++r) {
    while (all[at] != rows[r])
      ++at;
    const Real *from = values + static_cast<size_t>(r) * width;
    if (begun[at])
      add(from, width, to + at * width);
    else
      copy(from, width, to + at * width);
    begun[at] = true;
  }
}

} // namespace

/// Whole rows, so that a row has one owner.
ParamRange GradientSum::range_of(int64_t width, size_t size, int32_t rank) const {
  const size_t unit = width > 0 ? static_cast<size_t>(width) : 1;
  const size_t units = size / unit, r = static_cast<size_t>(rank), ranks = static_cast<size_t>(ranks_.size());
  return {units * r / ranks * unit, units * (r + 1) / ranks * unit};
}

/// Tells each rank what it is going to be sent, and hears the same.
Status GradientSum::tell(const Optimizer &optimizer, const Weights &weights, const Outputs &own) {
  const auto params = static_cast<size_t>(weights.count());
  const int32_t ranks = ranks_.size();
  parts_.resize(params);
  told_.assign(params * static_cast<size_t>(ranks), Told());
  heard_.assign(told_.size(), Told());
  for (size_t param = 0; param < params; ++param) {
    const auto number = static_cast<int32_t>(param);
    if (!own.has_gradient(number) || optimizer.is_frozen(number))
      continue;
    const GradientRows rows = own.gradient_rows(number);
    for (int32_t r = 0; r < ranks; ++r) {
      Told &told = told_[at(r, number)];
      told.width = rows.width;
      if (rows) {
        const Range in = rows_in(rows, range_of(rows.width, weights.size(number), r));
        told.rows = in.end - in.begin;
      }
    }
  }
  const size_t bytes = params * sizeof(Told);
  std::vector<SentBytes> sent;
  std::vector<ReceivedBytes> received;
  for (int32_t r = 0; r < ranks; ++r) {
    sent.push_back({told_.data() + at(r, 0), bytes});
    received.push_back({heard_.data() + at(r, 0), bytes});
  }
  const size_t self = at(ranks_.rank(), 0);
  std::copy_n(told_.data() + self, params, heard_.data() + self);
  if (Status status = ranks_.exchange(sent, received); !status.ok())
    return status;
  for (size_t param = 0; param < params; ++param) {
    Part &part = parts_[param];
    part.is_given = false;
    for (int32_t r = 0; r < ranks; ++r)
      if (const Told &heard = heard_[at(r, static_cast<int32_t>(param))]; heard.width != kNone) {
        part.is_given = true;
        part.width = heard.width;
      }
  }
  return Status();
}

/// Sends each rank its parts of this rank's gradients, and receives this rank's parts of theirs.
template <class Real> Status GradientSum::exchange_parts(const Weights &weights, const Outputs &own) {
  const int32_t ranks = ranks_.size(), params = weights.count();
  sent_.clear(ranks);
  received_.clear(ranks);
  const auto count = [&](const Told &told, int32_t from_or_to, ParamRange part, Messages &messages) {
    if (told.width == 0)
      messages.count(from_or_to, (part.end - part.begin) * sizeof(Real), 0);
    else if (told.width > 0)
      messages.count(from_or_to, static_cast<size_t>(told.rows * told.width) * sizeof(Real), told.rows);
  };
  const auto is_other = [&](int32_t r) { return r != ranks_.rank(); };
  for (int32_t r = 0; r < ranks; ++r)
    for (int32_t param = 0; is_other(r) && param < params; ++param) {
      const Told &told = told_[at(r, param)];
      count(told, r, range_of(told.width, weights.size(param), r), sent_);
      count(heard_[at(r, param)], r, own_range(param, weights), received_);
    }
  sent_.make_room();
  received_.make_room();
  for (int32_t r = 0; r < ranks; ++r)
    for (int32_t param = 0; is_other(r) && param < params; ++param) {
      const Told &told = told_[at(r, param)];
      if (told.width == kNone)
        continue;
      const ParamRange part = range_of(told.width, weights.size(param), r);
      const Real *values = gradient_of<Real>(own, param);
      if (told.width == 0) {
        copy(values + part.begin, part.end - part.begin, sent_.numbers<Real>(r, part.end - part.begin));
        continue;
      }
      const GradientRows rows = own.gradient_rows(param);
      const Range in = rows_in(rows, part);
      const auto numbers = static_cast<size_t>(told.rows * told.width);
      copy(values + static_cast<size_t>(in.begin) * static_cast<size_t>(rows.width), numbers,
           sent_.numbers<Real>(r, numbers));
      copy(rows.rows + in.begin, static_cast<size_t>(told.rows), sent_.rows(r, told.rows));
    }
  return ranks_.exchange(sent_.sent(), received_.received());
}

template <class Real> void GradientSum::add_dense(int32_t param, const Weights &weights, const Outputs &own) {
  const ParamRange part = own_range(param, weights);
  const size_t count = part.end - part.begin;
  Real *to = owned_.gradient<Real>(param, count);
  bool is_first = true;
  for (int32_t r = 0; r < ranks_.size(); ++r) {
    if (heard_[at(r, param)].width == kNone)
      continue;
    const Real *from =
        r == ranks_.rank() ? gradient_of<Real>(own, param) + part.begin : received_.numbers<Real>(r, count);
    if (is_first)
      copy(from, count, to);
    else
      add(from, count, to);
    is_first = false;
  }
}

template <class Real>
void GradientSum::add_sparse(int32_t param, const Weights &weights, const Outputs &own) {
  struct Given {
    const int32_t *rows;
    int64_t count;
    const Real *values;
  };
  const auto width = static_cast<size_t>(parts_[param].width);
  std::vector<Given> given;
  rows_.clear();
  for (int32_t r = 0; r < ranks_.size(); ++r) {
    const Told &heard = heard_[at(r, param)];
    if (heard.width == kNone)
      continue;
    if (r == ranks_.rank()) {
      const GradientRows rows = own.gradient_rows(param);
      const Range in = rows_in(rows, own_range(param, weights));
      given.push_back({rows.rows + in.begin, in.end - in.begin,
                       gradient_of<Real>(own, param) + static_cast<size_t>(in.begin) * width});
    } else {
      given.push_back({received_.rows(r, heard.rows), heard.rows,
                       received_.numbers<Real>(r, static_cast<size_t>(heard.rows) * width)});
    }
    rows_.append(given.back().rows, static_cast<size_t>(given.back().count));
  }
  std::sort(rows_.data(), rows_.data() + rows_.size());
  rows_.resize(static_cast<size_t>(std::unique(rows_.data(), rows_.data() + rows_.size()) - rows_.data()));
  Real *to = owned_.sparse_gradient<Real>(param, rows_.data(), static_cast<int32_t>(rows_.size()),
                                          parts_[param].width);
  std::vector<bool> begun(rows_.size());
  for (const Given &each : given)
    add_to_rows(each.rows, each.count, each.values, width, rows_, begun, to);
}

/// The sum of this rank's parts.
template <class Real>
Status GradientSum::add_up(const Weights &weights, const EntryInfo &entry, const Outputs &own) {
  if (Status status = exchange_parts<Real>(weights, own); !status.ok())
    return status;
  owned_.prepare(entry, f64_);
  owned_.begin(0);
  for (int32_t param = 0; param < weights.count(); ++param)
    if (parts_[param].is_given && parts_[param].width > 0)
      add_sparse<Real>(param, weights, own);
    else if (parts_[param].is_given)
      add_dense<Real>(param, weights, own);
  return Status();
}

/// The norm of the whole gradient, from the sums of squares of all parts in the order of ranks; and how many
/// rows each rank has summed.
Status GradientSum::agree_on_norm(const Optimizer &optimizer, const Weights &weights, float &norm) {
  const size_t params = parts_.size(), each = params + 1;
  const auto ranks = static_cast<size_t>(ranks_.size());
  std::vector<double> own(each), all(each * ranks); // numbers of rows are exact
  own[params] = optimizer.sum_of_squares(weights, owned_);
  for (size_t param = 0; param < params; ++param)
    own[param] = owned_.gradient_rows(static_cast<int32_t>(param)).count;
  if (Status status = ranks_.gather(own.data(), each * sizeof(double), all.data()); !status.ok())
    return status;
  double squares = 0;
  for (size_t r = 0; r < ranks; ++r)
    squares += all[r * each + params];
  for (size_t param = 0; param < params; ++param) {
    parts_[param].rows.resize(ranks);
    for (size_t r = 0; r < ranks; ++r)
      parts_[param].rows[r] = static_cast<int64_t>(all[r * each + param]);
  }
  norm = static_cast<float>(std::sqrt(squares));
  return std::isfinite(squares)
             ? Status()
             : io::failure(weights.info().name + ": the gradient is not finite", Code::bad_call);
}

/// Adds to the length of a message what a rank gives of all parameters, in numbers of so many bytes;
/// `by_rows` says of which it gives the rows that it has summed.
template <class ByRows>
void GradientSum::count_given(const Weights &weights, int32_t rank, size_t number, ByRows by_rows,
                              Messages &messages) const {
  for (int32_t param = 0; param < weights.count(); ++param) {
    const Part &part = parts_[param];
    const ParamRange range = range_of(part.width, weights.size(param), rank);
    if (part.is_given && by_rows(param))
      messages.count(rank, static_cast<size_t>(part.rows[rank] * part.width) * number, part.rows[rank]);
    else if (part.is_given)
      messages.count(rank, (range.end - range.begin) * number, 0);
  }
}

/// Gives each rank the sums of all parts.
template <class Real> Status GradientSum::give_sums(const Weights &weights) {
  const int32_t ranks = ranks_.size(), self = ranks_.rank();
  const auto by_rows = [&](int32_t param) { return parts_[param].width > 0; };
  received_.clear(ranks); // with this rank's own among them, which is what it sends
  for (int32_t r = 0; r < ranks; ++r)
    count_given(weights, r, sizeof(Real), by_rows, received_);
  received_.make_room();
  sent_.clear(ranks);
  count_given(weights, self, sizeof(Real), by_rows, sent_);
  sent_.make_room();
  for (int32_t param = 0; param < weights.count(); ++param) {
    if (!parts_[param].is_given)
      continue;
    const size_t numbers = owned_.gradient_size(param);
    copy(gradient_of<Real>(owned_, param), numbers, sent_.numbers<Real>(self, numbers));
    if (const GradientRows rows = owned_.gradient_rows(param))
      copy(rows.rows, static_cast<size_t>(rows.count), sent_.rows(self, rows.count));
  }
  if (Status status = ranks_.exchange(sent_.sent_to_all(self), received_.received()); !status.ok())
    return status;
  for (int32_t param = 0; param < weights.count(); ++param) {
    const Part &part = parts_[param];
    if (!part.is_given)
      continue;
    const auto from = [&](int32_t r, size_t count) { // of this rank nothing was received
      return r == self ? gradient_of<Real>(owned_, param) : received_.numbers<Real>(r, count);
    };
    if (part.width == 0) {
      Real *to = sum_.gradient<Real>(param, weights.size(param));
      for (int32_t r = 0; r < ranks; ++r) {
        const ParamRange range = range_of(0, weights.size(param), r);
        copy(from(r, range.end - range.begin), range.end - range.begin, to + range.begin);
      }
      continue;
    }
    rows_.clear();
    for (int32_t r = 0; r < ranks; ++r)
      rows_.append(r == self ? owned_.gradient_rows(param).rows : received_.rows(r, part.rows[r]),
                   static_cast<size_t>(part.rows[r]));
    Real *to =
        sum_.sparse_gradient<Real>(param, rows_.data(), static_cast<int32_t>(rows_.size()), part.width);
    for (int32_t r = 0; r < ranks; ++r) {
      const auto numbers = static_cast<size_t>(part.rows[r] * part.width);
      copy(from(r, numbers), numbers, to);
      to += numbers;
    }
  }
  return Status();
}

/// Gives each rank the weights that this one has changed.
Status GradientSum::give_weights(Optimizer &optimizer, Weights &weights) {
  const int32_t ranks = ranks_.size(), self = ranks_.rank();
  const auto by_rows = [&](int32_t param) { return optimizer.change(param).kind == ParamChange::Kind::Rows; };
  /// Calls `move` with each piece of weights that a rank has changed.
  const auto for_each_piece = [&](int32_t r, Messages &messages, auto move) {
    for (int32_t param = 0; param < weights.count(); ++param) {
      const Part &part = parts_[param];
      if (!part.is_given)
        continue;
      const auto width = static_cast<size_t>(part.width);
      const ParamRange range = range_of(part.width, weights.size(param), r);
      if (!by_rows(param)) {
        move(weights.data_of(param) + range.begin, messages.numbers<float>(r, range.end - range.begin),
             range.end - range.begin);
        continue;
      }
      const int32_t *rows = messages.rows(r, part.rows[r]);
      for (int64_t i = 0; i < part.rows[r]; ++i)
        move(weights.data_of(param) + static_cast<size_t>(rows[i]) * width, messages.numbers<float>(r, width),
             width);
    }
  };
  sent_.clear(ranks);
  count_given(weights, self, sizeof(float), by_rows, sent_);
  sent_.make_room();
  received_.clear(ranks);
  for (int32_t r = 0; r < ranks; ++r)
    count_given(weights, r, sizeof(float), by_rows, received_);
  received_.make_room();
  for (Messages *messages : {&sent_, &received_})
    for (int32_t param = 0; param < weights.count(); ++param)
      if (parts_[param].is_given && by_rows(param))
        copy(owned_.gradient_rows(param).rows, static_cast<size_t>(parts_[param].rows[self]),
             messages->rows(self, parts_[param].rows[self]));
  sent_.rewind();
  for_each_piece(self, sent_, [](float *in, float *message, size_t n) { copy(in, n, message); });
  if (Status status = ranks_.exchange(sent_.sent_to_all(self), received_.received()); !status.ok())
    return status;
  received_.rewind();
  for (int32_t r = 0; r < ranks; ++r)
    if (r != self)
      for_each_piece(r, received_, [](float *in, float *message, size_t n) { copy(message, n, in); });
  received_.rewind();
  for (int32_t param = 0; param < weights.count(); ++param) {
    if (!parts_[param].is_given || !by_rows(param))
      continue;
    rows_.clear();
    for (int32_t r = 0; r < ranks; ++r)
      rows_.append(received_.rows(r, parts_[param].rows[r]), static_cast<size_t>(parts_[param].rows[r]));
    optimizer.set_changed_rows(param, rows_.data(), static_cast<int32_t>(rows_.size()));
  }
  return Status();
}

template <class Real>
Status GradientSum::make_step(Optimizer &optimizer, Weights &weights, const EntryInfo &entry,
                              const Outputs &own) {
  if (Status status = add_up<Real>(weights, entry, own); !status.ok())
    return status;
  float norm = 0;
  if (Status status = agree_on_norm(optimizer, weights, norm); !status.ok())
    return status;
  if (!sharded_) {
    sum_.prepare(entry, f64_);
    sum_.begin(0);
    if (Status status = give_sums<Real>(weights); !status.ok())
      return status;
    return optimizer.step(weights, sum_, norm);
  }
  for (int32_t param = 0; param < weights.count(); ++param)
    if (parts_[param].is_given && !std::exchange(parts_[param].is_ranged, true))
      optimizer.set_range(param, own_range(param, weights));
  if (Status status = optimizer.step(weights, owned_, norm); !status.ok())
    return status;
  return give_weights(optimizer, weights);
}

Status GradientSum::step(Optimizer &optimizer, Weights &weights, const EntryInfo &entry, const Outputs &own) {
  if (Status status = tell(optimizer, weights, own); !status.ok())
    return status;
  if (std::none_of(parts_.begin(), parts_.end(), [](const Part &part) { return part.is_given; }))
    return Status();
  return f64_ ? make_step<double>(optimizer, weights, entry, own)
              : make_step<float>(optimizer, weights, entry, own);
}

Status GradientSum::gather_state(const Optimizer &optimizer, const Weights &weights,
                                 std::optional<Optimizer> &whole) {
  whole.reset();
  if (std::none_of(parts_.begin(), parts_.end(), [](const Part &part) { return part.is_ranged; }))
    return Status();
  const int32_t ranks = ranks_.size();
  using State = Array<float> OptimizerState::*;
  /// Calls `move` with each array of state that is shared.
  const auto for_each_array = [&](auto move) {
    for (int32_t param = 0; param < weights.count(); ++param)
      for (State array : {&OptimizerState::first, &OptimizerState::second})
        if (parts_.size() > static_cast<size_t>(param) && parts_[param].is_ranged &&
            (array == &OptimizerState::first ? optimizer.keeps_first() : optimizer.keeps_second()))
          move(param, array);
  };
  const auto range = [&](int32_t param, int32_t r) {
    return range_of(parts_[param].width, weights.size(param), r);
  };
  sent_.clear(ranks);
  received_.clear(ranks);
  for_each_array([&](int32_t param, State) {
    for (int32_t r = 1; r < ranks; ++r) {
      const size_t bytes = (range(param, r).end - range(param, r).begin) * sizeof(float);
      if (ranks_.is_first())
        received_.count(r, bytes, 0);
      else if (r == ranks_.rank())
        sent_.count(0, bytes, 0);
    }
  });
  sent_.make_room();
  received_.make_room();
  if (!ranks_.is_first())
    for_each_array([&](int32_t param, State array) {
      const Array<float> &own = optimizer.state(param).*array;
      copy(own.data(), own.size(), sent_.numbers<float>(0, own.size()));
    });
  if (Status status = ranks_.exchange(sent_.sent(), received_.received()); !status.ok() || !ranks_.is_first())
    return status;
  std::vector<OptimizerState> states(static_cast<size_t>(weights.count()));
  for (int32_t param = 0; param < weights.count(); ++param) {
    const OptimizerState &own = optimizer.state(param);
    states[param].steps = own.steps;
    states[param].first.append(own.first.data(), own.first.size()); // of this rank's part, or of all
    states[param].second.append(own.second.data(), own.second.size());
  }
  for_each_array([&](int32_t param, State array) {
    (states[param].*array).resize(weights.size(param));
    for (int32_t r = 1; r < ranks; ++r) {
      const ParamRange part = range(param, r);
      copy(received_.numbers<float>(r, part.end - part.begin), part.end - part.begin,
           (states[param].*array).data() + part.begin);
    }
  });
  whole.emplace(optimizer.options());
  whole->restore(optimizer.steps(), std::move(states));
  return Status();
}

} // namespace dbc::train
