// Imports: where they are looked for, what they may be (N2), and what is said if they may not.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Modules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace dbc::frontend;
namespace fs = std::filesystem;

namespace {

/// Files in a folder of their own, in which the test runs, so that messages hold no changing paths.
class Modules : public ::testing::Test {
protected:
  void SetUp() override {
    before_ = fs::current_path();
    auto *info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("dbc-modules-" + std::string(info->name()) + "-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  void write(const std::string &path, const std::string &text) {
    if (!fs::path(path).parent_path().empty())
      fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  std::unique_ptr<Program> load(const std::string &path) {
    auto program = loadProgram(path, options, sources, diags);
    EXPECT_EQ(program == nullptr, diags.hasErrors());
    return program;
  }
  /// What is printed when this is loaded.
  std::string errors(const std::string &path) {
    EXPECT_FALSE(load(path));
    return "\n" + diags.str();
  }

  LoadOptions options;
  SourceManager sources;
  DiagnosticEngine diags{sources};

private:
  fs::path before_, folder_;
};

} // namespace

// Imported files come first, each once, however many import it; beside the file goes before -I, -I before the
// library.
TEST_F(Modules, Order) {
  write("m.dyn", "model m; import a; import sub.b; import nn; import c;");
  write("a.dyn", "module a; import nn;");
  write("sub/b.dyn", "module b; import beside;");
  write("sub/beside.dyn", "module beside;");
  write("beside.dyn", "module wrong;");
  write("inc/nn.dyn", "module nn_of_inc;");
  write("lib/nn.dyn", "module nn_of_lib;");
  write("lib/c.dyn", "module c;");
  options.includeDirs = {"inc"};
  options.libraryDir = "lib";
  auto program = load("m.dyn");
  ASSERT_TRUE(program) << diags.str();
  std::vector<std::string> names;
  for (auto &file : program->files)
    names.push_back(file->name.text);
  EXPECT_EQ(names, (std::vector<std::string>{"nn_of_inc", "a", "beside", "b", "c", "m"}));
  EXPECT_EQ(program->paths, (std::vector<std::string>{"inc/nn.dyn", "a.dyn", "sub/beside.dyn", "sub/b.dyn",
                                                      "lib/c.dyn", "m.dyn"}));
  EXPECT_EQ(&program->main(), program->files[5].get());
  EXPECT_EQ(program->main().imports[1].file, program->files[3].get());
  EXPECT_EQ(program->main().imports[1].name().text, "b");
}

TEST_F(Modules, FromText) {
  write("d/a.dyn", "module a;");
  auto program = loadProgramText("d/m.dyn", "model m; import a;", options, sources, diags);
  ASSERT_TRUE(program) << diags.str();
  EXPECT_EQ(program->files.size(), 2u);
}

TEST_F(Modules, NoFile) {
  EXPECT_EQ(errors("m.dyn"), "\ndbc: error: `m.dyn` cannot be read: No such file or directory\n");
}

TEST_F(Modules, Directory) {
  fs::create_directories("m.dyn");
  EXPECT_EQ(errors("m.dyn"), "\ndbc: error: `m.dyn` cannot be read: it is a directory\n");
}

TEST_F(Modules, NoModule) {
  write("m.dyn", "model m;\nimport a.b;\n");
  options.includeDirs = {"inc"};
  options.libraryDir = "lib";
  EXPECT_EQ(errors("m.dyn"), R"(
m.dyn:2:8: error: there is no module `a.b`; it would be `a/b.dyn` in one of `.`, `inc`, `lib` [N2]
    import a.b;
           ^~~
hint: name the directory with `-I`
)");
}

TEST_F(Modules, NoModuleOfPython) {
  write("m.dyn", "model m;\nimport torch.nn;\n");
  options.libraryDir = "lib";
  EXPECT_EQ(errors("m.dyn"), R"(
m.dyn:2:8: error: there is no module `torch.nn`; it would be `torch/nn.dyn` in one of `.`, `lib` [N2]
    import torch.nn;
           ^~~~~~~~
hint: modules are files of this language, not of Python; `import nn;` has layers as `nn.Linear`
)");
}

TEST_F(Modules, NoModuleButOneLikeIt) {
  write("m.dyn", "model m;\nimport layers.attntion;\n");
  write("lib/layers/attention.dyn", "module attention;");
  options.libraryDir = "lib";
  EXPECT_EQ(errors("m.dyn"), R"(
m.dyn:2:8: error: there is no module `layers.attntion`; it would be `layers/attntion.dyn` in one of `.`, `lib` [N2]
    import layers.attntion;
           ^~~~~~~~~~~~~~~
hint: did you mean `attention`?
)");
}

TEST_F(Modules, Cycle) {
  write("m.dyn", "model m;\nimport a;\n");
  write("a.dyn", "module a;\nimport b;\n");
  write("b.dyn", "module b;\nimport c;\n");
  write("c.dyn", "module c;\nimport a;\n");
  EXPECT_EQ(errors("m.dyn"), R"(
c.dyn:2:8: error: `a` imports itself: `a` -> `b` -> `c` -> `a`; imports form no cycles [N2]
    import a;
           ^
a.dyn:2:8: note: `b` is imported here
    import b;
           ^
b.dyn:2:8: note: `c` is imported here
    import c;
           ^
)");
}

TEST_F(Modules, ImportsItself) {
  write("m.dyn", "model m;\nimport m;\n");
  EXPECT_EQ(errors("m.dyn"), R"(
m.dyn:2:8: error: `m` imports itself: `m` -> `m`; imports form no cycles [N2]
    import m;
           ^
)");
}

TEST_F(Modules, ImportsModel) {
  write("m.dyn", "model m;\nimport a;\n");
  write("a.dyn", "model a;\n");
  EXPECT_EQ(errors("m.dyn"), R"(
m.dyn:2:8: error: `a` is a model; only modules are imported [N2]
    import a;
           ^
a.dyn:1:7: note: it says so here
    model a;
          ^
)");
}

TEST_F(Modules, SameNameTwice) {
  write("m.dyn", "model m;\nimport a.x;\nimport b.x;\n");
  write("a/x.dyn", "module x;");
  write("b/x.dyn", "module x;");
  EXPECT_EQ(errors("m.dyn"), R"(
m.dyn:3:8: error: a second import is called `x`; names of imports are different [N2]
    import b.x;
           ^~~
m.dyn:2:8: note: this is the first one
    import a.x;
           ^~~
)");
}

// Errors of an imported file are shown once, where they are.
TEST_F(Modules, ErrorsOfImported) {
  write("m.dyn", "model m;\nimport a;\nimport b;\n");
  write("a.dyn", "module a;\nimport b;\n");
  write("b.dyn", "module b;\nconst x;\n");
  EXPECT_EQ(errors("m.dyn"), R"(
b.dyn:2:8: error: expected `=` or `:` after `x`, found `;`
    const x;
           ^
)");
}

TEST_F(Modules, WhatModulesHaveNot) {
  write("a.dyn", R"(module a;
dim d;
param W: f32;
const E: f32[2];
const k = 2;
layer L { param W: f32; const E: f32[2]; }
entry e(x: f32) -> f32 { x }
loss l(x: f32) { x }
)");
  EXPECT_EQ(errors("a.dyn"), R"(
a.dyn:2:5: error: the dim `d` stands in the module `a`; a module has none at its top [N2]
    dim d;
        ^
hint: make it a dim of the layers that use it: `layer L[d] { .. }`
a.dyn:3:7: error: the param `W` stands in the module `a`; a module has none at its top [N2]
    param W: f32;
          ^
hint: put it into a layer
a.dyn:4:7: error: the tensor const `E` stands in the module `a`; a module has none at its top [N2]
    const E: f32[2];
          ^
hint: put it into a layer
a.dyn:7:7: error: the entry `e` stands in the module `a`; a module has none at its top [N2]
    entry e(x: f32) -> f32 { x }
          ^
hint: put it into the model
a.dyn:8:6: error: the loss `l` stands in the module `a`; a module has none at its top [N2]
    loss l(x: f32) { x }
         ^
hint: put it into the model
)");
}
