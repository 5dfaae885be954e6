from __future__ import annotations

import pytest
from django.test import override_settings

from retrieval.pipeline.transform import query_language, transform
from retrieval.types import Fusion, Mode, Query


@pytest.mark.parametrize(
    ("text", "indexed", "expected"),
    [
        ("How do I start?", (), "en"),
        ("用户身份", ("en", "zh"), "zh"),
        ("การทดสอบ", ("en",), "th"),
        ("الطلاب", ("en",), "ar"),
        ("где находится", ("en",), "ru"),
        ("¿Qué es la configuración del servidor?", ("en", "es"), "es"),
        ("How is the server configured?", ("es", "en"), "en"),
        ("configuración servidor", ("es",), "es"),
        ("asyncio.gather", ("en", "zh"), "en"),
        ("word " * 50, ("en", "nl"), "en"),
        ("Microsoft Word", ("en", "nl"), "en"),
        ("Car insurance", ("en", "fr"), "en"),
        ("Las Vegas", ("en", "es"), "en"),
        ("Warum?", ("en", "de"), "de"),
        ("¿Cómo instalar?", ("en", "es"), "es"),
        ("Wie installiere ich das?", ("en", "de"), "de"),
    ],
)
def test_the_language_is_told_by_script_then_by_small_words(
    text: str, indexed: tuple[str, ...], expected: str
) -> None:
    assert query_language(text, indexed) == expected


def test_white_space_nul_and_lone_surrogates_go() -> None:
    prepared = transform(Query(text=" brew\0\n \ud800coffee "), indexed=["en"])
    assert prepared is not None
    assert prepared.text == "brew coffee"


@override_settings(FASTRAG={"QUERY_MAX_CHARS": 10})
def test_a_long_query_is_cut() -> None:
    prepared = transform(Query(text="coffee " * 9), indexed=["en"])
    assert prepared is not None
    assert prepared.text == "coffee cof"


@pytest.mark.parametrize(
    ("query", "alpha"),
    [
        (Query(text="brew coffee"), 0.6),
        (Query(text="身份"), 0.0),
        (Query(text="brew", mode=Mode.SPARSE), 0.0),
        (Query(text="brew", mode=Mode.DENSE), 1.0),
        (Query(text="brew", fusion=Fusion(alpha=0.25)), 0.25),
        (Query(text="身份", fusion=Fusion(alpha=0.25)), 0.25),
    ],
)
@override_settings(FASTRAG={"FUSION_ALPHA": 0.6})
def test_the_dense_leg_has_its_share_by_mode_wish_and_language(query: Query, alpha: float) -> None:
    prepared = transform(query, indexed=["en"])
    assert prepared is not None
    assert prepared.alpha == alpha
