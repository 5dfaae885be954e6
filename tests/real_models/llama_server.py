"""llama.cpp's server, run by the virtual environment that has it: MODEL NAME CONTEXT KEY --port N.

Imports nothing of the product.
"""

from __future__ import annotations

import signal
import sys

import xllamacpp


def main() -> None:
    model, name, context, key, _, port = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.n_ctx = int(context)
    params.n_parallel = 1
    params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    # Threads that wait for each other are slow where the machine does something else as well.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    signal.pause()
    del server


if __name__ == "__main__":
    main()
