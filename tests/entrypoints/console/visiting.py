"""A browser without scripts: it keeps the cookie, and sends back the hidden fields of the page that it was shown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlencode

from entrypoints.http.calling import ORIGIN, Answered, Caller, Surface

FORM = "application/x-www-form-urlencoded"


@dataclass
class Visitor:
    """`headers` go with every request; `page` is what was shown last."""

    surface: Surface
    headers: Mapping[str, str] = field(default_factory=dict)
    cookie: str = ""
    page: Answered | None = None

    def get(self, path: str, **query: str) -> Answered:
        """Opens a page."""
        return self._send("GET", f"{path}?{urlencode(query)}" if query else path, None, {})

    def post(self, path: str, /, **fields: str) -> Answered:
        """Sends the hidden fields of the page that is shown with these; a field that is empty is left out."""
        whole = {name: value for name, value in {**self.hidden(), **fields}.items() if value}
        return self._send("POST", path, urlencode(whole).encode(), {"content-type": FORM, "origin": ORIGIN})

    def follow(self, answer: Answered) -> Answered:
        """The page that a form leads to."""
        assert answer.status == 303, answer.text
        return self.get(answer.headers["location"].partition("#")[0])

    def do(self, path: str, /, **fields: str) -> Answered:
        """Opens the page of a form, sends it, and follows."""
        shown = self.get(path)
        assert shown.status == 200, shown.text
        return self.follow(self.post(path.partition("?")[0], **fields))

    def _send(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answered:
        cookie = {"cookie": self.cookie} if self.cookie else {}
        answer = self.surface.send(
            method, target, body, {"host": "localhost:8700", **self.headers, **cookie, **headers}
        )
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.page = answer
        return answer

    def send_as(self, path: str, body: bytes, content_type: str) -> Answered:
        """Sends a body as it is."""
        return self._send("POST", path, body, {"content-type": content_type, "origin": ORIGIN})

    def drop(self, user: str, content: str | bytes, name: str = "file.json", /, **fields: str) -> Answered:
        """Sends a file with the hidden fields of the page of imports and these; without more it is only looked at."""
        path = f"/console/users/{user}/import"
        self.get(path)
        parts = [f'name="{key}"\r\n\r\n{value}'.encode() for key, value in {**self.hidden(), **fields}.items()]
        file = content if isinstance(content, bytes) else content.encode()
        parts.append(f'name="file"; filename="{name}"\r\nContent-Type: application/json\r\n\r\n'.encode() + file)
        body = b"".join(b"--edge\r\nContent-Disposition: form-data; " + part + b"\r\n" for part in parts)
        return self.send_as(path, body + b"--edge--\r\n", "multipart/form-data; boundary=edge")

    def hidden(self) -> dict[str, str]:
        """The hidden fields of the page that is shown."""
        found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', self.page.text if self.page else "")
        return {name: unescape(value) for name, value in found}


def visible(answer: Answered) -> str:
    """The words of a page, without its elements."""
    body = answer.text.partition("<main")[2].partition(">")[2].partition("</main>")[0]
    return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())


def one_memory(caller: Caller, content: str, user: str = "anna", **more: Any) -> str:
    """The id of a memory that is saved."""
    answer = caller.post("/v1/memories", {"user_id": user, "content": content, **more})
    assert answer.status == 201, answer.text
    return str(answer.json["id"])
