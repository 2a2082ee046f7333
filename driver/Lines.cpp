// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Lines.h"

namespace dbc::driver {

Status LineRunner::compute(const std::vector<std::string> &lines, std::vector<LineResult> &results) {
  reader.clear(batch);
  for (const std::string &line : lines)
    (void)reader.append(line, batch); // what is wrong with a line is the status of its input
  return compute(results);
}

Status LineRunner::compute(const std::vector<Line> &lines, std::vector<LineResult> &results) {
  reader.clear(batch);
  for (const Line &line : lines)
    (void)reader.append(*line, batch);
  return compute(results);
}

/// What is in the batch.
Status LineRunner::compute(std::vector<LineResult> &results) {
  if (Status status = computeBatch(); !status.ok())
    return status;
  for (int32_t i = 0; i < batch.inputs(); ++i) {
    results.push_back(result(i));
    print(results.back());
  }
  return Status();
}

void LineRunner::print(LineResult &result) const {
  result.json = result.status.ok() ? to_json(result.value, entry.result, real) : error_json(result.status);
}

LineResult CompiledRunner::result(int32_t input) {
  LineResult result;
  result.status = reader.in_lines(session.status(input));
  if (result.status.ok())
    result.value = output_value(session.outputs(number), entry, input, &reader.nodes());
  return result;
}

/// A value of the oracle's flat ones: those of a record or tuple stand one behind the other, a list of
/// records is as many lists as the record has components.
static Value fromFlat(const TypeInfo &type, const oracle::Value *flat, const NodeTable &nodes) {
  switch (type.form) {
  case TypeInfo::Form::Value: {
    if (type.elem == Elem::Node)
      return Value::scalar(Value::Kind::Node, nodes.index(type.data, flat->node()));
    if (!type.extents.empty()) {
      std::vector<double> data(flat->size());
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = flat->at(static_cast<int64_t>(i));
      return Value::tensor(type.extents, std::move(data));
    }
    Value::Kind kind = type.elem == Elem::F32    ? Value::Kind::Number
                       : type.elem == Elem::Bool ? Value::Kind::Bool
                                                 : Value::Kind::Int;
    return Value::scalar(kind, flat->scalar());
  }
  case TypeInfo::Form::List: {
    const TypeInfo &element = type.elements[0];
    size_t width = element.components(), length = flat->elements().size();
    std::vector<Value> elements;
    std::vector<oracle::Value> row(width);
    for (size_t i = 0; i < length; ++i) {
      for (size_t component = 0; component < width; ++component)
        row[component] = flat[component].elements()[i];
      elements.push_back(fromFlat(element, row.data(), nodes));
    }
    return Value::group(Value::Kind::List, std::move(elements));
  }
  case TypeInfo::Form::Tuple:
  case TypeInfo::Form::Record: {
    std::vector<Value> elements;
    for (const TypeInfo &element : type.elements) {
      elements.push_back(fromFlat(element, flat, nodes));
      flat += element.components();
    }
    return Value::group(type.form == TypeInfo::Form::Tuple ? Value::Kind::Tuple : Value::Kind::Record,
                        std::move(elements));
  }
  }
  return Value();
}

oracle::WeightsView weightsView(const Weights &weights) {
  return [&weights](llvm::StringRef path) {
    int32_t number = weights.find(path.str());
    return llvm::ArrayRef<float>(weights.data(number), weights.size(number));
  };
}

LineResult OracleRunner::result(int32_t input) {
  LineResult result;
  if (!batch.status(input).ok()) {
    result.status = reader.in_lines(batch.status(input));
    result.failures = {result.status};
    return result;
  }
  if (dropping) {
    const bool numbered = static_cast<size_t>(input) < dropping->numbers.size();
    interpreter.setDropout(dropping->seed, dropping->step, numbered ? dropping->numbers[input] : input);
  }
  oracle::Outcome outcome = interpreter.run(entry.name, batch, input);
  result.status = reader.in_lines(outcome.status);
  result.margin = outcome.margin;
  result.tooLarge = outcome.tooLarge;
  result.gradient = std::move(outcome.gradient);
  for (Status &failure : outcome.failures)
    result.failures.push_back(reader.in_lines(std::move(failure)));
  if (result.status.ok())
    result.value = fromFlat(entry.result, outcome.values.data(), reader.nodes());
  return result;
}

} // namespace dbc::driver
