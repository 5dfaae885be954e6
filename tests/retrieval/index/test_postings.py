from __future__ import annotations

from unittest import mock

import pytest
from django.db import connection, transaction

from retrieval.index.allowed import Allowed
from retrieval.index.postings import PostingsIndex
from retrieval.models import Chunk, Page, Posting, Segment
from tests.factories import ChunkFactory, PageFactory
from tests.retrieval.index.conftest import Add

pytestmark = pytest.mark.django_db


def found(index: PostingsIndex, text: str, *, k: int = 10) -> list[str]:
    ids = [one.chunk_id for one in index.search(text, language="", k=k)]
    by_id = dict(Chunk.objects.values_list("pk", "text"))
    return [by_id[id_] for id_ in ids]


# Text that breaks query languages (CASES: Search)


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("multi-agent", "A multi-agent system"),
        ("multiagent", "A multi-agent system"),
        ("agents", "A multi-agent system"),
        ("don't", "Why don't birds freeze"),
        ("38.101", "As TS 38.101 says"),
        ("38.101-1", "As TS 38.101-1 says"),
        ("C++", "Templates of C++ explained"),
        ("foo(", "Call foo() first"),
        ("NOT", "This is NOT so"),
        ("a:b", "The pair a:b is split"),
        ("asyncio.gather", "Use asyncio.gather here"),
        ("gather", "Use asyncio.gather here"),
        ("max_length", "Set max_length to 5"),
        ("maxLength", "Set max_length to 5"),
        ("element", "Call getElementById once"),
        ("getElementById", "Call getElementById once"),
        ("db", "The db is locked"),
        ("db", "Set DB_NAME before"),
        ("用户", "用户身份验证"),
        ("身份", "用户身份验证"),
        ("户", "用户身份验证"),
        ("ทดสอบ", "การทดสอบระบบ"),
        ("الطلاب", "يدرس الطلاب في الجامعة"),
        ("テスト", "単体テストを書く"),
        ("한국어", "한국어 문서"),
    ],
)
def test_the_document_is_found_and_the_other_is_not(
    add: Add, index: PostingsIndex, query: str, document: str
) -> None:
    add(document, "Something else entirely, 其他 อื่น")
    assert found(index, query) == [document]


@pytest.mark.parametrize(
    "query", ['"', "*", "^", "\0", "", "(((", "' OR 1=1 --", "%", "_", "\\", "\ud800", "🎉" * 99]
)
def test_no_query_fails(add: Add, index: PostingsIndex, query: str) -> None:
    add("Some text")
    assert found(index, query) == []


def test_a_nul_within_a_query_separates_words(add: Add, index: PostingsIndex) -> None:
    add("first second")
    assert found(index, "first\0second") == ["first second"]


# Ranking


def test_rare_words_weigh_more_and_short_chunks_win(add: Add, index: PostingsIndex) -> None:
    add("common rare", "common common", "common rare and many other words beside them")
    assert found(index, "common rare") == [
        "common rare",
        "common rare and many other words beside them",
        "common common",
    ]


def test_ties_are_ordered_by_id_in_every_run(add: Add, index: PostingsIndex) -> None:
    chunks = add(*["same words"] * 6)
    for _ in range(2):
        hits = index.search("words", language="", k=4)
        assert [hit.chunk_id for hit in hits] == [chunk.pk for chunk in chunks[:4]]


def test_title_and_section_are_searched(index: PostingsIndex) -> None:
    page = PageFactory.create(title="Zebras")
    chunk = ChunkFactory.create(page=page, section=["Animals", "Stripes"], text="Black and white")
    index.add([chunk], languages=["en"])
    for query in ("zebra", "animal", "stripes"):
        assert found(index, query) == ["Black and white"]


def test_coverage_is_the_share_of_the_query_that_a_chunk_holds(
    add: Add, index: PostingsIndex
) -> None:
    add("alpha beta", "alpha", "gamma")
    scored = index.search("alpha beta", language="", k=5)
    assert scored[0].coverage == pytest.approx(1.0)
    assert 0.0 < scored[1].coverage < 0.5
    assert index.search("alpha missing", language="", k=1)[0].coverage < 0.5


def test_a_word_that_only_asks_counts_little_and_a_stop_word_nothing(
    add: Add, index: PostingsIndex
) -> None:
    add("the warranty lasts", "the gate")
    assert index.search("How long is the warranty?", language="en", k=1)[0].coverage > 0.75
    assert index.search("the", language="en", k=1)[0].coverage == 0.0


def test_a_small_index_weighs_its_words_like_a_large_one(add: Add, index: PostingsIndex) -> None:
    add("alpha beta")
    scored = index.search("alpha beta missing", language="en", k=1)
    assert scored[0].coverage == pytest.approx(2 / 3, abs=0.01)


def test_a_search_can_be_restricted(add: Add, index: PostingsIndex) -> None:
    chunks = add("word one", "word two", "word three")
    allowed = Allowed(Chunk.objects.filter(pk=chunks[2].pk))
    (hit,) = index.search("word", language="", k=5, allowed=allowed)
    assert hit.chunk_id == chunks[2].pk


def test_a_ranking_knows_the_score_of_any_chunk(add: Add, index: PostingsIndex) -> None:
    one, other = add("word here", "nothing")
    ranking = index.rank("word", language="")
    scores = {scored.chunk_id: scored.score for scored in ranking.at([other.pk, one.pk, 999_999])}
    assert list(scores) == [other.pk, one.pk]
    assert scores[other.pk] == 0.0 < scores[one.pk]


def test_pages_of_several_languages_are_found_by_one_query(add: Add, index: PostingsIndex) -> None:
    add("las casas nuevas", language="es")
    add("new houses", language="en")
    assert found(index, "casa") == ["las casas nuevas"]
    assert found(index, "house") == ["new houses"]
    assert set(index.languages()) == {"es", "en"}


def test_a_page_without_a_declared_language_is_stemmed_in_the_one_it_is_written_in(
    add: Add, index: PostingsIndex
) -> None:
    add("Las casas que se ven en la foto son de los abuelos", language="")
    assert index.languages() == ("es",)
    assert len(found(index, "casa")) == 1


# Writing


def test_what_is_added_is_found_by_a_process_that_has_cached_before(
    add: Add, index: PostingsIndex
) -> None:
    other = PostingsIndex()
    add("first word")
    assert found(other, "word") == ["first word"]
    add("second word")
    assert set(found(other, "word")) == {"first word", "second word"}


def test_what_is_removed_never_comes_back(add: Add, index: PostingsIndex) -> None:
    one, other = add("word one", "word two")
    assert len(found(index, "word")) == 2
    index.remove([one.pk])
    assert [hit.chunk_id for hit in index.search("word", language="", k=5)] == [other.pk]
    index.optimize()
    assert [hit.chunk_id for hit in index.search("word", language="", k=5)] == [other.pk]
    assert index.size() == 1


def test_a_segment_goes_with_its_last_chunk(add: Add, index: PostingsIndex) -> None:
    chunks = add("word one", "word two")
    index.remove([chunk.pk for chunk in chunks])
    assert not Segment.objects.exists()
    assert not Posting.objects.exists()
    assert found(index, "word") == []


def test_removing_what_is_not_there_changes_nothing(add: Add, index: PostingsIndex) -> None:
    add("word")
    index.remove([999_999])
    assert found(index, "word") == ["word"]


def test_chunks_that_a_cascade_took_are_not_found(
    add: Add, index: PostingsIndex, page: Page
) -> None:
    add(*[f"word {n}" for n in range(20)])
    other = ChunkFactory.create(text="word that stays")
    index.add([other], languages=["en"])
    assert len(found(index, "word", k=5)) == 5
    page.delete()
    assert found(index, "word", k=5) == ["word that stays"]
    assert index.size() == 1


def test_frequencies_after_a_cascade_are_those_of_the_rest(add: Add, index: PostingsIndex) -> None:
    add("alpha beta")
    page = PageFactory.create(title="Other")
    gone = ChunkFactory.create(page=page, text="alpha alpha")
    index.add([gone], languages=["en"])
    page.delete()
    index.search("alpha", language="", k=5)
    index.search("alpha", language="", k=5)
    fresh = PostingsIndex()
    fresh.reconcile()
    query = ("alpha",)
    assert index.search(*query, language="", k=5) == fresh.search(*query, language="", k=5)


def test_a_rolled_back_transaction_leaves_no_trace_in_the_cache(
    add: Add, index: PostingsIndex, page: Page
) -> None:
    add("word one")
    with transaction.atomic():
        chunk = ChunkFactory.create(page=page, text="word undone")
        index.add([chunk], languages=["en"])
        assert len(found(index, "word")) == 2
        transaction.set_rollback(True)
    assert found(index, "word") == ["word one"]
    add("other text")
    assert found(index, "word") == ["word one"]
    assert found(index, "text") == ["other text"]


# Merging


def test_many_small_batches_become_few_segments(add: Add, index: PostingsIndex) -> None:
    for number in range(30):
        add(f"word {number}th")
    assert Segment.objects.count() < 16
    assert len(found(index, "word", k=50)) == 30
    assert found(index, "17th") == ["word 17th"]


def test_merging_changes_no_score(add: Add, index: PostingsIndex) -> None:
    for number in range(12):
        add(f"word {'word ' * number}", f"alpha beta{number}")
    removed = add("word to be removed")
    index.remove([removed[0].pk])
    queries = ("word", "alpha", "beta3 word")
    before = [index.search(query, language="", k=50) for query in queries]
    index.optimize()
    assert Segment.objects.count() == 1
    assert [index.search(query, language="", k=50) for query in queries] == before
    assert [PostingsIndex().search(query, language="", k=50) for query in queries] == before


def test_merging_reads_its_postings_in_pages(add: Add, index: PostingsIndex) -> None:
    for number in range(4):
        add(" ".join(f"t{number * 7 + n}" for n in range(20)))
    with mock.patch("retrieval.index.merging.READ_ROWS", 3):
        index.optimize()
    assert Segment.objects.count() == 1
    assert len(found(index, "t10")) == 2
    assert Posting.objects.count() == len(set(Posting.objects.values_list("term", flat=True)))


def test_a_reader_in_the_middle_of_a_merge_sees_every_chunk(add: Add, index: PostingsIndex) -> None:
    """The catalog was read, then a merge replaced all segments, then postings are read."""
    for number in range(5):
        add(f"word {number}")
    reader = PostingsIndex()
    reader.size()
    real = reader._catalog
    calls = []

    def stale_once() -> object:
        calls.append(1)
        catalog = real()
        if len(calls) == 1:
            index.optimize()
        return catalog

    with mock.patch.object(reader, "_catalog", stale_once):
        assert len(reader.rank("word", language="").top(10)) == 5


def test_a_reader_beside_a_busy_writer_reads_postings_and_catalog_of_one_version(
    add: Add, index: PostingsIndex
) -> None:
    add("word 0")
    reader = PostingsIndex()
    real = reader._catalog
    looks = []

    def changed_at_every_look() -> object:
        catalog = real()
        if len(connection.savepoint_ids) == depth:  # nobody holds the index
            looks.append(1)
            add("word of another")
            index.optimize()
        return catalog

    depth = len(connection.savepoint_ids)
    with mock.patch.object(reader, "_catalog", changed_at_every_look):
        found = reader.rank("word", language="").top(10)
    assert len(found) == len(looks) + 1
