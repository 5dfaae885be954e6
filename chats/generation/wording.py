"""How an extractive answer is put into words: quotes with their numbers, or that there are none.

Pure. Below: candidates. Above: extractive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chats.generation.candidates import Candidate, Kind, kind_of
from retrieval.index.analysis import spoken_language
from retrieval.index.words import forms
from retrieval.ingest.language import guess

MAX_TERM_CHARS = 100  # of a signature; longer ones lose what is in their brackets

_NOT_FOUND = {
    "en": "I could not find an answer to this in the indexed pages.",
    "es": "No he encontrado una respuesta a esto en las páginas indexadas.",
    "de": "Darauf habe ich in den indexierten Seiten keine Antwort gefunden.",
    "fr": "Je n’ai pas trouvé de réponse à cette question dans les pages indexées.",
    "pt": "Não encontrei uma resposta para isso nas páginas indexadas.",
    "it": "Non ho trovato una risposta a questa domanda nelle pagine indicizzate.",
    "nl": "Ik heb hierop in de geïndexeerde pagina's geen antwoord gevonden.",
    "pl": "Nie udało mi się znaleźć odpowiedzi na to pytanie w zaindeksowanych stronach.",
    "ru": "Я не нашёл ответа на этот вопрос на проиндексированных страницах.",
    "uk": "Я не знайшов відповіді на це запитання на проіндексованих сторінках.",
    "zh": "在已索引的页面中找不到这个问题的答案。",
    "ja": "索引済みのページからは、この質問への答えが見つかりませんでした。",
    "ko": "색인된 페이지에서 이 질문에 대한 답을 찾지 못했습니다.",
    "ar": "لم أجد إجابة عن هذا السؤال في الصفحات المفهرسة.",
    "th": "ไม่พบคำตอบของคำถามนี้ในหน้าที่จัดทำดัชนีไว้",
}
_BY_STOP_WORDS = ("en", "es", "de", "fr", "pt", "it", "nl", "pl")  # a tie is English

_UNSPACED = "\u0e01-\u0e5b\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\u3001-\u303f"
_TOKEN = re.compile(rf"\s*(?:[{_UNSPACED}]|[^\s{_UNSPACED}]+)|\s+$")


def not_found(question: str) -> str:
    """Says, in the question's language, that the pages do not hold the answer."""
    return _NOT_FOUND.get(language_of(question), _NOT_FOUND["en"])


def language_of(question: str) -> str:
    return guess([question]) or spoken_language(forms(question), _BY_STOP_WORDS)


def quoted(chosen: Sequence[Candidate]) -> str:
    """The sentences, each with its number; one paragraph for each page and each thing defined."""
    text = ""
    before: Candidate | None = None
    for one in chosen:
        fresh = before is None or before.code or _topic(before) != _topic(one)
        if before is not None:
            text += "\n\n" if fresh else " "
        if fresh and one.term and one.term not in one.text:
            text += f"{_named(one.term)}: "
        text += f"{one.text} [{one.number}]"
        if one.code:
            text += f"\n\n```\n{one.code}\n```"
        before = one
    return text


def tokens_of(text: str) -> Iterator[str]:
    """Words with the white space before them; single characters of scripts without spaces."""
    return iter(_TOKEN.findall(text))


def _topic(candidate: Candidate) -> tuple[int, str]:
    return candidate.number, candidate.term


def _named(term: str) -> str:
    """A term as words, a signature as code, shortened where it is long."""
    if kind_of(term) is not Kind.TERM:
        return term
    shown = term if len(term) <= MAX_TERM_CHARS else re.sub(r"\(.*", "(…)", term)
    return f"`{shown[:MAX_TERM_CHARS]}`"
