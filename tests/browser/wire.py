"""A port that passes everything on to another one, until it is cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Wire:
    listener: socket.socket
    target: int
    is_cut: bool = False
    _open: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def cut(self) -> None:
        """Close what is open, and whatever comes until `mend`."""
        with self._lock:
            self.is_cut = True
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def mend(self) -> None:
        with self._lock:
            self.is_cut = False

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                with self._lock:
                    if self.is_cut:
                        near.close()
                        continue
                    far = socket.create_connection(("127.0.0.1", self.target))
                    self._open += [near, far]
                threading.Thread(target=_join, args=(near, far), daemon=True).start()


def _join(near: socket.socket, far: socket.socket) -> None:
    with near, far:
        back = threading.Thread(target=_pass_on, args=(far, near), daemon=True)
        back.start()
        _pass_on(near, far)
        back.join(5)


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(65_536):
            other.sendall(data)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    made = Wire(listener=socket.create_server(("127.0.0.1", 0)), target=port)
    thread = threading.Thread(target=made.serve, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.cut()
        with contextlib.suppress(OSError):
            made.listener.shutdown(socket.SHUT_RDWR)
        made.listener.close()
        thread.join(5)
