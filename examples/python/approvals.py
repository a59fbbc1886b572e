"""Sends the prompt on the command line to an agent, and asks you before a tool changes anything.

    python3 examples/python/approvals.py "write hello to notes.txt, then list the files"

y allows a call once, every other line denies it and goes to the model. TAU names another program to start than `tau`.
"""

import json
import os
import sys
import threading

from tau_client import Tau

terminal = threading.Lock()  # calls that run in parallel ask one after another


def visible(text):
    """Escapes what controls a terminal or cannot be seen."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)


def details(subject):
    if subject["type"] == "command":
        return f"{subject['command']}\n(in {subject['cwd']})"
    if subject["type"] == "edit":
        return f"{subject['path']}\n{subject.get('diff', '')}"
    if subject["type"] == "host":
        return f"{subject['host']}:{subject['port']}"
    return json.dumps(subject, indent=2)


def option(approval, kind):
    return next(option["optionId"] for option in approval["options"] if option["kind"] == kind)


def ask(request):
    approval = request.get("approval")
    if not approval:  # a dialog of an extension
        return None
    with terminal:
        print(visible(f"{approval['title']}\n{details(approval['subject'])}"))
        try:
            line = input("y to allow, or a reason against it> ").strip()
        except EOFError:
            line = ""
    if line == "y":
        return option(approval, "allow_once")
    denial = {"value": option(approval, "reject_once")}
    return denial if line in ("", "n") else {**denial, "message": line}


def show(event):
    if event["type"] == "tool_execution_end":
        output = "\n".join(block["text"] for block in event["result"]["content"] if block["type"] == "text")
        print(visible(f"[{event['toolName']}{' failed' if event['isError'] else ''}] {output}"))


def main():
    program = os.environ.get("TAU", "tau").split(" ")
    prompt = " ".join(sys.argv[1:]) or "write notes.txt: hello"
    with Tau("--no-session", "--approvals", "ask", program=program, on_event=show, on_ui=ask) as tau:
        print(tau.ask(prompt))


if __name__ == "__main__":
    main()
