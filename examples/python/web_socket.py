"""The part of WebSockets (RFC 6455) that a client of tau needs, without packages: text messages and pongs."""

import base64
import os
import socket
import ssl
import struct
from urllib.parse import urlsplit

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10

# The server pings every 20 s: a longer silence means a lost connection.
SILENCE_SECONDS = 60


class WebSocket:
    def __init__(self, url, token=None):
        parts = urlsplit(url)
        secure = parts.scheme == "wss"
        address = (parts.hostname, parts.port or (443 if secure else 80))
        self.socket = socket.create_connection(address, timeout=SILENCE_SECONDS)
        if secure:
            self.socket = ssl.create_default_context().wrap_socket(self.socket, server_hostname=parts.hostname)
        self.stream = self.socket.makefile("rb")
        self.code = None
        head = [
            f"GET {parts.path}?{parts.query} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            *([f"Authorization: Bearer {token}"] if token else []),
        ]
        self.socket.sendall("\r\n".join([*head, "", ""]).encode())
        status = self.stream.readline().decode()
        if " 101 " not in status:
            raise ConnectionError(f"The server said {status.strip()}")
        while self.stream.readline().strip():
            pass

    def send(self, text):
        self._write(TEXT, text.encode())

    def close(self):
        self._write(CLOSE, struct.pack(">H", 1000))
        self.socket.close()

    def __iter__(self):
        """Yields every received text until the server closes; then `code` is the close code."""
        parts = []
        while True:
            final, kind, data = self._read()
            if kind == CLOSE:
                self.code = struct.unpack(">H", data[:2])[0] if data else 1005
                return
            if kind == PING:
                self._write(PONG, data)
            elif kind != PONG:
                parts.append(data)
                if final:
                    yield b"".join(parts).decode()
                    parts = []

    def _read(self):
        first, second = self._take(2)
        length = second & 127
        if length >= 126:
            length = struct.unpack(">H", self._take(2))[0] if length == 126 else struct.unpack(">Q", self._take(8))[0]
        return first & 128, first & 15, self._take(length)

    def _take(self, length):
        data = self.stream.read(length)
        if len(data) < length:
            raise ConnectionError("The connection was lost")
        return data

    def _write(self, kind, data):
        size = len(data)
        if size < 126:
            head = struct.pack(">BB", 128 | kind, 128 | size)
        elif size < 65536:
            head = struct.pack(">BBH", 128 | kind, 128 | 126, size)
        else:
            head = struct.pack(">BBQ", 128 | kind, 128 | 127, size)
        mask = os.urandom(4)
        self.socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))
