"""Whether a passage tries to give instructions to a language model. Pure, a leaf.

Above: handlers tell RCP callers, the admin marks it, chats warns its model. A sign, no proof: what
protects is that passages are only ever data. It looks for who is spoken to and what is asked, in
the languages that such texts are mostly written in.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 20_000  # characters that are looked at

_EARLIER = r"(?:previous|prior|earlier|preceding|above|foregoing|original|initial|existing|system)"
_ORDERS = (
    r"(?:instruction|prompt|direction|directive|guideline|rule|command|constraint|order|context"
    r"|message)s?"
)
_PATTERNS = (
    # Set aside what was said before.
    rf"\b(?:ignore|disregard|forget|override|bypass|overlook|discard)\b"
    rf"(?:\W+\w+){{0,4}}?\W+(?:{_EARLIER}|your|these|those|other)\W+(?:\w+\W+){{0,2}}?{_ORDERS}\b",
    r"\b(?:ignore|disregard|forget)\W+(?:everything|anything|all)\W+(?:\w+\W+){0,3}?"
    r"(?:above|before|previously|so far|you (?:were|have been) told)",
    r"\bdo not (?:follow|obey|listen to)\b(?:\W+\w+){0,3}?\W+"
    rf"(?:{_EARLIER}|your)\W+(?:\w+\W+){{0,2}}?{_ORDERS}\b",
    # Be someone else.
    r"\byou are (?:now|no longer)\W+(?:\w+\W+){0,3}?(?:ai|assistant|chatbot|bot|model|llm|dan"
    r"|unrestricted|unfiltered|jailbroken)\b",
    r"\b(?:act|behave|respond|pretend) as (?:if you (?:are|were) )?(?:an? )?"
    r"(?:\w+ ){0,2}?(?:unrestricted|unfiltered|jailbroken|uncensored|dan)\b",
    r"\b(?:enter|enable|activate)\W+(?:\w+\W+){0,2}?(?:developer|god|jailbreak|dan|debug) mode\b"
    r"(?=.{0,200}\b(?:assistant|chatbot|llm|language model|prompt|instructions)\b)",
    # Spoken to as a model.
    r"\b(?:note|message|attention|instructions?|important|notice)\b\W+(?:\w+\W+){0,2}?"
    r"(?:to|for)\W+(?:\w+\W+){0,3}?(?:llms?|chatbots?|language models?|ai(?: assistants?| agents?)?"
    r")\b[^.\n]{0,40}?[:,!]",
    r"\b(?:if|when|since|as) you(?: are|'re)\W+(?:an? )?(?:\w+ )?(?:ai|llm|language model|chatbot"
    r"|ai (?:assistant|agent|model))\b",
    # Give away what is secret.
    r"\b(?:reveal|print|repeat|output|show|leak|disclose|send)\b(?:\W+\w+){0,4}?\W+"
    r"(?:your|the|its)\W+(?:hidden |secret |full |entire |initial |original )*"
    r"(?:system prompt|system message|initial prompt|hidden instructions)",
    r"\b(?:do not|don't|never) (?:mention|tell|reveal|disclose)\b.{0,60}"
    r"\b(?:this instruction|these instructions|this prompt|to the user)\b",
    r"\b(?:new|updated|real|actual|true) (?:system )?(?:instructions?|prompt)\s*:",
    # The marks of chat templates, and ours.
    r"<\|?\s*(?:im_start|im_end|system|assistant|endoftext|start_header_id|eot_id)\s*\|>",
    r"\[/?INST\]|<</?SYS>>|<start_of_turn>",
    r"^\s*#{2,}\s*(?:system|assistant|instructions?)\s*:\s*$",
    r"</\s*passages?\s*>",
    # Other languages: set aside, earlier, instructions.
    r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst)\b.{0,40}\b(?:anweisung|instruktion|vorgabe|regel)\w*",
    r"\b(?:ignor\w*|oubli\w*)\b.{0,40}\b(?:instructions?|consignes?)\b.{0,20}"
    r"\b(?:précédent|antérieur|ci-dessus)\w*",
    r"\b(?:ignor\w*|olvid\w*)\b.{0,40}\b(?:instrucci[oó]n|instruç[oõ]|orden)\w*.{0,20}"
    r"\b(?:anterior|previ)\w*",
    r"(?:игнорир|забудь|не обращай)\w*.{0,40}(?:инструкц|указани|команд)\w*",
    r"(?:忽略|无视|忽視|無視|忘记|忘掉|不要理会).{0,20}(?:指令|指示|提示|说明|規則|规则|命令)",
    r"(?:指示|命令|プロンプト|ルール).{0,12}(?:無視|忘れ)",
    r"(?:تجاهل|انس).{0,40}(?:التعليمات|الأوامر|الإرشادات)",
)
_SIGNS = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.I | re.M | re.S)
_HIDDEN_LEAST = 20  # characters of the block that shows as nothing and spells out ASCII


def injection_suspected(text: str) -> bool:
    text = text[:LONGEST]
    hidden = sum("\U000e0020" <= character <= "\U000e007e" for character in text)
    return hidden >= _HIDDEN_LEAST or _SIGNS.search(_plain(text)) is not None


def _plain(text: str) -> str:
    """Without what only serves to hide a word: full width, invisible characters, odd quotes."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'")
    return "".join(one for one in folded if unicodedata.category(one) != "Cf")
