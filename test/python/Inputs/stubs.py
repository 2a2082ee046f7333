"""Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import ast
import inspect
import os
import resource
import subprocess
import sys

import common
import dbc

m = dbc.load(common.model("fields"))
dbc.write_stub(m, os.path.join(sys.argv[1], "stub.pyi"))
with open(os.path.join(sys.argv[1], "stub.pyi")) as file:
    tree = ast.parse(file.read())
classes = {each.name: ast.unparse(each) for each in tree.body if isinstance(each, ast.ClassDef)}
assert list(classes) == ["Token", "Other", "A", "B", "_entry_report", "_entry_load", "_entry_word", "_entry_both", "_entry_nothing", "Fields"]
assert "def __init__(self, word: int=..., class_: int=..., flag: bool=..., deps: Sequence[Token]=..." in classes["Token"]
assert "-> tuple[NDArray[np.float32], list[NDArray[np.int32]]]" in classes["_entry_both"]
assert "Sequence[tuple[()] | dict[str, Any]]" in classes["_entry_nothing"]
# What the stub names is there, and is what the stub says: also of a model whose names the class, its objects or Python have.
n = dbc.load(common.model("names"))
dbc.write_stub(n, os.path.join(sys.argv[1], "names.pyi"))
for model, name in ((m, "stub.pyi"), (n, "names.pyi")):
    with open(os.path.join(sys.argv[1], name)) as file:
        body = ast.parse(file.read()).body[-1].body
    for each in body:
        kind = ast.unparse(each.annotation)
        found = getattr(model, each.target.id)
        assert found is (model.entries[kind[7:]] if kind.startswith("_entry_") else
                         {**model.types, **model.constructors}[kind[len("type[_type_"):-1]]), (each.target.id, found)
    named = {**model.types, **model.constructors, **model.entries}.values()
    assert {id(getattr(model, each.target.id)) for each in body} == {id(each) for each in named}
assert sorted(name for name in vars(n) if name.endswith("_")) == ["_code_", "_loaded_", "class_", "constructors_", "entries_", "lambda_",
                                                                 "name_", "report_", "report__", "types_"]
assert n.name == "names" and n.name_([n.Leaf(3), n.types_(4)]).tolist() == [3, 4] and n.report_([()]).tolist() == [1]
assert n.entries["_code"]([()]).tolist() == [2] and isinstance(n.Leaf(3), n.report__)
# Data types may be called as what a stub imports, as the class of the model or as a keyword: the stub has other classes for them.
h = dbc.load(common.model("hidden"))
dbc.write_stub(h, os.path.join(sys.argv[1], "hidden.pyi"))
with open(os.path.join(sys.argv[1], "hidden.pyi")) as file:
    classes = {each.name: ast.unparse(each) for each in ast.parse(file.read()).body if isinstance(each, ast.ClassDef)}
assert list(classes) == ["Opt", "None_", "Some", "Any_", "dbc_", "Hidden_", "_entry_class", "Hidden"]
assert "self_: Opt=..., next: Any_=..., of: dbc_=..." in classes["Some"] and "lambda_: float=..." in classes["Some"]
assert "Any: type[_type_Any]" in classes["Hidden"] and "class_: _entry_class" in classes["Hidden"]
assert "Sequence[tuple[Opt, Any_, dbc_, Hidden_] | dict[str, Any]]" in classes["_entry_class"]
nowhere = os.path.join(sys.argv[1], "nowhere", "stub.pyi")
with common.raises(dbc.FileError, f"cannot write `{nowhere}`: No such file or directory", code="io"):
    dbc.write_stub(h, nowhere)
# A stub is written as a whole, through links and into what is no file, and not touched where it is the same already.
place, link = (os.path.join(sys.argv[1], name) for name in ("hidden.pyi", "link.pyi"))
os.symlink("hidden.pyi", link)
os.chmod(place, 0o604)
before = os.stat(place)
dbc.write_stub(h, link)
assert os.stat(place).st_mtime_ns == before.st_mtime_ns and os.stat(place).st_ino == before.st_ino
dbc.write_stub(m, link)
assert os.path.islink(link) and os.stat(place).st_mode == before.st_mode and os.stat(place).st_ino != before.st_ino
with open(place) as one, open(os.path.join(sys.argv[1], "stub.pyi")) as two:
    assert one.read() == two.read()
dbc.write_stub(m, "/dev/null")
# What cannot be written to its end leaves the file as it was, and nothing beside it.
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
with common.raises(dbc.FileError, f"cannot write `{link}`: File too large"):
    dbc.write_stub(h, link)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
with open(place) as one, open(os.path.join(sys.argv[1], "stub.pyi")) as two:
    assert one.read() == two.read()
assert sorted(os.listdir(sys.argv[1])) == ["hidden.pyi", "link.pyi", "names.pyi", "stub.pyi"]
# The extension has a stub of each of its classes, and the package says that it is typed.
folder = os.path.dirname(dbc.__file__)
assert os.path.exists(os.path.join(folder, "py.typed"))
with open(os.path.join(folder, "_dbc.pyi")) as file:
    made = {each.name for each in ast.parse(file.read()).body if isinstance(each, ast.ClassDef)}
assert made == {name for name, each in vars(dbc._dbc).items() if inspect.isclass(each)}
# What fills a batch is not offered: a batch is filled by what makes it, and once.
assert [name for name in dir(dbc.Batch) if not name.startswith("_")] == ["nodes"]
batch = m.nothing.batch([()])
for fill in (lambda: batch._fill_with_objects(4, [()]), lambda: batch._fill_with_lines(4, "{}"), lambda: batch._begin_columns(1)):
    with common.raises(dbc.CallError, "the batch is filled already: a batch is made for its inputs and not used again for others"):
        fill()
assert len(batch) == 1
bare = dbc._dbc.LoadedModel(m._code, 1)
for use in (lambda: bare.share_subtrees(True), lambda: dbc._dbc.Entry(bare, 4)._call(batch, None, None)):
    with common.raises(dbc.CallError, "fields: the model has no weights yet"):
        use()
# All that is offered has a docstring.
for name in dbc.__all__:
    assert getattr(dbc, name).__doc__, name
    for method, value in vars(getattr(dbc, name)).items():
        assert method.startswith("_") or not inspect.isfunction(value) or value.__doc__, (name, method)

# A report is that of the program, and has a table of the stages. To look at one costs one call of the program.
asked, ask = [], dbc._compile.ask
dbc._compile.ask = lambda *given: asked.append(given) or ask(*given)
m.report()._repr_html_()
str(m.report())
assert len(asked) == 2, asked
report = m.report()
assert report.data is report.data and len(asked) == 3
dbc._compile.ask = ask
assert report.data["model"] == "fields" and str(report).startswith("entry `report`: ")
page = report._repr_html_()
assert page.count("<tr>") == sum(1 + len(each["stages"]) for each in report.data["programs"]) and "<h4>entry both</h4>" in page
# It is of the model as it was loaded, numbers of double precision included.
tree = common.model("tree")
for real in ("f32", "f64"):
    printed = subprocess.run([dbc._compile.program(), "report", tree, "-Dvocab=20", "--mode", "train", "--real", real], capture_output=True,
                             text=True, check=True).stdout
    assert str(dbc.load(tree, vocab=20, mode="train", real=real).report()) == printed
    assert f"memory: {16 if real == 'f32' else 32} bytes for each node that `encode` is called for, kept to the end" in printed
