// A model from text to the oracle's answer, for tests.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "llvm/Support/raw_ostream.h"
#include <dbc/io/instances.h>
#include <gtest/gtest.h>

namespace dbc::oracletest {

Model::Model(const std::string &text, const std::map<std::string, int64_t> &dims, bool train)
    : context_(mlir::MLIRContext::Threading::DISABLED) {
  frontend::DiagnosticEngine diags(sources_);
  frontend::LoadOptions options;
  options.libraryDir = DBC_SOURCE_DIR "/dsl/lib";
  program_ = frontend::loadProgramText("m.dyn", text, options, sources_, diags);
  if (program_)
    checked_ = frontend::check(*program_, diags);
  if (checked_ && !diags.hasErrors())
    if (auto values = frontend::bindDims(*checked_, dims, diags))
      module_ = frontend::lower(*program_, *checked_, *values, context_, diags, train);
  diagnostics_ = diags.str();
  if (!module_)
    return;
  renew();
  info_ = interpreter_->info();
  weights_ = std::make_unique<Weights>(info_);
}

void Model::renew() {
  interpreter_ = std::make_unique<oracle::Interpreter>(*module_, [this](llvm::StringRef path) {
    int32_t param = weights_->find(path.str());
    return llvm::ArrayRef<float>(weights_->data(param), weights_->size(param));
  });
}

std::string Model::print() {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  flags.printNameLocAsPrefix(true);
  module_->getOperation()->print(out, flags);
  return text;
}

void Model::set(const std::string &path, const std::vector<float> &numbers) {
  ASSERT_TRUE(weights_) << diagnostics_;
  Status status = weights_->set(path, numbers.data(), numbers.size());
  ASSERT_TRUE(status.ok()) << status.message;
}

double Model::weight(const std::string &path, size_t i) const {
  if (!weights_)
    return 0;
  return const_cast<const Weights &>(*weights_).data(weights_->find(path))[i];
}

oracle::Outcome Model::run(const std::string &entry, const std::string &line) {
  if (!module_) {
    ADD_FAILURE() << diagnostics_;
    return {};
  }
  for (const EntryInfo &info : interpreter_->info().entries) {
    if (info.name != entry)
      continue;
    Batch batch(interpreter_->info());
    InstanceReader reader(interpreter_->info(), info);
    (void)reader.append(line, batch); // what is wrong stands in the batch
    batch.finish();
    return interpreter_->run(entry, batch, 0);
  }
  ADD_FAILURE() << "no entry " << entry;
  return {};
}

oracle::Outcome Model::differentiate(const std::string &loss, const std::string &line) {
  interpreter_->setDifferentiates(true);
  oracle::Outcome outcome = run(loss, line);
  interpreter_->setDifferentiates(false);
  return outcome;
}

static void collect(const oracle::Value &value, std::vector<double> &numbers) {
  if (value.isList())
    for (const oracle::Value &element : value.elements())
      collect(element, numbers);
  else if (value.isNode())
    numbers.push_back(value.node());
  else
    for (int64_t i = 0; i < value.size(); ++i)
      numbers.push_back(value.at(i));
}

std::vector<double> Model::numbers(const std::string &entry, const std::string &line) {
  oracle::Outcome outcome = run(entry, line);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.message;
  std::vector<double> numbers;
  for (const oracle::Value &value : outcome.values)
    collect(value, numbers);
  return numbers;
}

std::string Model::error(const std::string &entry, const std::string &line) {
  oracle::Outcome outcome = run(entry, line);
  EXPECT_FALSE(outcome.status.ok());
  return outcome.status.message;
}

void expectNear(const std::vector<double> &found, const std::vector<double> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << "at " << i;
    else if (std::isinf(expected[i]))
      EXPECT_EQ(found[i], expected[i]) << "at " << i;
    else
      EXPECT_NEAR(found[i], expected[i], 1e-6 * (1 + std::fabs(expected[i]))) << "at " << i;
  }
}

} // namespace dbc::oracletest
