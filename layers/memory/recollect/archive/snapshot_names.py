"""Names of snapshots as paths, distinct in every store: S3 keys, and files where case may not count."""

import base64
import hashlib
import re
from collections.abc import Iterator

from recollect.core.errors import InvalidInput

# Stores on a file system allow 255 bytes for a part, S3 1,024 for a key.
MAX_PART_CHARACTERS = 200
MAX_PATH_CHARACTERS = 900
_PLAIN = re.compile(r"[a-z0-9_-][a-z0-9._-]{0,199}")
_ENCODED, _CONTINUED = "~", "~~"


def tenant_part(tenant: str) -> str:
    """The tenant's part of a path: a plain name unchanged, else its hash, which is never read back."""
    return tenant if _PLAIN.fullmatch(tenant) else _ENCODED + hashlib.sha256(tenant.encode()).hexdigest()


def path_of(name: str) -> str:
    """The path of a name. Raises InvalidInput for a name that the port forbids."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise InvalidInput("a snapshot's name has no empty, '.' or '..' part")
    path = "/".join(piece for part in parts for piece in _pieces(part))
    if len(path) > MAX_PATH_CHARACTERS:
        raise InvalidInput("a snapshot's name is too long")
    return path


def name_of(path: str) -> str:
    """The name of a path."""
    parts: list[str] = []
    for piece in path.split("/"):
        if piece.startswith(_CONTINUED):
            parts[-1] += piece.removeprefix(_CONTINUED)
        else:
            parts.append(piece)
    return "/".join(_decoded(part) for part in parts)


def folder_of(prefix: str) -> str:
    """The path of the whole parts of a name's beginning, with its `/`; "" where it has none."""
    folder, slash, _ = prefix.rpartition("/")
    return path_of(folder) + slash if folder else ""


def _pieces(part: str) -> Iterator[str]:
    if _PLAIN.fullmatch(part):
        yield part
        return
    encoded = base64.b32encode(part.encode()).decode().rstrip("=").lower()
    for start in range(0, len(encoded), MAX_PART_CHARACTERS):
        yield (_CONTINUED if start else _ENCODED) + encoded[start : start + MAX_PART_CHARACTERS]


def _decoded(part: str) -> str:
    if not part.startswith(_ENCODED):
        return part
    encoded = part.removeprefix(_ENCODED).upper()
    return base64.b32decode(encoded + "=" * (-len(encoded) % 8)).decode()
