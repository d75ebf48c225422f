"""The console's own style, script and HTMX: files of this package, served by their names."""

from functools import cache
from importlib.resources import files

from recollect.core.errors import NotFound
from recollect.core.time import utc_now
from recollect.entrypoints.http.credentials import LOCAL
from recollect.entrypoints.http.messages import Call, Published, Reply, Request, publish, reply_published

_TYPES = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def asset(name: str, call: Call) -> Reply:
    """A file by its name, or 304. Raises NotFound for any other."""
    if name not in _TYPES:
        raise NotFound("no such file")
    return reply_published(Request(principal=LOCAL, now=utc_now(), route="", call=call), _published(name))


@cache
def _published(name: str) -> Published:
    text = (files(__package__) / "static" / name).read_text("utf-8")
    return publish(text, _TYPES[name])
