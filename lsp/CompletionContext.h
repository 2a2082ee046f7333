// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What stands before a place in a text that is being typed, and so need not parse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::lsp {

/// A name and what is made of it: `fwd.step(x, s).h` is Name Member Call Member.
struct Chain {
  enum class Step {
    Name,   ///< the first one
    Member, ///< `.name`
    Call,   ///< `(..)`
    Element ///< `[i]`; a slice `[a..b]` is none, it changes no type that has members
  };
  struct Link {
    Step step;
    std::string name; ///< Name, Member
  };
  std::vector<Link> links;
};

/// Where a word is being typed.
struct CompletionContext {
  enum class Kind {
    None,        ///< in a comment or a number
    Import,      ///< behind `import`
    Member,      ///< behind `.`
    Arm,         ///< where an arm of a match begins
    ArmField,    ///< among the fields of an arm
    Declaration, ///< outside of all declarations
    LayerMember, ///< in a layer, outside of its functions
    Expression   ///< anywhere else
  };
  Kind kind = Kind::Expression;
  uint32_t begin = 0;            ///< the byte where the word begins
  std::optional<Chain> base;     ///< Member: what stands before the `.`; Arm, ArmField: what is matched
  std::string constructor;       ///< ArmField
  std::optional<Chain> record;   ///< where a record's field may be named: the record
  std::vector<std::string> path; ///< Import: the folders named so far
};

/// Looks at the text before the byte `offset`. Takes time O(offset).
CompletionContext contextAt(std::string_view text, uint32_t offset);

} // namespace dbc::lsp
