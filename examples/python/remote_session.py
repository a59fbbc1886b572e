"""Asks an agent on a server what stands on the command line, and loses nothing when the connection is lost.

    PI_AUTH_TOKEN=… python3 examples/python/remote_session.py ws://127.0.0.1:4170/session list the files
"""

import json
import os
import sys
import time
import uuid
from urllib.parse import urlencode

from web_socket import WebSocket

# After these, coming back would end in the same way.
FINAL_CODES = {1000, 1008, 4400, 4403, 4404}
DELAYS = (1, 2, 4, 8, 16)


class RemotePrompt:
    """One prompt in a new session."""

    def __init__(self, url, message):
        self.url = url
        # The name makes the prompt safe to send again: it is stored and acted on once.
        self.prompt = {"id": "1", "type": "prompt", "message": message, "clientMessageId": str(uuid.uuid4())}
        # Naming the session makes that safe, too: coming twice makes one.
        self.place = {"new": str(uuid.uuid4())}
        self.outcome = None

    def connect(self, token):
        """Hears a connection to its end; answers the code it was closed with."""
        query = urlencode({"stream": "delta", "legacyNames": 0, **self.place})
        connection = WebSocket(f"{self.url}?{query}", token)
        for text in connection:
            record = json.loads(text)
            self.hear(record)
            if record["type"] == "server_connected":
                connection.send(json.dumps(self.prompt))
            if self.outcome:
                connection.close()
                return 1000
        return connection.code

    def hear(self, record):
        kind = record["type"]
        if kind == "server_connected":
            self.place = {"session": record["sessionId"], "epoch": record["epoch"], "after": record["seq"]}
        if "seq" in record:
            self.place["after"] = record["seq"]
        if kind == "message_update" and record["assistantMessageEvent"]["type"] == "text_delta":
            print(record["assistantMessageEvent"]["delta"], end="", flush=True)
        if kind == "agent_settled" and self.prompt["clientMessageId"] in record["clientMessageIds"]:
            self.outcome = record["outcome"]
        if kind == "response" and not record["success"]:
            self.outcome = record["error"]
        # The run was over before we came back, and nobody remembers what it said: the session does.
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
