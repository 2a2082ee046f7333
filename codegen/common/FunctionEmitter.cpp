// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Printing a function: expressions, loops and conditions.
#include "codegen/common/FunctionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

LogicalResult FunctionEmitter::emit(Writer &out) {
  findDead();
  planRows();
  planInlining(func_.getBody().front());
  planAliases();

  Writer text(out.indent() + 2);
  out_ = &text;
  emitBlock(func_.getBody().front(), [&](ValueRange values) {
    if (!values.empty())
      out_->line("return " + use(values[0]).text + ";");
  });
  if (failed_)
    return failure();

  if (func_.getDoc())
    for (Attribute line : func_.getDocAttr())
      out.comment(cast<StringAttr>(line).getValue());
  print(out, text.text());
  return success();
}

void FunctionEmitter::print(Writer &out, StringRef body) {
  emitStageHead(out);
  for (const std::string &key : aliasOrder_)
    if (!aliases_[key].declaration.empty())
      out.line(aliases_[key].declaration);
  out.raw(body);
  out.close();
}

//===-- Expressions -------------------------------------------------------------------------------------===//

/// A value as it stands in an expression: a name, or all of the op that makes it.
Expr FunctionEmitter::use(Value value) {
  if (auto it = values_.find(value); it != values_.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  assert(op && "a value that was not printed yet");
  Expr e = define(op);
  constexpr size_t kLongest = 72;
  if (e.text.size() > kLongest && out_) {
    std::string type = scalarType(value.getType());
    std::string name = scope_->fresh(wish(value));
    out_->line("const " + type + " " + name + " = " + e.text + ";");
    e = {name};
    values_[value] = e;
  }
  return e;
}

/// A bool in memory.
static Expr isSet(const Expr &element) { return {element.text + " != 0", Bind::Equal, element.calls}; }

static Expr subscript(const std::string &base, const Expr &index) {
  return {base + "[" + index.text + "]", Bind::Primary, index.calls};
}

Expr FunctionEmitter::define(Operation *op) {
  if (auto load = dyn_cast<kernel::LoadOp>(op))
    return this->load(load);
  if (auto read = dyn_cast<kernel::ReadOp>(op)) {
    Expr element = localElement(read.getLocal(), read.getIndices());
    return read.getType().isInteger(1) ? isSet(element) : element;
  }
  if (auto function = dyn_cast<kernel::FunctionOp>(op))
    return call("math::" + dyn::stringifyFunctionKind(function.getKind()).str(), {use(function.getX()).text});
  if (auto order = dyn_cast<kernel::OrderOp>(op))
    return orderedRow(order);
  if (auto dropout = dyn_cast<kernel::DropoutOp>(op))
    return this->dropout(dropout);
  if (std::optional<Expr> known = hostExpression(op))
    return *known;
  if (auto e = arithmetic(op, model_.f64(), [this](Value value) { return use(value); }))
    return *e;
  unsupported(op);
  return {"0"};
}

Operation *FunctionEmitter::unsupported(Operation *op) {
  op->emitOpError("cannot be printed as C++");
  failed_ = true;
  return op;
}

/// One number of an array: `encode_h_row[j]`.
Expr FunctionEmitter::element(StringRef symbol, ValueRange indices) {
  Array array = model_.array(program_, symbol);
  if (array.scalarParam)
    return {arrayName(symbol) + "[0]"};
  if (array.extents.empty())
    return subscript(arrayName(symbol), use(indices[0]));
  RowPointer *pointer = rowPointer(symbol, {}, indices[0]);
  std::vector<Expr> inner;
  for (Value index : indices.drop_front())
    inner.push_back(use(index));
  return subscript(pointer ? pointer->name : arrayName(symbol), linear(inner, array.extents));
}

Expr FunctionEmitter::localElement(Value local, ValueRange indices) {
  ArrayRef<int64_t> shape = cast<kernel::LocalType>(local.getType()).getShape();
  std::string base = use(local).text;
  std::vector<Expr> inner;
  if (indices.size() == 1)
    return subscript(base, use(indices[0]));
  if (indices.empty())
    return {base + "[0]"};
  if (RowPointer *pointer = rowPointer("", local, indices[0]))
    base = pointer->name;
  for (Value index : indices.drop_front())
    inner.push_back(use(index));
  return subscript(base, linear(inner, shape.drop_front()));
}

Expr FunctionEmitter::load(kernel::LoadOp op) {
  if (op.getIndexArray())
    return subscript(indexArrayName(op.getArray(), *op.getIndexArray()), use(op.getIndices()[0]));
  auto field = program_.find<kernel::FieldOp>(op.getArray());
  if (field && field.getArray() == kernel::FieldArray::Kind &&
      model_.data(field.getData()).constructors.size() == 1)
    return {"0"}; // such a table has no kinds
  Array array = model_.array(program_, op.getArray());
  Expr number = reading(op.getArray(), element(op.getArray(), op.getIndices()));
  if (array.element.isInteger(1))
    return isSet(number);
  if (model_.f64() && array.pointee == "float")
    return converted("real", number);
  return number;
}

Expr FunctionEmitter::dropout(kernel::DropoutOp op) {
  std::vector<std::string> arguments = {use(op.getX()).text, literal(op.getRate(), model_.f64()),
                                        use(op.getElement()).text,
                                        "0x" + llvm::utohexstr(op.getPlace(), /*LowerCase=*/true) + "U"};
  if (op.getInput())
    arguments.push_back(use(op.getInput()).text);
  for (Value key : op.getKeys())
    arguments.push_back(use(key).text);
  return call(dropoutSource() + (op.getInput() ? ".in_input" : ".in_run"), arguments);
}

//===-- Statements --------------------------------------------------------------------------------------===//

void FunctionEmitter::emitBlock(Block &block, llvm::function_ref<void(ValueRange)> atYield) {
  for (Operation &op : block) {
    emitRowPointers(&op);
    if (auto yield = dyn_cast<kernel::YieldOp>(op))
      atYield(yield.getValues());
    else if (!deferred_.contains(&op))
      emitOp(&op);
  }
}

void FunctionEmitter::emitRowPointers(Operation *before) {
  for (RowPointer *pointer : rowsBefore_.lookup(before)) {
    std::string base, type, row = use(pointer->row).text, array;
    int64_t size = 1;
    if (pointer->local) {
      auto local = cast<kernel::LocalType>(pointer->local.getType());
      for (int64_t extent : local.getShape().drop_front())
        size *= extent;
      base = use(pointer->local).text;
      type = pointee(local.getElement(), false);
      array = base;
    } else {
      const Array of = model_.array(program_, pointer->array);
      size = of.stride;
      base = arrayName(pointer->array);
      type = of.pointee;
      array = kernel::unqualifiedName(pointer->array).str();
    }
    bool isName = llvm::all_of(row, [](char c) { return isAlnum(c) || c == '_'; }) && !isDigit(row[0]);
    pointer->name = scope_->fresh(isName ? array + "_" + row : array + "_row");
    std::string offset = pointer->local ? "" : "int64_t(" + row + ")";
    if (pointer->local)
      offset = inside(use(pointer->row), Bind::Multiply);
    if (size != 1)
      offset += " * " + std::to_string(size);
    out_->line((pointer->written ? "" : "const ") + type + " *" + pointer->name + " = " + base + " + " +
               offset + ";");
  }
}

void FunctionEmitter::emitOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<kernel::ForOp>([&](auto o) { emitFor(o); })
      .Case<kernel::IfOp>([&](auto o) { emitIf(o); })
      .Case<kernel::BlocksOp>([&](auto o) { emitBlocks(o); })
      .Case<kernel::LocalOp>([&](auto o) { emitLocal(o); })
      .Case<kernel::ProductOp>([&](auto o) { emitProduct(o); })
      .Case<kernel::MultiplyOp>([&](auto o) { emitMultiply(o); })
      .Case<kernel::OuterOp>([&](auto o) { emitOuter(o); })
      .Case<kernel::ThreadsOp, kernel::WarpsOp, kernel::LanesOp, kernel::BarrierOp>(
          [&](auto o) { emitOfThreads(o); })
      .Case<kernel::CheckOp>([&](auto o) { emitCheck(o); })
      .Case<kernel::IntOp>([&](auto o) { emitInt(o); })
      .Case<kernel::StoreOp>([&](kernel::StoreOp o) {
        std::string value = use(o.getValue()).text;
        emitWrite(writing(o.getArray(), element(o.getArray(), o.getIndices()).text, value));
      })
      .Case<kernel::WriteOp>([&](kernel::WriteOp o) {
        std::string value = use(o.getValue()).text;
        emitWrite(localElement(o.getLocal(), o.getIndices()).text + " = " + value + ";");
      })
      .Default([&](Operation *o) {
        if (isa<kernel::KernelDialect>(o->getDialect()) &&
            !isa<kernel::LoadOp, kernel::ReadOp, kernel::CountOp, kernel::RowOfOp, kernel::OrderOp,
                 kernel::CalledByOp, kernel::CallerOp, kernel::CalledOp, kernel::FunctionOp,
                 kernel::DropoutOp, kernel::WindowOp>(o))
          return emitStructure(o);
        if (o->getNumResults() != 1) {
          unsupported(o);
          return;
        }
        Expr e = define(o);
        Value result = o->getResult(0);
        std::string type = scalarType(result.getType());
        out_->line("const " + type + " " + nameValue(result) + " = " + e.text + ";");
      });
}

/// `head` and what `fill` prints: in braces unless it is one short line.
void FunctionEmitter::body(StringRef head, llvm::function_ref<void()> fill) {
  NameScope inner(scope_), *outerScope = scope_;
  Writer text(out_->indent() + 2), *outer = out_;
  scope_ = &inner;
  out_ = &text;
  fill();
  scope_ = outerScope;
  out_ = outer;
  if (StringRef(text.text()).count('\n') == 1 && !head.contains('\n')) {
    out_->line(head);
    out_->raw(text.text());
    return;
  }
  out_->open(head);
  out_->raw(text.text());
  out_->close();
}

/// What a carried value that has no name is called, by what is done to it.
static StringRef roleOfCarried(Value next) {
  Operation *op = next.getDefiningOp();
  auto checked = dyn_cast_or_null<kernel::IntOp>(op);
  if (isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op) ||
      (checked && checked.getKind() == dyn::IntKind::Add))
    return "sum";
  if (isa_and_nonnull<arith::MaximumFOp, arith::MaxSIOp>(op))
    return "most";
  if (isa_and_nonnull<arith::MinimumFOp, arith::MinSIOp>(op))
    return "least";
  return "value";
}

/// A variable for the result of a loop or condition, which may be of no interest afterwards.
std::string FunctionEmitter::declare(Value result, const std::string &name) {
  return (result.use_empty() ? "[[maybe_unused]] " : "") + scalarType(result.getType()) + " " + name;
}

/// `x = value;`, or `x += rest;` where the value is x plus something.
std::string FunctionEmitter::assignment(StringRef variable, Value value) {
  Operation *op = value.getDefiningOp();
  if (op && deferred_.contains(op) && isa<arith::AddFOp, arith::AddIOp>(op)) {
    auto it = values_.find(op->getOperand(0));
    if (it != values_.end() && it->second.text == variable)
      return variable.str() + " += " + use(op->getOperand(1)).text + ";";
  }
  return variable.str() + " = " + use(value).text + ";";
}

std::string FunctionEmitter::nameCounter(Value counter) {
  std::string name = sourceName(counter);
  for (StringRef letter : {"j", "k", "m", "n", "p", "q"})
    if (name.empty() && !scope_->taken(letter))
      name = letter.str();
  name = scope_->fresh(name.empty() ? "j" : name);
  values_[counter] = {name};
  return name;
}

void FunctionEmitter::emitFor(kernel::ForOp op) {
  auto yield = cast<kernel::YieldOp>(op.getBody().front().getTerminator());
  std::vector<std::string> carried;
  for (auto [result, argument, init, next] : llvm::zip(
           op.getResults(), op.getBody().getArguments().drop_front(), op.getInit(), yield.getValues())) {
    std::string start = use(init).text;
    std::string name =
        nameValue(result, sourceName(argument).empty() ? roleOfCarried(next) : sourceName(argument));
    values_[argument] = {name};
    out_->line(declare(result, name) + " = " + start + ";");
    carried.push_back(name);
  }
  std::string low = use(op.getLow()).text, high = inside(use(op.getHigh()), Bind::Add);
  NameScope counterScope(scope_), *outer = scope_;
  scope_ = &counterScope;
  std::string name = nameCounter(op.getBody().getArgument(0));
  if (op.getVector())
    out_->line("DBC_VECTOR");
  body("for (int32_t " + name + " = " + low + "; " + name + " < " + high + "; ++" + name + ")", [&] {
    emitBlock(op.getBody().front(), [&](ValueRange values) {
      // With several carried values, all next ones are found before any is replaced.
      SmallVector<std::string> next;
      if (values.size() > 1)
        for (Value value : values) {
          Expr e = use(value);
          bool own = llvm::is_contained(carried, e.text);
          if (own || value.getDefiningOp<arith::ConstantOp>() || (values_.contains(value) && !own))
            next.push_back(e.text);
          else {
            next.push_back(scope_->fresh("next"));
            out_->line("const " + scalarType(value.getType()) + " " + next.back() + " = " + e.text + ";");
          }
        }
      bool swaps = false; // one carried value becomes another
      for (auto [i, text] : llvm::enumerate(next))
        swaps |= text != carried[i] && llvm::is_contained(carried, text);
      for (size_t i = 0; i < next.size() && swaps; ++i)
        if (llvm::is_contained(carried, next[i])) {
          std::string kept = scope_->fresh("next");
          out_->line("const " + scalarType(values[i].getType()) + " " + kept + " = " + next[i] + ";");
          next[i] = kept;
        }
      for (size_t i = 0; i < values.size(); ++i)
        if (values.size() == 1) {
          std::string text = assignment(carried[i], values[i]);
          if (text != carried[i] + " = " + carried[i] + ";")
            out_->line(text);
        } else if (next[i] != carried[i]) {
          out_->line(carried[i] + " = " + next[i] + ";");
        }
    });
  });
  scope_ = outer;
}

bool FunctionEmitter::onlyExpressions(Block &block) {
  return llvm::all_of(block, [&](Operation &op) {
    if (rowsBefore_.contains(&op))
      return false;
    return isa<kernel::YieldOp>(op) || deferred_.contains(&op);
  });
}

void FunctionEmitter::emitIf(kernel::IfOp op) {
  Block &then = op.getThen().front(), &otherwise = op.getOtherwise().front();
  auto yielded = [](Block &block, unsigned i) {
    return cast<kernel::YieldOp>(block.getTerminator()).getValues()[i];
  };
  if (op.getNumResults() == 1 && onlyExpressions(then) && onlyExpressions(otherwise)) {
    Expr condition = use(op.getCondition());
    // Long operands would be computed ahead of the choice, where they may not be read.
    Writer *out = std::exchange(out_, nullptr);
    Expr yes = use(yielded(then, 0)), no = use(yielded(otherwise, 0));
    out_ = out;
    if (yes.text.size() + no.text.size() < 60) {
      out_->line("const " + scalarType(op.getResult(0).getType()) + " " + nameValue(op.getResult(0)) + " = " +
                 choice(condition, yes, no).text + ";");
      return;
    }
  }
  for (Value result : op.getResults()) {
    std::string name = nameValue(result);
    out_->line(declare(result, name) + ";");
  }
  auto branch = [&](Block &block) {
    emitBlock(block, [&](ValueRange values) {
      for (auto [result, value] : llvm::zip(op.getResults(), values))
        out_->line(assignment(values_[result].text, value));
    });
  };
  auto isEmpty = [&](Block &block) { return op.getNumResults() == 0 && onlyExpressions(block); };
  Expr condition = use(op.getCondition());
  if (isEmpty(then) && isEmpty(otherwise))
    return;
  if (isEmpty(then))
    return body("if (" + negated(condition).text + ")", [&] { branch(otherwise); });
  if (isEmpty(otherwise))
    return body("if (" + condition.text + ")", [&] { branch(then); });
  auto inScope = [&](Block &block) {
    NameScope inner(scope_), *outerScope = scope_;
    scope_ = &inner;
    branch(block);
    scope_ = outerScope;
  };
  out_->open("if (" + condition.text + ")");
  inScope(then);
  Block *last = &otherwise;
  while (kernel::IfOp next = op.getNumResults() == 0 ? onlyIf(*last) : kernel::IfOp()) {
    Writer *out = std::exchange(out_, nullptr);
    std::string another = use(next.getCondition()).text;
    out_ = out;
    out_->otherwise("if (" + another + ") ");
    inScope(next.getThen().front());
    last = &next.getOtherwise().front();
  }
  if (!isEmpty(*last)) {
    out_->otherwise();
    inScope(*last);
  }
  out_->close();
}

/// The only op of a block, if it is a condition without results: printed as `else if`.
kernel::IfOp FunctionEmitter::onlyIf(Block &block) {
  kernel::IfOp found;
  for (Operation &op : block) {
    if (rowsBefore_.contains(&op))
      return {};
    if (deferred_.contains(&op) || isa<kernel::YieldOp>(op))
      continue;
    auto condition = dyn_cast<kernel::IfOp>(op);
    if (found || !condition || condition.getNumResults() != 0)
      return {};
    found = condition;
  }
  return found;
}

int64_t rowSize(kernel::LocalType type) {
  int64_t n = 1;
  for (int64_t extent : type.getShape().drop_front())
    n *= extent;
  return n;
}

StringRef intFunction(dyn::IntKind kind) {
  return kind == dyn::IntKind::Rem ? "mod" : dyn::stringifyIntKind(kind);
}

std::string intErrorKind(dyn::IntKind kind, const std::string &divisor) {
  const std::string overflow = "dbc::ErrorKind::overflow", zero = "dbc::ErrorKind::zero_division";
  if (kind == dyn::IntKind::Rem)
    return zero;
  return kind == dyn::IntKind::Div ? divisor + " == 0 ? " + zero + " : " + overflow : overflow;
}

StringRef intWord(dyn::IntKind kind) {
  switch (kind) {
  case dyn::IntKind::Add:
    return "+";
  case dyn::IntKind::Sub:
    return "-";
  case dyn::IntKind::Mul:
    return "*";
  case dyn::IntKind::Div:
    return "div";
  case dyn::IntKind::Rem:
    return "%";
  case dyn::IntKind::Max:
  case dyn::IntKind::Min:
    break;
  }
  llvm_unreachable("these cannot fail");
}

} // namespace dbc::codegen
