// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The walk through an input's structure in the order of evaluation: what it keeps. Private to the core.
#pragma once

#include <dbc/first_error.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dbc::first {

/// A number, a node, a list; or unknown, being computed.
struct Value {
  enum class Kind : uint8_t { Unknown, Number, List } kind = Kind::Unknown;
  int32_t number = 0;
  std::shared_ptr<const std::vector<Value>> list;

  bool known() const { return kind == Kind::Number; }
  bool is_list() const { return kind == Kind::List; }
};
using Values = std::vector<Value>;

inline Value number(int64_t n) {
  Value value;
  value.kind = Value::Kind::Number;
  value.number = static_cast<int32_t>(n);
  return value;
}
inline Value list_of(Values elements) {
  Value value;
  value.kind = Value::Kind::List;
  value.list = std::make_shared<const Values>(std::move(elements));
  return value;
}
inline bool fits(int64_t n) { return n >= INT32_MIN && n <= INT32_MAX; }

/// So much is walked at most, of some seconds; an element of a list that is made counts as several steps.
constexpr int64_t kMost = 200'000'000, kElement = 16;
/// Values of all functions that wait for another one.
constexpr size_t kMostValues = 20'000'000;

/// A binder that is being gone through, at element or step number `done`.
struct Loop {
  Binder binder;
  int32_t coordinate, end, at;
  bool back;
  int64_t count = 0, done = 0;
  Values lists, state;
  const int32_t *arguments;
  int32_t results;
  const int32_t *to;
  std::vector<Values> gathered; ///< of each result

  int64_t position() const { return back ? count - 1 - done : done; }
};

/// The key of an instance: function, context, keys.
using Name = std::vector<int32_t>;

struct Instance {
  enum { New, Open, Done } state = New;
  Values results;
  std::vector<int32_t> discovered_by; ///< where its values change: which call led to it
  std::vector<const std::pair<const Name, Instance> *> calls; ///< in any order, also more than once
};

struct Owner {
  int32_t table, row;
};

struct Frame {
  int32_t function, pc;
  int32_t context; ///< 0: none
  std::vector<int32_t> keys;
  Instance *instance; ///< null: the entry
  Owner own, owner;
  Values values;
  std::vector<Loop> loops;
};

/// A call from outside of a recursion with captured arguments: who called, and where.
struct Context {
  Owner owner;
  int32_t depth;                    ///< in how many others
  std::vector<int32_t> coordinates; ///< pairs, as in ComputedError
};

class Walk {
public:
  /// Null for `errors`: those of the structure are looked for.
  Walk(const EvaluationOrder &order, const Batch &batch, int32_t entry, int32_t input,
       const std::vector<ComputedError> *errors)
      : order_(order), code_(order.code), batch_(batch), entry_(entry), input_(input) {
    for (size_t i = 0; errors && i < errors->size(); ++i)
      know((*errors)[i], static_cast<int32_t>(i));
  }

  /// Until something is found, or everything was gone through.
  void run() {
    enter(0, 0, {}, {}, nullptr);
    while (!frames_.empty() && status_.ok() && found_ < 0 && ++steps_ < kMost)
      step();
  }
  Status status() const { return steps_ < kMost ? status_ : Status(); }
  int32_t found() const { return found_; }

private:
  const int32_t *function(int32_t f) const { return code_ + code_[1 + f]; }
  const char *word(int32_t number) const { return order_.words[number]; }

  Owner owner_of(int32_t f, int32_t context, const std::vector<int32_t> &keys) const {
    if (int32_t data = function(f)[2]; data >= 0)
      return {data, keys[0]};
    return context > 0 ? contexts_[context - 1].owner : Owner{batch_.args(), input_};
  }

  void enter(int32_t f, int32_t context, std::vector<int32_t> keys, const Values &captured,
             Instance *instance) {
    const int32_t *head = function(f);
    const Owner owner = owner_of(f, context, keys);
    Frame frame{
        f, code_[1 + f] + 4 + 2 * head[3], context, std::move(keys), instance, owner, owner, Values(head[0]),
        {}};
    for (size_t k = 0; k < frame.keys.size(); ++k)
      frame.values[k] = number(frame.keys[k]);
    std::copy(captured.begin(), captured.end(), frame.values.begin() + frame.keys.size());
    waiting_ += frame.values.size();
    if (waiting_ > kMostValues)
      steps_ = kMost; // it is given up
    frames_.push_back(std::move(frame));
  }

  void fail(const std::string &what) {
    const Owner &owner = frames_.back().owner;
    status_ = batch_.describe(Code::bad_input, owner.table, owner.row, -1, what);
  }
  void fail(ErrorKind kind, int32_t at, const char *what, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
    fail(messages::error_text(kind, what, a, b, c, word(at)));
  }

  Value &value(int32_t r) { return frames_.back().values[r]; }
  void set(int32_t r, Value value) { frames_.back().values[r] = std::move(value); }
  void count(int64_t elements) { steps_ += kElement * elements; }

  void step();
  Value stored(const ColumnView &view, const ColumnInfo &info, int64_t at, int32_t level);
  void load(int32_t r, int32_t table, int32_t row, int32_t column, int32_t at);
  void integer(const int32_t *p);
  void logic(const int32_t *p);
  void range(const int32_t *p);
  void zip(const int32_t *p);
  void slice(const int32_t *p);
  void element(const int32_t *p);
  void reduce(const int32_t *p);
  void event(int32_t number);
  void begin(const int32_t *p);
  void next(const int32_t *p);
  bool arguments(Loop &loop);
  void finish(Loop &loop);
  void nodes(int32_t r, int32_t node, int32_t table);
  bool call(const int32_t *p, Step what);
  Values every(const std::pair<const Name, Instance> &start) const;
  void cycle(const Instance *again);
  std::string words(const Frame &frame) const;
  std::vector<int32_t> coordinates() const;
  int32_t context(const int32_t *p);
  void know(const ComputedError &error, int32_t number);

  const EvaluationOrder &order_;
  const int32_t *code_;
  const Batch &batch_;
  int32_t entry_, input_;
  /// The computed errors of an event whose `at` has the same coordinates: by their values the first one.
  struct Alike {
    std::vector<int32_t> coordinates;
    std::map<std::vector<int32_t>, int32_t> first;
  };
  std::map<int32_t, std::vector<Alike>> alike_; ///< by event
  Status status_;
  int32_t found_ = -1;
  int64_t steps_ = 0;
  size_t waiting_ = 0;
  std::vector<Frame> frames_;
  std::map<Name, Instance> instances_;
  std::map<Name, int32_t> context_numbers_;
  std::vector<Context> contexts_;
};

} // namespace dbc::first
