"""Ovens that answer over HTTP, for as long as one likes: `python devices.py --for 60`."""

from __future__ import annotations

import argparse
import json
import math
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Oven(BaseHTTPRequestHandler):
    """Oven 1 to 4 answer, 5 takes its time, and there is no other."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The temperature of an oven, and how many loaves are in it."""
        number = int(self.path.strip("/") or 0)
        if number == 5:
            time.sleep(2)
        body = {"body": {"temp": round(210 + 10 * math.sin(time.time() / 20 + number), 2)}, "load": 10 * number}
        content = json.dumps(body).encode()
        self.send_response(200 if number < 6 else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        """Nobody wants to read it."""


class Ovens(ThreadingHTTPServer):
    """A server that does not wait for who is slow."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asked has given up."""


def main() -> None:
    """Serve until the time is up."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, default=28084)
    options.add_argument("--for", dest="seconds", type=float, default=3600.0)
    given = options.parse_args()
    server = Ovens(("127.0.0.1", given.port), Oven)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(given.seconds)
    server.shutdown()


if __name__ == "__main__":
    main()
