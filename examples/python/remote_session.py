"""Sends the prompt on the command line to an agent on a server, and resumes when the connection is lost.

    PI_AUTH_TOKEN=… python3 examples/python/remote_session.py ws://127.0.0.1:4170/session list the files

The address may be several nodes of one cluster, separated by commas: ws://a:4170/session,ws://b:4170/session
"""

import json
import os
import sys
import time
import uuid
from urllib.parse import urlencode

from web_socket import WebSocket

# After these close codes a reconnection would fail in the same way.
FINAL_CODES = {1000, 1008, 4400, 4403, 4404}
DELAYS = (1, 2, 4, 8, 16)


class RemotePrompt:
    """One prompt in a new session."""

    def __init__(self, message):
        # clientMessageId makes the prompt safe to resend: the server stores and runs it once.
        self.prompt = {"id": "1", "type": "prompt", "message": message, "clientMessageId": str(uuid.uuid4())}
        # Naming the new session makes a second connection safe, too: both get the same session.
        self.cursor = {"new": str(uuid.uuid4())}
        self.outcome = None

    def connect(self, url, token):
        """Reads a connection to its end and returns its close code, or the error of one that fails."""
        try:
            return self.read(url, token)
        except OSError as error:
            return error

    def read(self, url, token):
        query = urlencode({"stream": "delta", "legacyNames": 0, **self.cursor})
        connection = WebSocket(f"{url}?{query}", token)
        for text in connection:
            record = json.loads(text)
            self.handle(record)
            if record["type"] == "server_connected":
                connection.send(json.dumps(self.prompt))
            if self.outcome:
                connection.close()
                return 1000
        return connection.code

    def handle(self, record):
        kind = record["type"]
        if kind == "server_connected":
            self.cursor = {"session": record["sessionId"], "epoch": record["epoch"], "after": record["seq"]}
        if "seq" in record:
            self.cursor["after"] = record["seq"]
        if kind == "message_update" and record["assistantMessageEvent"]["type"] == "text_delta":
            print(record["assistantMessageEvent"]["delta"], end="", flush=True)
        if kind == "agent_settled" and self.prompt["clientMessageId"] in record["clientMessageIds"]:
            self.outcome = record["outcome"]
        if kind == "response" and not record["success"]:
            self.outcome = record["error"]
        # The run ended before the reconnection, and its events are no longer kept; the session has the messages.
        if kind == "response" and record.get("data", {}).get("disposition") == "handled":
            self.outcome = "over"


def attempts(urls):
    """Tries each node once per round, with a longer delay before each round."""
    for delay in (0, *DELAYS):
        time.sleep(delay)
        yield from urls


def main():
    addresses, *words = sys.argv[1:]
    prompt = RemotePrompt(" ".join(words))
    code = None
    for url in attempts(addresses.split(",")):
        if code:
            print(f"\n[{code}: reconnecting]", file=sys.stderr)
        code = prompt.connect(url, os.environ.get("PI_AUTH_TOKEN"))
        if prompt.outcome or code in FINAL_CODES:
            break
    print()
    if prompt.outcome != "ok":
        sys.exit(f"{prompt.outcome or code}")


if __name__ == "__main__":
    main()
