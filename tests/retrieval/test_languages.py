"""Words are found alike on every database, to the score, in the languages that break other indexes.

The figures are the same in each run of these tests, whichever database it is on.
"""

from __future__ import annotations

import pytest

from retrieval.index.postings import PostingsIndex
from retrieval.models import Chunk
from tests.factories import ChunkFactory, PageFactory

pytestmark = pytest.mark.django_db

TEXTS = {
    "zh": "用户身份验证需要密码。",
    "ja": "利用者の認証にはパスワードが必要です。",
    "ko": "사용자 인증에는 비밀번호가 필요합니다.",
    "th": "การยืนยันตัวตนของผู้ใช้ต้องใช้รหัสผ่าน",
    "ar": "تتطلب مصادقة المستخدمين كلمات مرور",
    "hi": "उपयोगकर्ताओं के प्रमाणीकरण के लिए पासवर्ड चाहिए।",
    "de": "Für die Prüfung der Benutzer werden Schlüssel gebraucht.",
    "ru": "Для проверки пользователей нужны пароли.",
    "tr": "Kullanıcıların doğrulanması için İSTANBUL parolası gerekir.",
    "en": "The multi-agent db of release 38.101 checks users in C++.",
}


@pytest.fixture
def index() -> PostingsIndex:
    index = PostingsIndex()
    page = PageFactory.create(title="-")
    chunks = [ChunkFactory.create(page=page, text=text) for text in TEXTS.values()]
    index.add(chunks, languages=list(TEXTS))
    return index


QUESTIONS = {
    "用户": ("zh", 2.2131),
    "身份": ("zh", 2.2131),
    "認証": ("ja", 1.6952),
    "パスワード": ("ja", 6.7809),
    "사용자": ("ko", 3.8397),
    "인증": ("ko", 1.9198),
    "รหัสผ่าน": ("th", 7.4868),
    "ตัวตน": ("th", 4.2782),
    "مستخدم": ("ar", 2.612),
    "उपयोगकर्ता": ("hi", 2.396),
    "पासवर्ड": ("hi", 2.396),
    "Schlüssel": ("de", 2.3009),
    "geprüfter Benutzer": ("de", 2.3009),
    "проверка пароля": ("ru", 5.224),
    "пользователь": ("ru", 2.612),
    "istanbul": ("tr", 2.4994),
    "db": ("en", 1.9856),
    "38.101": ("en", 5.9568),
    "multi-agent": ("en", 5.9568),
    "C++": ("en", 1.9856),
}


@pytest.mark.parametrize(("question", "expected"), QUESTIONS.items())
def test_a_question_finds_its_passage_with_the_same_score_everywhere(
    index: PostingsIndex, question: str, expected: tuple[str, float]
) -> None:
    (best, *_) = index.search(question, language="", k=3)
    text = Chunk.objects.get(pk=best.chunk_id).text
    language = next(name for name, one in TEXTS.items() if one == text)
    assert (language, round(best.score, 4)) == expected
