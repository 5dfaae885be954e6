"""Servers that nobody here wrote: llama.cpp's with a small real model, and LiteLLM's proxy.

Not part of the everyday suite: `make test-models` installs them and runs these.
"""
