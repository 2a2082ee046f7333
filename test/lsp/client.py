"""Speaks the language server protocol with a `dbc-lsp` over its stdin and stdout. Part of dbc, under Apache-2.0 WITH
LLVM-exception; see LICENSE."""
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
import urllib.parse


class Failed(Exception):
    """The server's error reply to a request: `code` and the message."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]


def uri(path):
    return "file://" + urllib.parse.quote(os.path.abspath(path))


def path_of(uri):
    return urllib.parse.unquote(uri.removeprefix("file://"))


def units(text):
    """How many UTF-16 code units a text has."""
    return len(text.encode("utf-16-le")) // 2


LINE_END = re.compile(r"\r\n|\n|\r")


def position(text, index):
    """The protocol's position of a character of a text."""
    line, begin = 0, 0
    for end in LINE_END.finditer(text):
        if end.end() > index:
            break
        line, begin = line + 1, end.end()
    return {"line": line, "character": units(text[begin:index])}


def index(text, at):
    """The character of a text at a position of the protocol."""
    begins = [0] + [end.end() for end in LINE_END.finditer(text)]
    start, taken = begins[at["line"]], 0
    while taken < at["character"]:
        taken += units(text[start])
        start += 1
    return start


def apply(text, edits):
    """A text with the edits of a reply."""
    for edit in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
        begin, end = (index(text, edit["range"][side]) for side in ("start", "end"))
        text = text[:begin] + edit["newText"] + text[end:]
    return text


class Server:
    """A running server. `initialize` is sent unless `silent`, with what the client is capable of."""

    def __init__(self, program="dbc-lsp", arguments=(), silent=False, timeout=20, capabilities={}):
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.said = []  # on stderr, which is read all the time: a server that is not heard would wait
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()
        self.timeout = timeout  # seconds that a message may take
        self.number = 0
        self.buffer = b""
        self.documents = {}  # open ones, by URI
        self.diagnostics = {}  # the last ones of each URI
        self.refusals = []  # errors without an id
        self.requests = []  # those that the server has sent
        self.slowest = 0.0  # seconds
        if not silent:
            self.capabilities = self.ask("initialize", {"capabilities": capabilities, "processId": None, "rootUri": None})["capabilities"]
            self.tell("initialized", {})

    def listen(self):
        while piece := os.read(self.process.stderr.fileno(), 1 << 16):
            self.said.append(piece)

    def last_words(self):
        """What an ended server said on stderr."""
        self.listener.join(self.timeout)
        return b"".join(self.said).decode()

    def write(self, body):
        """Sends a body of bytes with its header."""
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        """The result of a request; raises Failed where the server replies an error."""
        self.number += 1
        start = time.monotonic()
        self.send({"id": self.number, "method": method, "params": params})
        message = self.reply(self.number)
        self.slowest = max(self.slowest, time.monotonic() - start)
        if "error" in message:
            raise Failed(message["error"])
        return message["result"]

    def reply(self, number):
        """Reads up to the reply to a request; what comes before it is kept."""
        while True:
            message = self.read()
            if "method" in message and "id" in message:
                self.requests.append(message)
                continue
            if "error" in message and message["id"] is None:
                self.refusals.append((message["error"]["code"], message["error"]["message"]))
                continue
            if message.get("method") == "textDocument/publishDiagnostics":
                self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            elif message.get("id") == number:
                return message

    def read(self):
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        header, _, rest = self.buffer.partition(b"\r\n\r\n")
        size = int(header.split(b":")[1])
        self.buffer = rest
        while len(self.buffer) < size:
            self.fill()
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return json.loads(body)

    def fill(self):
        ready, _, _ = select.select([self.process.stdout], [], [], self.timeout)
        if not ready:
            self.process.kill()
            raise TimeoutError(f"no word from the server for {self.timeout} s")
        piece = os.read(self.process.stdout.fileno(), 1 << 16)
        if not piece:
            raise EOFError(f"the server ended with {self.process.wait()}: {self.last_words()}")
        self.buffer += piece

    def memory(self):
        """Resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self):
        """Ends it as an editor does; the exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(self.timeout)


class Document:
    """An open file. Positions are given as characters of `text`, or as a piece of text with `|` where the position is."""

    def __init__(self, server, path, text=None):
        self.server, self.path, self.uri, self.version = server, path, uri(path), 1
        if text is None:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
        self.text = text
        server.documents[self.uri] = self
        item = {"uri": self.uri, "languageId": "dyn", "version": 1, "text": text}
        server.tell("textDocument/didOpen", {"textDocument": item})

    def at(self, where):
        """The character that `where` names: a number, or a text that stands once in the file but for its `|`."""
        if isinstance(where, int):
            return where
        before, after = where.split("|")
        assert self.text.count(before + after) == 1, f"`{where}` stands {self.text.count(before + after)} times"
        return self.text.index(before + after) + len(before)

    def ask(self, request, where, **more):
        place = position(self.text, self.at(where))
        return self.server.ask("textDocument/" + request, {"textDocument": {"uri": self.uri}, "position": place, **more})

    def query(self, request):
        return self.server.ask("textDocument/" + request, {"textDocument": {"uri": self.uri}, "options": {"tabSize": 2, "insertSpaces": True}})

    def hover(self, where):
        found = self.ask("hover", where)
        return found and found["contents"]["value"]

    def definition(self, where):
        return self.ask("definition", where)

    def references(self, where, declaration=True):
        return self.ask("references", where, context={"includeDeclaration": declaration})

    def labels(self, where):
        return [item["label"] for item in sorted(self.ask("completion", where)["items"], key=lambda item: item.get("sortText", ""))]

    def rename(self, where, name):
        return self.ask("rename", where, newName=name)["changes"]

    def change(self, changes):
        self.version += 1
        self.server.tell("textDocument/didChange", {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": changes})

    def replace(self, begin, end, text):
        """Incremental: the characters [begin, end) by a text."""
        edit = {"range": {"start": position(self.text, begin), "end": position(self.text, end)}, "text": text}
        self.text = self.text[:begin] + text + self.text[end:]
        self.change([edit])

    def put(self, text):
        """The whole text."""
        self.text = text
        self.change([{"text": text}])

    def diagnostics(self):
        self.query("documentSymbol")  # they come before its reply
        return self.server.diagnostics[self.uri]

    def close(self):
        del self.server.documents[self.uri]
        self.server.tell("textDocument/didClose", {"textDocument": {"uri": self.uri}})

    def show(self, place):
        """A location as `file:line:character: text`, as an open document has it."""
        path, start = path_of(place["uri"]), place["range"]["start"]
        if place["uri"] in self.server.documents:
            text = self.server.documents[place["uri"]].text
        else:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
        begin, end = (index(text, place["range"][side]) for side in ("start", "end"))
        return f"{os.path.basename(path)}:{start['line'] + 1}:{start['character'] + 1}: {text[begin:end]}"


def check_files(check, what):
    """A script of its own, `SCRIPT DBC-LSP FILE...`: asks a server by `check(server, path)` of each file, and says how many `what`
    there were in all."""
    server = Server(sys.argv[1])
    count = sum(check(server, path) for path in sys.argv[2:])
    assert count > 0
    print(f"{count} {what} in {len(sys.argv) - 2} files, slowest answer {1000 * server.slowest:.1f} ms")
    assert server.stop() == 0
