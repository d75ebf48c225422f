"""The size of a text in model tokens, estimated where no model's tokenizer is configured."""

import re

from recollect.domain.characters import CJK_CLASS

_CJK = re.compile(f"[{CJK_CLASS}]+")
_CHARACTERS_PER_TOKEN = 4


def count_tokens(text: str) -> int:
    """Tokens ≥ 0: one for each CJK character, and ceil(n / 4) for the n others."""
    others = len(text) if text.isascii() else len(_CJK.sub("", text))
    return len(text) - others + -(-others // _CHARACTERS_PER_TOKEN)
