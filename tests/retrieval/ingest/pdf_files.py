"""Writes small PDF files, encrypted ones too (standard handler, revision 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
FILE_ID = bytes(range(16))
NO_PRINTING = -64  # permission bits: nothing allowed


def pdf(
    *pages: Sequence[str],
    title: str | None = None,
    outline: Sequence[tuple[str, int]] = (),
    user_password: str | None = None,
    owner_password: str | None = None,
) -> bytes:
    """Each page is its lines from top to bottom. A user password is needed to read the file."""
    content = [_lines(lines) for lines in pages]
    first_page = 4
    first_entry = first_page + 2 * len(pages)
    kids = " ".join(f"{first_page + 2 * n} 0 R" for n in range(len(pages)))
    info, security = first_entry + len(outline) + 1, first_entry + len(outline) + 2
    encrypts = user_password is not None or owner_password is not None
    cipher = Cipher(user_password or "", owner_password or "") if encrypts else None

    def text(value: str, number: int) -> str:
        raw = b"\xfe\xff" + value.encode("utf-16-be")
        return f"<{(cipher.apply(raw, number) if cipher else raw).hex()}>"

    objects: dict[int, bytes] = {
        1: f"<< /Type /Catalog /Pages 2 0 R /Outlines {first_entry} 0 R >>".encode(),
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for index, stream in enumerate(content):
        number = first_page + 2 * index
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        data = cipher.apply(stream, number + 1) if cipher else stream
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)
    last = first_entry + len(outline)
    objects[first_entry] = (
        f"<< /Type /Outlines /First {first_entry + 1} 0 R /Last {last} 0 R >>".encode()
        if outline
        else b"<< /Type /Outlines >>"
    )
    for index, (name, page) in enumerate(outline):
        number = first_entry + 1 + index
        following = f"/Next {number + 1} 0 R" if index + 1 < len(outline) else ""
        objects[number] = (
            f"<< /Title {text(name, number)} /Parent {first_entry} 0 R {following} "
            f"/Dest [{first_page + 2 * page} 0 R /Fit] >>"
        ).encode()
    objects[info] = f"<< /Title {text(title, info)} >>".encode() if title else b"<< >>"
    if cipher:
        objects[security] = cipher.dictionary()
    trailer = f"/Root 1 0 R /Info {info} 0 R /ID [<{FILE_ID.hex()}> <{FILE_ID.hex()}>]"
    return _file(objects, trailer + (f" /Encrypt {security} 0 R" if cipher else ""))


def scanned_pdf() -> bytes:
    """A page with something drawn on it, and no text."""
    return pdf([]).replace(b"BT", b"  ")


def _lines(lines: Sequence[str]) -> bytes:
    parts = [b"0 0 m 9 9 l S\nBT /F1 10 Tf 12 TL 72 740 Td"]
    for line in lines:
        escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        parts.append(b"(%s) Tj T*" % escaped.encode("cp1252"))
    return b"\n".join([*parts, b"ET"])


def _file(objects: dict[int, bytes], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    offsets = {}
    for number, body in sorted(objects.items()):
        offsets[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(out), max(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
    for number in range(1, size):
        out += f"{offsets[number]:010d} 00000 n \n".encode()
    out += f"trailer\n<< /Size {size} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


class Cipher:
    """RC4 with a 40-bit key, as PDF 1.1 to 1.3 encrypt."""

    def __init__(self, user: str, owner: str) -> None:
        padded = (user.encode() + PADDING)[:32]
        owner_key = hashlib.md5((owner.encode() + PADDING)[:32]).digest()[:5]
        self.owner = _rc4(owner_key, padded)
        permissions = (NO_PRINTING & 0xFFFFFFFF).to_bytes(4, "little")
        self.key = hashlib.md5(padded + self.owner + permissions + FILE_ID).digest()[:5]
        self.user = _rc4(self.key, PADDING)

    def apply(self, data: bytes, number: int) -> bytes:
        key = hashlib.md5(self.key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
        return _rc4(key, data)

    def dictionary(self) -> bytes:
        return (
            f"<< /Filter /Standard /V 1 /R 2 /P {NO_PRINTING} "
            f"/O <{self.owner.hex()}> /U <{self.user.hex()}> >>"
        ).encode()


def _rc4(key: bytes, data: bytes) -> bytes:
    return bytes(byte ^ mask for byte, mask in zip(data, _key_stream(key), strict=False))


def _key_stream(key: bytes) -> Iterator[int]:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    while True:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        yield state[(state[i] + state[j]) % 256]
