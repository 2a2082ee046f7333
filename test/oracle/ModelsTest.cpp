// Every model of this repository through front end and oracle: random inputs have values, and the module
// reads back.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include <dbc/io/instance.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

using namespace dbc;
using namespace dbc::oracletest;

static std::vector<std::string> models() {
  std::vector<std::string> paths;
  for (const char *folder : {"/examples", "/test/models"})
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(DBC_SOURCE_DIR + std::string(folder)))
      if (entry.path().extension() == ".dyn")
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Models : public testing::TestWithParam<std::string> {};

TEST_P(Models, RandomInputs) {
  std::ifstream file(GetParam());
  std::stringstream text;
  text << file.rdbuf();
  // What has no number in the text gets a small one.
  std::map<std::string, int64_t> dims;
  for (const char *dim : {"vocab", "chars", "tags"})
    if (std::regex_search(text.str(), std::regex("dim ([^;=]*, )?" + std::string(dim) + "[,;]")))
      dims[dim] = 12;
  Model model(text.str(), dims);
  // Remarks are fine, such as those on descents that no one can prove.
  ASSERT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
  ASSERT_EQ(model.diagnostics().find("warning:"), std::string::npos) << model.diagnostics();
  model.draw(1);

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<dyn::DynDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::tensor::TensorDialect, mlir::linalg::LinalgDialect>();
  auto again = mlir::parseSourceString<mlir::ModuleOp>(model.print(), &context);
  ASSERT_TRUE(again);

  for (const EntryInfo &entry : model.info().entries)
    for (uint64_t number = 0; number < 5; ++number) {
      Instance instance;
      DrawOptions options;
      options.most_nodes = 12;
      options.big_nodes = 12;
      Status status = draw_instance(model.info(), entry, 3, number, instance, options);
      ASSERT_TRUE(status.ok()) << status.message;
      oracle::Outcome outcome = model.run(entry.name, instance_json(model.info(), entry, instance));
      // An empty list where `max` or `xs[0]` stands may refuse an input; nothing else may.
      if (!outcome.status.ok())
        EXPECT_EQ(outcome.status.code, Code::bad_input) << outcome.status.message;
      else
        EXPECT_FALSE(outcome.values.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(, Models, testing::ValuesIn(models()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           return std::filesystem::path(info.param).stem().string();
                         });
