"""A small client for `tau --mode rpc` with nothing but the standard library.

    with Tau("--no-session") as tau:
        print(tau.ask("say hello"))
"""

import itertools
import json
import queue
import subprocess
import threading

DIALOGS = {"select", "confirm", "input", "editor"}
GONE = ConnectionError("the agent has gone")


class Refused(Exception):
    """The agent rejected a command."""

    def __init__(self, response):
        super().__init__(response["error"])
        self.code = response.get("code")


class Tau:
    def __init__(self, *args, program=("tau",), on_event=None, on_ui=None, tools=None):
        """on_ui(request) returns text, True/False, the fields of the response or None for a dialog.

        tools maps names to (definition, function).
        """
        self._process = subprocess.Popen(
            [*program, "--mode", "rpc", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._ids = itertools.count(1)
        self._responses = {}
        self._settled = queue.Queue()
        self._closed = False
        self._on_event = on_event or (lambda event: None)
        self._on_ui = on_ui
        self._tools = tools or {}
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()
        if self._tools:
            definitions = [{"name": name, **definition} for name, (definition, _) in self._tools.items()]
            self.call("set_host_tools", tools=definitions)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()

    def call(self, command, **params):
        """Sends a command and waits for its response."""
        request_id = f"py-{next(self._ids)}"
        answer = self._responses[request_id] = queue.Queue(1)
        if self._closed:
            raise GONE
        self._send({"id": request_id, "type": command, **params})
        response = answer.get()
        if response is None:
            raise GONE
        if not response["success"]:
            raise Refused(response)
        return response.get("data")

    def ask(self, message):
        """Sends a prompt, waits for the end of its run and returns the last assistant text."""
        accepted = self.call("prompt", message=message)
        while accepted["disposition"] != "handled":
            end = self._settled.get()
            if end is None:
                raise GONE
            if end["outcome"] == "error":
                raise RuntimeError(end["errorMessage"])
            if end["runId"] == accepted["runId"]:
                break
        return self.call("get_last_assistant_text")["text"]

    def _send(self, record):
        with self._lock:
            self._process.stdin.write(json.dumps(record).encode() + b"\n")
            self._process.stdin.flush()

    def _read(self):
        try:
            for line in self._process.stdout:
                self._handle(json.loads(line))
        finally:
            self._closed = True
            for waiting in [self._settled, *self._responses.values()]:
                waiting.put(None)

    def _handle(self, record):
        kind = record["type"]
        if kind == "response":
            self._responses.pop(record["id"]).put(record)
        elif kind == "host_tool_call":
            threading.Thread(target=self._run_tool, args=(record,), daemon=True).start()
        elif kind == "extension_ui_request" and record["method"] in DIALOGS:
            threading.Thread(target=self._show, args=(record,), daemon=True).start()
        else:
            self._on_event(record)
        if kind == "agent_settled":
            self._settled.put(record)

    def _run_tool(self, call):
        try:
            _, function = self._tools[call["toolName"]]
            text, failed = str(function(**call["arguments"])), False
        except Exception as error:  # the model gets every failure of a tool
            text, failed = str(error), True
        result = {"content": [{"type": "text", "text": text}]}
        self._send({"type": "host_tool_result", "id": call["id"], "result": result, "isError": failed})

    def _show(self, request):
        answer = self._on_ui(request) if self._on_ui else None
        reply = {"cancelled": True}
        if isinstance(answer, dict):
            reply = answer
        elif isinstance(answer, bool):
            reply = {"confirmed": answer}
        elif answer is not None:
            reply = {"value": str(answer)}
        self._send({"type": "extension_ui_response", "id": request["id"], **reply})
