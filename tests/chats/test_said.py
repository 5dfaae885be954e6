from __future__ import annotations

from chats.said import TOGETHER, Said


def test_what_was_said_is_all_of_it_in_order() -> None:
    said = Said()
    assert (said.tokens, said.text()) == (0, "")
    tokens = [f" {number}" for number in range(3 * TOGETHER + 7)]
    for token in tokens:
        said.add(token)
    assert (said.tokens, said.text()) == (len(tokens), "".join(tokens))
