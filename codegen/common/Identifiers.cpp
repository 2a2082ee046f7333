// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reserved words and free names.
#include "codegen/common/Identifiers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dbc::codegen {

/// Names like those of the macros that C's and POSIX' headers define: INT_MAX, M_PI, FP_NAN, EXIT_SUCCESS.
static bool mayBeMacro(StringRef name) {
  if (is_contained({"offsetof", "isfinite", "isnormal", "isgreater", "isless", "isunordered", "fpclassify",
                    "va_start", "va_arg", "va_end", "va_copy", "setjmp", "minor", "major", "makedev"},
                   name))
    return true;
  if (name.size() < 3 || any_of(name, isLower))
    return false;
  static constexpr StringRef prefixes[] = {"DBC_",  "M_",    "FP_",    "SEEK_", "EXIT_",  "RAND_",  "HUGE_",
                                           "MATH_", "LC_",   "CLOCK",  "MB_",   "BUFSIZ", "SIG",    "INT",
                                           "UINT",  "FLT_",  "DBL_",   "LDBL_", "CHAR_",  "WCHAR_", "ATOMIC_",
                                           "ONCE_", "TIME_", "ERANGE", "EDOM",  "EILSEQ", "PRI",    "SCN"};
  return any_of(prefixes, [&](StringRef prefix) { return name.starts_with(prefix); }) ||
         name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_BIT");
}

static bool isReserved(StringRef name) {
  // Keywords up to C++23, and what headers that generated code includes define as macros or at the top.
  static const llvm::StringSet<> words = {"alignas",       "alignof",     "and",
                                          "and_eq",        "asm",         "auto",
                                          "bitand",        "bitor",       "bool",
                                          "break",         "case",        "catch",
                                          "char",          "char16_t",    "char32_t",
                                          "char8_t",       "class",       "co_await",
                                          "co_return",     "co_yield",    "compl",
                                          "concept",       "const",       "const_cast",
                                          "consteval",     "constexpr",   "constinit",
                                          "continue",      "decltype",    "default",
                                          "delete",        "do",          "double",
                                          "dynamic_cast",  "else",        "enum",
                                          "explicit",      "export",      "extern",
                                          "false",         "float",       "for",
                                          "friend",        "goto",        "if",
                                          "inline",        "int",         "long",
                                          "mutable",       "namespace",   "new",
                                          "noexcept",      "not",         "not_eq",
                                          "nullptr",       "operator",    "or",
                                          "or_eq",         "private",     "protected",
                                          "public",        "register",    "reinterpret_cast",
                                          "requires",      "return",      "short",
                                          "signed",        "sizeof",      "static",
                                          "static_assert", "static_cast", "struct",
                                          "switch",        "template",    "this",
                                          "thread_local",  "throw",       "true",
                                          "try",           "typedef",     "typeid",
                                          "typename",      "union",       "unsigned",
                                          "using",         "virtual",     "void",
                                          "volatile",      "wchar_t",     "while",
                                          "xor",           "xor_eq",      "NULL",
                                          "EOF",           "INFINITY",    "NAN",
                                          "linux",         "unix",        "errno",
                                          "assert",        "main",        "std",
                                          "dbc",           "real",        "int8_t",
                                          "int16_t",       "int32_t",     "int64_t",
                                          "uint8_t",       "uint16_t",    "uint32_t",
                                          "uint64_t",      "size_t",      "stdin",
                                          "stdout",        "stderr",      "signbit",
                                          "isnan",         "isinf",       "DBC_CLONES",
                                          "DBC_INLINE",    "DBC_VECTOR",  "DBC_NO_CLONES",
                                          "INT32_MIN",     "INT32_MAX",   "SIZE_MAX",
                                          "threadIdx",     "blockIdx",    "blockDim",
                                          "gridDim",       "warpSize"};
  return words.contains(name) || mayBeMacro(name);
}

std::string identifier(StringRef name) {
  std::string out;
  for (char c : name) {
    char next = isAlnum(c) ? c : '_';
    if (next == '_' && !out.empty() && out.back() == '_')
      continue; // two underscores in a row are the implementation's
    out += next;
  }
  while (!out.empty() && out.front() == '_')
    out.erase(out.begin());
  if (out.empty())
    return "x";
  if (isDigit(out.front()))
    out = "n" + out;
  if (isReserved(out))
    out += '_';
  return out;
}

std::string capitalised(StringRef name) {
  std::string out = name.str();
  if (!out.empty())
    out[0] = toUpper(out[0]);
  return out;
}

bool NameScope::free(StringRef name, ArrayRef<StringRef> suffixes) const {
  return !taken(name) && !avoided_.contains(name) &&
         none_of(suffixes, [&](StringRef suffix) { return taken((name + suffix).str()); });
}

std::string NameScope::fresh(StringRef wish, ArrayRef<StringRef> suffixes) {
  std::string name = identifier(wish), candidate = name;
  // No two underscores in a row.
  StringRef before = name.back() == '_' ? "n" : isDigit(name.back()) ? "_" : "";
  unsigned first = 2, &n = suffixes.empty() ? next_.try_emplace(name, first).first->second : first;
  for (; !free(candidate, suffixes); ++n)
    candidate = name + before.str() + utostr(n);
  taken_.insert(candidate);
  for (StringRef suffix : suffixes)
    taken_.insert(candidate + suffix.str());
  return candidate;
}

std::string NameScope::fresh(std::initializer_list<StringRef> wishes, ArrayRef<StringRef> suffixes) {
  for (StringRef wish : wishes)
    if (free(identifier(wish), suffixes))
      return fresh(wish, suffixes);
  return fresh(*wishes.begin(), suffixes);
}

} // namespace dbc::codegen
