"""Reports. Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE."""
import html
import json

from . import _compile


class Report:
    """What `dbc report` says of a model: `data` is its JSON; printed it is its text, in a notebook a table of the stages."""

    def __init__(self, path, options):
        self.data = json.loads(_compile.ask("report", path, [*options, "--json"])[0])
        self._text = _compile.ask("report", path, options)[0]

    def __str__(self):
        return self._text

    __repr__ = __str__
