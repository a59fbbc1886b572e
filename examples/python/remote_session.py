"""Sends the prompt on the command line to an agent on a server, and resumes when the connection is lost.

    PI_AUTH_TOKEN=… python3 examples/python/remote_session.py ws://127.0.0.1:4170/session list the files
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

    def __init__(self, url, message):
        self.url = url
        # clientMessageId makes the prompt safe to resend: the server stores and runs it once.
        self.prompt = {"id": "1", "type": "prompt", "message": message, "clientMessageId": str(uuid.uuid4())}
        # Naming the new session makes a second connection safe, too: both get the same session.
        self.cursor = {"new": str(uuid.uuid4())}
        self.outcome = None

    def connect(self, token):
        """Reads a connection to its end and returns its close code."""
        query = urlencode({"stream": "delta", "legacyNames": 0, **self.cursor})
        connection = WebSocket(f"{self.url}?{query}", token)
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


def main():
    url, *words = sys.argv[1:]
    prompt = RemotePrompt(url, " ".join(words))
    for delay in (*DELAYS, None):
        try:
            code = prompt.connect(os.environ.get("PI_AUTH_TOKEN"))
        except OSError as error:
            code = error
        if prompt.outcome or code in FINAL_CODES or delay is None:
            break
        print(f"\n[{code}: reconnecting]", file=sys.stderr)
        time.sleep(delay)
    print()
    if prompt.outcome != "ok":
        sys.exit(f"{prompt.outcome or code}")


if __name__ == "__main__":
    main()
