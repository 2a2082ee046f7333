"""Reports. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import functools
import html
import json

from . import _compile


class Report:
    """What `dbc report` says of a model: `data` is its JSON; printed it is its text, in a notebook a table of the stages.

    The program is asked for each of the two when it is first wanted."""

    def __init__(self, path, options):
        self._path = path
        self._options = options

    @functools.cached_property
    def data(self):
        """The report as the dict of its JSON. Raises CompileError if the model does not compile any more."""
        return json.loads(_compile.ask("report", self._path, [*self._options, "--json"])[0])

    @functools.cached_property
    def _text(self):
        return _compile.ask("report", self._path, self._options)[0]

    def __str__(self):
        return self._text

    __repr__ = __str__

    def _repr_html_(self):
        parts = [f"<h3>model {html.escape(self.data['model'])}</h3>"]
        for program in self.data["programs"]:
            parts.append(f"<h4>{'loss' if program['loss'] else 'entry'} {html.escape(program['entry'])}</h4>")
            rows = ["<tr>" + "".join(f"<th>{head}</th>" for head in ("stage", "line", "runs", "for", "products", "why not once"))
                    + "</tr>"]
            for stage in program["stages"]:
                cells = (stage["name"], stage["location"], stage["when"], stage["rows"], "; ".join(stage["products"]),
                         stage["why_not_once"])
                rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
            parts.append("<table>" + "".join(rows) + "</table>")
        return "".join(parts)
