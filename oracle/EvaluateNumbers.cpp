// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The operations on numbers and tensors: those of `dyn`, and those of arith, math, tensor and linalg that
// stand in a `dyn` module.
#include "mlir/Dialect/Math/IR/Math.h"
#include "oracle/Evaluation.h"
#include "oracle/Functions.h"
#include "oracle/Shapes.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace dbc;
using namespace dbc::dyn;

namespace dbc::oracle {

namespace {

bool compareIntegers(arith::CmpIPredicate predicate, double a, double b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return a > b;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return a >= b;
  }
  return false;
}

} // namespace

/// The same elements in the result's shape.
Values Evaluation::reshaped(Operation *op) {
  const Value &x = value(op->getOperand(0));
  std::vector<double> elements(x.size());
  for (int64_t i = 0; i < x.size(); ++i)
    elements[i] = x.at(i);
  return {Value::tensor(extents(op->getResult(0).getType()).vec(), std::move(elements))};
}

static Values filled(Operation *op, double x) {
  auto shape = extents(op->getResult(0).getType()).vec();
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return {Value::tensor(shape, std::vector<double>(size, x))};
}

template <class Op, class F> void Evaluation::onElements(Rules &rules, F f) {
  on<Op>(rules, [f](Evaluation &e, Op op) { return e.elementwise(op, f); });
}

void Evaluation::addElementwise(Rules &rules) {
  using Unary = double (*)(double); // the one of those of a name that is meant
  using Binary = double (*)(double, double);
  auto same = [](double a) { return a; };
  onElements<arith::NegFOp>(rules, [](double a) { return -a; });
  onElements<arith::SIToFPOp>(rules, same);
  onElements<arith::UIToFPOp>(rules, same);
  onElements<arith::ExtUIOp>(rules, same);
  onElements<arith::IndexCastOp>(rules, same);
  onElements<math::ExpOp>(rules, Unary(std::exp));
  onElements<math::LogOp>(rules, Unary(std::log));
  onElements<math::Log1pOp>(rules, Unary(std::log1p));
  onElements<math::SqrtOp>(rules, Unary(std::sqrt));
  onElements<math::AbsFOp>(rules, Unary(std::fabs));
  onElements<math::SinOp>(rules, Unary(std::sin));
  onElements<math::CosOp>(rules, Unary(std::cos));
  onElements<math::TanhOp>(rules, Unary(std::tanh));
  onElements<math::ErfOp>(rules, Unary(std::erf));
  onElements<arith::AddFOp>(rules, [](double a, double b) { return a + b; });
  onElements<arith::SubFOp>(rules, [](double a, double b) { return a - b; });
  onElements<arith::MulFOp>(rules, [](double a, double b) { return a * b; });
  onElements<arith::DivFOp>(rules, [](double a, double b) { return a / b; });
  onElements<arith::MaximumFOp>(rules, largest);
  onElements<arith::MinimumFOp>(rules, smallest);
  onElements<arith::AndIOp>(rules, [](double a, double b) -> double { return a != 0 && b != 0; });
  onElements<arith::OrIOp>(rules, [](double a, double b) -> double { return a != 0 || b != 0; });
  onElements<arith::XOrIOp>(rules, [](double a, double b) -> double { return (a != 0) != (b != 0); });
  onElements<math::PowFOp>(rules, Binary(std::pow));
  on<FunctionOp>(rules, [](Evaluation &e, FunctionOp op) {
    return e.elementwise(op, [kind = op.getKind()](double x) { return apply(kind, x); });
  });
  on<arith::CmpIOp>(rules, [](Evaluation &e, arith::CmpIOp op) {
    return e.elementwise(
        op, [by = op.getPredicate()](double a, double b) -> double { return compareIntegers(by, a, b); });
  });
  on<arith::CmpFOp>(rules, &Evaluation::compare);
}

void Evaluation::addNumbers(Rules &rules) {
  addElementwise(rules);
  on<GetOp>(rules, [](Evaluation &e, GetOp op) -> Values {
    const Value &parameter = e.interpreter_.parameter(op.getParam(), op.getType());
    auto declaration = e.interpreter_.symbols_.lookup<ParamOp>(op.getParam());
    Tape *tape = declaration.getConstant() ? nullptr : e.tape(); // consts have no gradient (G3)
    return {tape ? tape->parameter(op.getParam(), parameter) : parameter};
  });
  on<IntOp>(rules, &Evaluation::integer);
  on<NarrowOp>(rules, &Evaluation::narrow);
  on<GatherOp>(rules, &Evaluation::gather).isBlockedByUnknown = [](Evaluation &e, Operation *op) {
    return e.isOfStructure() ? e.value(cast<GatherOp>(op).getIndex()).unknown() : e.hasUnknownOperand(op);
  };
  on<DetachOp>(rules,
               [](Evaluation &e, DetachOp op) -> Values { return {e.value(op.getX()).withVariable(-1)}; });
  on<DropoutOp>(rules, &Evaluation::dropout);
  on<BroadcastOp>(rules, &Evaluation::broadcast);
  on<TransposeOp>(rules, &Evaluation::transpose);
  on<PatchesOp>(rules, &Evaluation::patches);
  on<SumPatchesOp>(rules, &Evaluation::sumPatches);
  on<ReduceOp>(rules, &Evaluation::reduce);
  on<SoftmaxOp>(rules, &Evaluation::softmax);
  on<TopKOp>(rules, &Evaluation::topK);
  on<arith::ConstantOp>(rules, &Evaluation::constant);
  on<arith::SelectOp>(rules, &Evaluation::select);
  on<arith::FPToSIOp>(rules, &Evaluation::truncate);
  on<tensor::EmptyOp>(rules, [](Evaluation &, tensor::EmptyOp op) { return filled(op, 0); });
  on<tensor::SplatOp>(
      rules, [](Evaluation &e, tensor::SplatOp op) { return filled(op, e.value(op.getInput()).scalar()); });
  on<linalg::FillOp>(rules, [](Evaluation &e, linalg::FillOp op) {
    return filled(op, e.value(op.getInputs()[0]).scalar());
  });
  on<tensor::CollapseShapeOp>(rules, &Evaluation::reshaped);
  on<tensor::ExpandShapeOp>(rules, &Evaluation::reshaped);
  on<tensor::CastOp>(rules, &Evaluation::reshaped);
  on<tensor::FromElementsOp>(rules, [](Evaluation &e, tensor::FromElementsOp op) -> Values {
    std::vector<double> elements;
    for (mlir::Value element : op.getElements())
      elements.push_back(e.value(element).scalar());
    return {Value::tensor(op.getType().getShape().vec(), std::move(elements))};
  });
  on<tensor::ExtractOp>(rules, &Evaluation::extract);
  on<tensor::ExtractSliceOp>(rules, &Evaluation::slice);
  on<tensor::ConcatOp>(rules, &Evaluation::concat);
  on<linalg::ContractOp>(rules, &Evaluation::contract);
}

/// The product with what the mask makes of each element, as which it is recorded.
Values Evaluation::dropout(DropoutOp op) {
  const Value &x = value(op.getX());
  if (!interpreter_.drops_)
    return {x};
  const auto &keys = *interpreter_.dropoutKeys_;
  uint64_t mask = mix(op.getOfRun() ? keys.run : keys.input, op.getPlace());
  for (mlir::Value key : op.getKeys()) {
    int32_t number;
    if (auto node = dyn_cast<NodeType>(key.getType()))
      number = value(key).node() - batch_.begin(interpreter_.table(node))[interpreter_.input_];
    else
      number = static_cast<int32_t>(value(key).scalar());
    mask = mix(mask, static_cast<uint32_t>(number));
  }
  const double rate = op.getRate().convertToDouble();
  std::vector<double> kept(x.size()), factors(x.size());
  for (int64_t i = 0; i < x.size(); ++i)
    if (keeps(mask, static_cast<int32_t>(i), rate)) {
      kept[i] = x.at(i) / (1 - rate);
      factors[i] = 1 / (1 - rate);
    }
  auto shaped = [&](std::vector<double> &numbers) {
    return x.isScalar() ? Value::number(numbers[0]) : Value::tensor(x.shape(), std::move(numbers));
  };
  Value result = shaped(kept);
  if (tape() && Tape::varies(x))
    result = tape()->record(op, {x, shaped(factors)}, result);
  return {result};
}

//===-- Integers -----------------------------------------------------------------------------------===//

Values Evaluation::integer(IntOp op) {
  const Value &a = value(op.getA()), &b = value(op.getB());
  std::vector<double> out(a.size());
  for (int64_t i = 0; i < a.size(); ++i) {
    int64_t x = static_cast<int64_t>(a.at(i)), y = static_cast<int64_t>(b.at(i)), z = 0;
    const char *sign = "+";
    bool divides = op.getKind() == IntKind::Div || op.getKind() == IntKind::Rem;
    if (divides && y == 0)
      return fail(op, ErrorKind::zero_division, op.getKind() == IntKind::Div ? "div" : "%", x);
    int64_t floor = divides ? x / y - (x % y != 0 && (x < 0) != (y < 0)) : 0;
    switch (op.getKind()) {
    case IntKind::Add:
      z = x + y;
      break;
    case IntKind::Sub:
      z = x - y, sign = "-";
      break;
    case IntKind::Mul:
      z = x * y, sign = "*";
      break;
    case IntKind::Div:
      z = floor, sign = "div";
      break;
    case IntKind::Rem:
      z = x - floor * y;
      break;
    case IntKind::Max:
      z = std::max(x, y);
      break;
    case IntKind::Min:
      z = std::min(x, y);
      break;
    }
    if (!llvm::isInt<32>(z))
      return fail(op, ErrorKind::overflow, sign, x, y);
    out[i] = static_cast<double>(z);
  }
  return {Value::tensor(a.shape(), std::move(out))};
}

Values Evaluation::narrow(NarrowOp op) {
  const Value &x = value(op.getValue());
  int64_t bound = op.getBound();
  for (int64_t k = 0; k < x.size(); ++k)
    if (int64_t i = static_cast<int64_t>(x.at(k)); i < 0 || i >= bound)
      return fail(op, ErrorKind::index, "", i, bound);
  return {x};
}

/// int(x): drops the fraction; what does not fit fails like an overflow.
Values Evaluation::truncate(arith::FPToSIOp op) {
  const Value &x = value(op.getIn());
  std::vector<double> out(x.size());
  for (int64_t i = 0; i < x.size(); ++i) {
    double number = x.at(i);
    if (!(number >= -2147483648.0 && number < 2147483648.0))
      return fail(op, ErrorKind::conversion, "");
    // What is near 0 becomes 0 from either side.
    decision(std::fabs(number) < 1 ? 1 - std::fabs(number)
                                   : std::min(number - std::floor(number), std::ceil(number) - number));
    out[i] = std::trunc(number) + 0.0; // an int has no -0
  }
  return {Value::tensor(x.shape(), std::move(out))};
}

//===-- Elementwise and shapes ---------------------------------------------------------------------===//

Values Evaluation::constant(arith::ConstantOp op) {
  auto number = [](auto attr) {
    if constexpr (std::is_same_v<decltype(attr), llvm::APInt>)
      return attr.getBitWidth() == 1 ? static_cast<double>(attr.getZExtValue())
                                     : static_cast<double>(attr.getSExtValue());
    else
      return static_cast<double>(attr.convertToFloat());
  };
  if (auto i = dyn_cast<IntegerAttr>(op.getValue()))
    return {Value::number(number(i.getValue()))};
  if (auto f = dyn_cast<FloatAttr>(op.getValue()))
    return {Value::number(number(f.getValue()))};
  auto dense = cast<DenseElementsAttr>(op.getValue());
  std::vector<double> elements;
  if (isa<FloatType>(dense.getElementType()))
    for (llvm::APFloat f : dense.getValues<llvm::APFloat>())
      elements.push_back(number(f));
  else
    for (llvm::APInt i : dense.getValues<llvm::APInt>())
      elements.push_back(number(i));
  return {Value::tensor(dense.getType().getShape().vec(), std::move(elements))};
}

Values Evaluation::compare(arith::CmpFOp op) {
  return elementwise(op, [&](double a, double b) -> double {
    bool ordered = !std::isnan(a) && !std::isnan(b);
    if (ordered)
      decision(a == b ? 0 : std::fabs(a - b));
    switch (op.getPredicate()) {
    case arith::CmpFPredicate::OEQ:
      return a == b;
    case arith::CmpFPredicate::OLT:
      return a < b;
    case arith::CmpFPredicate::OLE:
      return a <= b;
    case arith::CmpFPredicate::OGT:
      return a > b;
    case arith::CmpFPredicate::OGE:
      return a >= b;
    case arith::CmpFPredicate::ONE:
      return ordered && a != b;
    case arith::CmpFPredicate::UEQ:
      return !ordered || a == b;
    case arith::CmpFPredicate::ULT:
      return !ordered || a < b;
    case arith::CmpFPredicate::ULE:
      return !ordered || a <= b;
    case arith::CmpFPredicate::UGT:
      return !ordered || a > b;
    case arith::CmpFPredicate::UGE:
      return !ordered || a >= b;
    case arith::CmpFPredicate::UNE:
      return a != b;
    case arith::CmpFPredicate::ORD:
      return ordered;
    case arith::CmpFPredicate::UNO:
      return !ordered;
    case arith::CmpFPredicate::AlwaysFalse:
      return false;
    case arith::CmpFPredicate::AlwaysTrue:
      return true;
    }
    return false;
  });
}

Values Evaluation::select(arith::SelectOp op) {
  const Value &condition = value(op.getCondition());
  const Value &a = value(op.getTrueValue()), &b = value(op.getFalseValue());
  if (condition.shape().empty())
    return {condition.scalar() != 0 ? a : b};
  std::vector<double> out(a.size());
  for (int64_t i = 0; i < a.size(); ++i)
    out[i] = condition.at(i) != 0 ? a.at(i) : b.at(i);
  return {Value::tensor(a.shape(), std::move(out))};
}

Values Evaluation::gather(GatherOp op) {
  const Value &tensor = value(op.getTensor()), &index = value(op.getIndex());
  int64_t extent = extents(op.getTensor().getType())[0], row = tensor.size() / extent;
  std::vector<double> out;
  for (int64_t i = 0; i < index.size(); ++i) {
    int64_t at = static_cast<int64_t>(index.at(i));
    if (at < 0 || at >= extent)
      return fail(op, ErrorKind::index, "", at, extent);
    for (int64_t k = 0; k < row && !tensor.unknown(); ++k)
      out.push_back(tensor.at(at * row + k));
  }
  if (tensor.unknown())
    return {};
  return {Value::tensor(extents(op.getType()).vec(), std::move(out))};
}

Values Evaluation::broadcast(BroadcastOp op) {
  const Value &x = value(op.getX());
  auto to = op.getType().getShape();
  auto from = x.shape();
  std::vector<int64_t> stride(to.size(), 0), own = strides(from);
  for (size_t i = 0, missing = to.size() - from.size(); i < from.size(); ++i)
    stride[missing + i] = from[i] == 1 ? 0 : own[i];
  std::vector<double> out;
  each(to, [&](llvm::ArrayRef<int64_t> index) { out.push_back(x.at(offset(index, stride))); });
  return {Value::tensor(to.vec(), std::move(out))};
}

Values Evaluation::transpose(TransposeOp op) {
  const Value &x = value(op.getX());
  std::vector<int64_t> stride = strides(x.shape());
  std::reverse(stride.begin(), stride.end());
  std::vector<double> out;
  each(op.getType().getShape(),
       [&](llvm::ArrayRef<int64_t> index) { out.push_back(x.at(offset(index, stride))); });
  return {Value::tensor(op.getType().getShape().vec(), std::move(out))};
}

Values Evaluation::patches(PatchesOp op) {
  const Value &x = value(op.getX());
  auto stride = op.getStride(), padding = op.getPadding();
  int64_t height = x.shape()[1], width = x.shape()[2];
  std::vector<double> out;
  each(op.getType().getShape(), [&](llvm::ArrayRef<int64_t> at) {
    int64_t row = at[3] * stride[0] + at[1] - padding[0], column = at[4] * stride[1] + at[2] - padding[1];
    bool inside = row >= 0 && row < height && column >= 0 && column < width;
    out.push_back(inside ? x.at((at[0] * height + row) * width + column) : 0);
  });
  return {Value::tensor(op.getType().getShape().vec(), std::move(out))};
}

Values Evaluation::sumPatches(SumPatchesOp op) {
  const Value &x = value(op.getX());
  auto stride = op.getStride(), padding = op.getPadding();
  int64_t height = op.getType().getDimSize(1), width = op.getType().getDimSize(2), n = 0;
  std::vector<double> out(op.getType().getNumElements());
  each(x.shape(), [&](llvm::ArrayRef<int64_t> at) {
    int64_t row = at[3] * stride[0] + at[1] - padding[0], column = at[4] * stride[1] + at[2] - padding[1];
    if (row >= 0 && row < height && column >= 0 && column < width)
      out[(at[0] * height + row) * width + column] += x.at(n);
    ++n;
  });
  return {Value::tensor(op.getType().getShape().vec(), std::move(out))};
}

Values Evaluation::slice(tensor::ExtractSliceOp op) {
  const Value &x = value(op.getSource());
  std::vector<int64_t> stride = strides(x.shape());
  int64_t first = offset(op.getStaticOffsets(), stride);
  for (size_t i = 0; i < stride.size(); ++i)
    stride[i] *= op.getStaticStrides()[i];
  std::vector<double> out;
  each(op.getStaticSizes(),
       [&](llvm::ArrayRef<int64_t> index) { out.push_back(x.at(first + offset(index, stride))); });
  return {Value::tensor(op.getType().getShape().vec(), std::move(out))};
}

Values Evaluation::extract(tensor::ExtractOp op) {
  const Value &x = value(op.getTensor());
  std::vector<int64_t> index;
  for (mlir::Value i : op.getIndices())
    index.push_back(value(i).integer());
  return {Value::number(x.at(offset(index, strides(x.shape()))))};
}

Values Evaluation::concat(tensor::ConcatOp op) {
  std::vector<int64_t> shape = op.getResultType().getShape().vec();
  int64_t outer = 1;
  for (uint64_t i = 0; i < op.getDim(); ++i)
    outer *= shape[i];
  std::vector<double> out;
  for (int64_t o = 0; o < outer; ++o)
    for (mlir::Value operand : op.getInputs()) {
      const Value &x = value(operand);
      int64_t inner = x.size() / outer;
      for (int64_t i = 0; i < inner; ++i)
        out.push_back(x.at(o * inner + i));
    }
  return {Value::tensor(shape, std::move(out))};
}

//===-- Gradients ----------------------------------------------------------------------------------===//

/// Where the elements of an operation's result come from, see Tape::recordMove: it is evaluated on their
/// numbers.
std::vector<int64_t> Evaluation::sources(Operation *op, const Value &result) {
  std::vector<int64_t> sources(result.size(), -1);
  if (auto gather = dyn_cast<GatherOp>(op)) { // of tables, which may be large
    const Value &index = value(gather.getIndex());
    const int64_t row = index.size() ? result.size() / index.size() : 0;
    for (int64_t i = 0; i < result.size(); ++i)
      sources[i] = static_cast<int64_t>(index.at(i / row)) * row + i % row;
    return sources;
  }
  llvm::SmallDenseMap<mlir::Value, Value> saved;
  double next = 1; // 0 is what an operation fills in
  for (mlir::Value operand : op->getOperands()) {
    if (!scalar(operand.getType()).isF32() || !saved.try_emplace(operand, value(operand)).second)
      continue;
    const Value &x = value(operand);
    std::vector<double> numbers(x.size());
    std::iota(numbers.begin(), numbers.end(), next);
    next += static_cast<double>(x.size());
    values_[operand] = Value::tensor(x.shape(), std::move(numbers));
  }
  const Values moved = ruleOf(op).evaluate(*this, op);
  for (auto &[operand, x] : saved)
    values_[operand] = x;
  for (int64_t i = 0; i < result.size(); ++i)
    sources[i] = static_cast<int64_t>(moved.front().at(i)) - 1;
  return sources;
}

void Evaluation::record(Operation *op, Values &results) {
  if (results.size() != 1 || results.front().unknown())
    return;
  if (!Tape::isDifferentiable(op)) {
    const bool isRowOp = isa<RowOpInterface>(op) && !isa<DetachOp, DropoutOp>(op) &&
                         scalar(op->getResult(0).getType()).isF32();
    if (isRowOp && llvm::any_of(op->getOperands(), [&](mlir::Value v) { return value(v).variable() >= 0; }))
      llvm::report_fatal_error(llvm::Twine("no derivative of ") + op->getName().getStringRef());
    return;
  }
  const bool moves = Tape::moves(op) || isa<GatherOp>(op);
  Values operands;
  llvm::SmallDenseSet<mlir::Value> seen;
  for (mlir::Value operand : op->getOperands())
    if (!moves || (scalar(operand.getType()).isF32() && seen.insert(operand).second))
      operands.push_back(value(operand));
  if (llvm::none_of(operands, Tape::varies))
    return;
  results.front() =
      moves ? tape()->recordMove(std::move(operands), sources(op, results.front()), results.front())
            : tape()->record(op, std::move(operands), results.front());
}

} // namespace dbc::oracle
