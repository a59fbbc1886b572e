"""Sends the prompt on the command line to an agent, with a tool that this program runs itself.

    python3 examples/python/chat.py "what is the weather in Rome?"

TAU names another program to start than `tau`.
"""

import os
import sys

from tau_client import Tau

WEATHER = {
    "description": "The weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def weather(city):
    return f"It is sunny in {city}"


def show(event):
    if event["type"] == "tool_execution_start":
        print(f"[{event['toolName']}] {event['args']}", file=sys.stderr)


def main():
    program = os.environ.get("TAU", "tau").split(" ")
    prompt = " ".join(sys.argv[1:]) or "say hello"
    with Tau("--no-session", program=program, on_event=show, tools={"weather": (WEATHER, weather)}) as tau:
        print(tau.ask(prompt))


if __name__ == "__main__":
    main()
