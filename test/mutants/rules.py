#!/usr/bin/env python3
# Mistakes put into the rules of derivatives: C++ in, C++ with all its mutants out. $MUTANT chooses one when it runs, none
# without. What is compiled of it is linked into a dbc of its own, see derivatives.py.
#
#   rules.py OUTDIR SOURCE..      writes OUTDIR/NAME.cpp of each, and OUTDIR/mutants.json: all mutants
#
# A mutant is one statement, one initialiser or one condition that is changed, or a statement that is dropped. It has the
# types that the original has, so that it compiles: what is exchanged are functions of one signature, cases of one enum, operands
# of one type, literals, signs and comparisons.
#
# Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
import collections
import json
import os
import re
import sys

Mutant = collections.namedtuple("Mutant", "number file rule line kind original changed")
# Something that may be changed: text[start:end]. Form: return, inner return (of a lambda), statement, value (an initialiser, or one of a condition) or range.
Place = collections.namedtuple("Place", "start end form type rule parts")

# Of a file only these functions concern derivatives.
ONLY = {"Schedule.cpp": ["transpose_by", "transpose"]}
# Names of symbols and messages are not rules.
NOT_RULES = {"unique", "refuse", "recompute"}
# What an initialiser may be of: a mutant gives the same.
TYPES = r"(?:Value|bool|int64_t|int32_t|double|size_t|Type|AffineExpr|FlatSymbolRefAttr|auto)"

SAME_TYPE = [  # pattern -> replacement, one mutant a match
    ("predicate", r"\bO(?:GT|GE)(?!\w)", "OLT"),
    ("predicate", r"\bO(?:LT|LE)(?!\w)", "OGT"),
    ("predicate", r"\bUNE\b", "OEQ"),
    ("predicate", r"\bOEQ\b", "UNE"),
    ("predicate", r"\bsge\b", "sgt"),
    ("predicate", r"\bslt\b", "sle"),
    ("predicate", r"CmpIPredicate::eq\b", "CmpIPredicate::ne"),
    ("reduction", r"ReduceKind::Sum\b", "ReduceKind::Max"),
    ("reduction", r"ReduceKind::Sum\b", "ReduceKind::Mean"),
    ("reduction", r"ReduceKind::Max\b", "ReduceKind::Min"),
    ("reduction", r"ReduceKind::Min\b", "ReduceKind::Max"),
    ("function", r"FunctionKind::Sigmoid\b", "FunctionKind::Relu"),
    ("function", r"math::SinOp::create", "math::CosOp::create"),
    ("function", r"math::CosOp::create", "math::SinOp::create"),
    ("function", r"arith::AddFOp::create", "arith::SubFOp::create"),
    ("function", r"arith::SubFOp::create", "arith::AddFOp::create"),
    ("function", r"arith::MulFOp::create", "arith::DivFOp::create"),
    ("function", r"arith::DivFOp::create", "arith::MulFOp::create"),
    ("function", r"arith::AddIOp::create", "arith::SubIOp::create"),
    ("function", r"arith::SubIOp::create", "arith::AddIOp::create"),
    ("function", r"arith::AndIOp::create", "arith::OrIOp::create"),
    ("function", r"\brows\.add\(", "rows.sub("),
    ("function", r"\brows\.sub\(", "rows.add("),
    ("function", r"\brows\.div\(", "rows.mul("),
    ("function", r"\bstd::max\b", "std::min"),
    ("function", r"\bstd::min\b", "std::max"),
    ("function", r"\ball_of\(", "any_of("),
    ("function", r"\bany_of\(", "all_of("),
    ("operand", r"\bgetLhs\(\)", "getRhs()"),
    ("operand", r"\bgetRhs\(\)", "getLhs()"),
    ("operand", r"\b1 - (\w+)\b(?!\.| -)", r"\1"),
    ("operand", r"\btake_front\(", "take_back("),
    ("relation", r'"parent"', '"row"'),
    ("relation", r'"row"', '"parent"'),
    ("relation", r'"position"', '"length"'),
    ("relation", r'"length"', '"position"'),
    ("relation", r"\bgetFirst\(\)", "getLength()"),
    ("relation", r"\bgetLength\(\)", "getFirst()"),
    ("direction", r"\breversed\((\w+)\)", r"\1"),
    ("direction", r"\bllvm::reverse\(extents\((\w+)\.getType\(\)\)\)", r"extents(\1.getType())"),
    ("sign", r"\brows\.neg\(", "("),
    ("factor", r"\brows\.exp\(", "("),
    ("condition", r"(?<![\w=])!(?=[\w(])", ""),
    ("condition", r" && ", " || "),
    ("condition", r" \|\| ", " && "),
    ("condition", r" == ", " != "),
    ("condition", r" != ", " == "),
    ("condition", r" < ", " <= "),
    ("condition", r" > ", " >= "),
    ("condition", r" >= ", " > "),
    ("condition", r"\bfalse\b", "true"),
    ("condition", r"\btrue\b", "false"),
    ("arithmetic", r'(?<!_) \+ (?!_)', " - "),
    ("arithmetic", r" - ", " + "),
    ("arithmetic", r" \*= ", " += "),
    ("arithmetic", r" \+= ", " -= "),
    ("arithmetic", r" % ", " / "),
    ("arithmetic", r"(?<=[\w)\]]) / (?=[\w(])", " * "),
    ("number", r"(?<![\w.])0(?![\w.])", "1"),
    ("number", r"(?<![\w.])1(?![\w.])", "2"),
    ("number", r"(?<![\w.])2(?![\w.])", "1"),
    ("number", r"(?<![\w.])0\.5(?![\w.])", "1.0"),
    ("number", r"(?<![\w.])1\.0(?![\w.])", "2.0"),
    ("number", r"\bM_\w+", "1.0"),
]
# Function, and which of its arguments are all that is left, or change places.
ARGUMENTS = [
    ("term", r"\brows\.(?:add|sub)\(", [[0], [1]]),
    ("factor", r"\brows\.(?:mul|div)\(", [[0]]),
    ("factor", r"\brows\.scale\(", [[0], [1]]),
    ("guard", r"\brows\.unlessZero\(", [[1]]),
    ("guard", r"\brows\.unlessAllZero\(", [[2]]),
    ("guard", r"\brows\.where\(", [[1]]),
    ("arms", r"\brows\.select\(", [(1, 2)]),
    ("arms", r"\barith::SelectOp::create\(", [(3, 4)]),
    ("operand", r"\brows\.(?:sub|div|contract)\(", [(0, 1)]),
    ("place", r"\brows\.pad\(", [(2, 3)]),
]


def masked(text):
    """The text with blanks for comments, and for what stands in quotes but short words."""
    def blank(match):
        quoted = match[0][0] == '"' and re.fullmatch(r'"(parent|row|position|length)"', match[0])
        return match[0] if quoted else re.sub(r"[^\n]", " " if match[0][0] == "/" else "_", match[0])

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', blank, text, flags=re.S)


def closing(text, at):
    """Where the bracket at `at` ends."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError(f"no end of {text[at : at + 40]!r}")


def split(text, start, end):
    """Spans between commas outside of brackets; that of a template's arguments counts as one."""
    spans, begin, i, angles = [], start, start, 0
    while i < end:
        if text[i] in "([{":
            i = closing(text, i)
        elif text[i] == "<" and re.match(r"[\w:]", text[i - 1]):
            angles += 1
        elif text[i] == ">" and angles:
            angles -= 1
        elif text[i] == "," and not angles:
            spans.append((begin, i))
            begin = i + 1
        i += 1
    return [*spans, (begin, end)] if end > start else []


class Reader:
    """Finds the places of a source."""

    def __init__(self, text, only):
        self.text, self.only, self.places, self.rule, self.case, self.lambdas = masked(text), only, [], "", "", 0
        self.declarations(0, len(text))

    def skip(self, at, end):
        while at < end:
            if self.text[at] == "#":
                at = self.text.find("\n", at)
            elif self.text[at].isspace() or self.text[at] in ";}":
                at += 1
            else:
                break
        return at

    def head(self, at, end):
        """Where a declaration's ';' or '{' is."""
        while at < end and self.text[at] not in ";{":
            at = closing(self.text, at) + 1 if self.text[at] in "([" else at + 1
        return at

    def declarations(self, at, end):
        while (at := self.skip(at, end)) < end:
            stop = self.head(at, end)
            if stop >= end or self.text[stop] == ";":
                at = stop + 1
                continue
            close, words = closing(self.text, stop), self.text[at:stop]
            if re.match(r"namespace\b|(template <[^{]*> )?(struct|class)\b", words):
                self.declarations(stop + 1, close)
            elif match := re.search(r"([\w~]+)\s*\(", re.sub(r"template <[^\n]*?>\s", "", words)):
                self.rule, self.case = match[1], ""
                if not (self.rule in NOT_RULES or (self.only and self.rule not in self.only)):
                    self.statements(stop + 1, close)
            at = close + 1

    def add(self, start, end, form, type_=""):
        """A place, and those in the lambdas that it holds."""
        while self.text[start].isspace():
            start += 1
        number = len(self.places)
        self.places.append(None)
        lambdas = []
        for match in re.finditer(r"\[[&=\w, ]*\] ?(\([^{}()]*\))? ?(-> \w+ )?\{", self.text[start:end]):
            open_ = start + match.end() - 1
            if not lambdas or open_ > lambdas[-1][1]:
                lambdas.append((open_, closing(self.text, open_)))
        self.lambdas += 1
        for open_, close in lambdas:
            self.statements(open_ + 1, close)
        self.lambdas -= 1
        rule = self.rule + (f" {self.case}" if self.case else "")
        self.places[number] = Place(start, end, form, type_, rule, lambdas)

    def statements(self, at, end):
        while (at := self.skip(at, end)) < end:
            if self.text[at] == "{":
                close = closing(self.text, at)
                self.statements(at + 1, close)
                at = close + 1
            elif match := re.compile(r"(?:if|for|while|switch) \(").match(self.text, at):
                close = closing(self.text, match.end() - 1)
                self.header(match[0], match.end(), close)
                at = close + 1
            elif match := re.compile(r"else\b|do\b|default:").match(self.text, at):
                at = match.end()
            elif match := re.compile(r"case ([\w:]+):(?!:)").match(self.text, at):
                self.case, at = match[1].split("::")[-1], match.end()
            else:
                stop = at
                while self.text[stop] != ";":
                    stop = closing(self.text, stop) + 1 if self.text[stop] in "([{" else stop + 1
                self.statement(at, stop)
                at = stop + 1

    def header(self, keyword, start, end):
        text = self.text[start:end]
        if keyword == "for (":
            if text.count(";") == 2:
                _, condition, _ = text.split(";")
                begin = start + text.index(";") + 1
                if condition.strip():
                    self.add(begin, begin + len(condition), "value", "bool")
            elif match := re.search(r" : (?=llvm::reverse\()", text):
                self.add(start + match.end(), end, "range")
        elif keyword != "switch (":
            begin = start + text.rfind(";") + 1 if ";" in re.sub(r"\{.*?\}", lambda m: "_" * len(m[0]), text, flags=re.S) else start
            if not re.match(r"\s*(?:const )?(?:auto|Value|[\w:]+) \*?\w+ = ", self.text[begin:end]):
                self.add(begin, end, "value", "bool")

    def statement(self, start, end):
        text = self.text[start:end]
        if text.startswith("return"):
            if text.strip() not in ("return", "return {}", "return Value()"):
                self.add(start, end + 1, "inner return" if self.lambdas else "return")
            return
        if match := re.match(rf"(?:const )?({TYPES}) (?=\w+ = )", text):
            for begin, stop in split(self.text, start + match.end(), end):
                if equal := re.match(r"\s*\w+ = (?!\[)", self.text[begin:stop]):
                    self.add(begin + equal.end(), stop, "value", match[1])
                else:
                    self.add(begin, stop, "none")
            return
        is_declaration = re.match(r"(?:const |\[\[maybe_unused\]\] )?[\w:]+(?:<[^;=]*>)?(?: [&*]?| ?[*&])\w+\s*(?:[={(\[,]|$)|using ", text)
        if is_declaration or text.startswith(("assert(", "LDBG", "break", "delete ", "llvm_unreachable(")) or re.match(r"auto \[", text):
            self.add(start, end, "none")
        else:
            self.add(start, end + 1, "statement")


class Writer:
    """Gives each place its mutants."""

    def __init__(self, name, text, first):
        self.name, self.text, self.masked, self.mutants, self.first = name, text, masked(text), [], first
        self.places = Reader(text, ONLY.get(name)).places
        self.returns_value = set(re.findall(r"^(?:template <[^\n]*> )?Value (\w+)\(", text, re.M))

    def changes(self, place):
        """(kind, text) of all that may stand in a place instead."""
        code = self.masked[place.start : place.end]
        for open_, close in place.parts:
            begin, end = open_ + 1 - place.start, close - place.start
            code = code[:begin] + "_" * (end - begin) + code[end:]
        original, found = self.text[place.start : place.end], []

        def put(kind, begin, end, new):
            found.append((kind, original[:begin] + new + original[end:]))

        if place.form == "range":
            inner = re.fullmatch(r"\s*llvm::reverse\((.*)\)\s*", original, re.S)[1]
            return [("direction", inner)]
        for kind, pattern, replacement in SAME_TYPE:
            for match in re.finditer(pattern, code):
                put(kind, match.start(), match.end(), match.expand(replacement))
        for kind, pattern, ways in ARGUMENTS:
            for match in re.finditer(pattern, code):
                close = closing(code, match.end() - 1)
                spans = split(code, match.end(), close)
                arguments = [original[begin:end].strip() for begin, end in spans]
                for way in ways:
                    if isinstance(way, list):
                        put(kind, match.start(), close + 1, f"({arguments[way[0]]})")
                    else:
                        a, b = way
                        swapped = [*arguments]
                        swapped[a], swapped[b] = swapped[b], swapped[a]
                        put(kind, match.end(), close, ", ".join(swapped))
        if match := re.search(r"= (\w+ \? .* : )\w+;$", code, re.S):
            put("term", match.start(1), match.end(1), "")
        negates = re.fullmatch(r"(?:(?!&&|\|\|| \? ).)*(?: [!=]= |^\s*!)(?:(?!&&|\|\|| \? ).)*", code, re.S)
        if place.form == "value" and place.type == "bool" and not negates:
            found.append(("condition", f"!({original.strip()})"))
        if place.form == "statement" and not re.match(r"declare\.gradient|attach", original):
            found.append(("dropped", ";"))
        if place.form == "return" and place.rule.split()[0].startswith("of") and place.rule.split()[0] in self.returns_value:
            value = re.fullmatch(r"return (.*);", original, re.S)[1]
            found.append(("sign", f"return dbc_negated(rows, {value});" if "?" not in value else f"return dbc_negated(rows, ({value}));"))
        return list(dict.fromkeys((kind, new) for kind, new in found if new != original))

    def write(self):
        """The source with all its mutants."""
        return self.preamble(self.render(0, len(self.text), [p for p in self.places if p.form != "none" or p.parts]))

    def render(self, start, end, places):
        out, at = [], start
        for place in sorted(places, key=lambda p: (p.start, -p.end)):
            if place.start < at or place.start < start or place.end > end:
                continue
            inside = [p for p in places if p is not place and p.start >= place.start and p.end <= place.end]
            out += [self.text[at : place.start], self.rendered(place, inside)]
            at = place.end
        return "".join([*out, self.text[at:end]])

    def rendered(self, place, inside):
        alternatives = []
        for kind, new in self.changes(place) if place.form != "none" else []:
            line = self.text.count("\n", 0, place.start) + 1
            number = self.first + len(self.mutants)
            flat = lambda text: re.sub(r"\s+", " ", text).strip()
            self.mutants.append(Mutant(number, self.name, place.rule, line, kind, flat(self.text[place.start : place.end]), flat(new)))
            alternatives.append((number, new))
        original = self.render(place.start, place.end, inside)
        if not alternatives:
            return original
        if place.form in ("return", "inner return", "statement"):
            lines = [f"if (dbc_mutant == {number}) {{ {new} }} else" for number, new in alternatives]
            return "{ " + "\n".join([*lines, f"{{ {original} }} }}"])
        if place.form == "range":
            (number, new) = alternatives[0]
            return f"dbc_in_order(dbc_mutant == {number}, {new})"
        cast = "" if place.type == "auto" else place.type
        return "(" + "\n".join([*(f"dbc_mutant == {n} ? {cast}({new}) :" for n, new in alternatives), f"{cast}({original}))"])

    def preamble(self, text):
        rows = NEGATED if "class Rows" in text else ""
        helper = IN_ORDER if "dbc_in_order(" in text else ""
        text = CHOSEN + helper + text
        if rows:
            at = text.index("//===-- Elementwise")
            text = text[:at] + rows + re.sub(r"^(Value of\w+\([^\n]*\bRows),", r"\1 rows,", text[at:], flags=re.M)
        return f"// Made by test/mutants/rules.py of {self.name}.\n" + text


# Guards: several files may be compiled as one.
CHOSEN = """#ifndef DBC_MUTANT
#define DBC_MUTANT
#include <cstdlib>
static const int dbc_mutant = std::getenv("MUTANT") ? std::atoi(std::getenv("MUTANT")) : 0;
#endif
"""
NEGATED = "static Value dbc_negated(const Rows &rows, Value value) { return value ? rows.neg(value) : value; }\n"
# A range from its end, or where a mutant is chosen from its beginning.
IN_ORDER = """#ifndef DBC_IN_ORDER
#define DBC_IN_ORDER
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <vector>
template <class Range> auto dbc_in_order(bool forward, Range &&range) {
  using Element = std::remove_reference_t<decltype(*std::begin(range))>;
  struct {
    std::vector<Element *> elements;
    auto begin() { return llvm::pointee_iterator<Element **>(elements.data()); }
    auto end() { return llvm::pointee_iterator<Element **>(elements.data() + elements.size()); }
  } result;
  for (Element &element : range)
    result.elements.push_back(&element);
  if (!forward)
    std::reverse(result.elements.begin(), result.elements.end());
  return result;
}
#endif
"""


def main():
    out, sources = sys.argv[1], sys.argv[2:]
    os.makedirs(out, exist_ok=True)
    mutants = []
    for source in sources:
        with open(source) as file:
            writer = Writer(os.path.basename(source), file.read(), len(mutants) + 1)
        with open(os.path.join(out, os.path.basename(source)), "w") as file:
            file.write(writer.write())
        mutants += writer.mutants
    with open(os.path.join(out, "mutants.json"), "w") as file:
        json.dump([mutant._asdict() for mutant in mutants], file, indent=0)


if __name__ == "__main__":
    main()
