"""An OpenAI-compatible server, as its embeddings and its chat completions both reach it."""

from recollect.adapters.http_connection import HttpService


def openai_service(name: str, base_url: str, api_key: str | None) -> HttpService:
    """The server at `base_url`, up to and with `/v1`; `name` is what errors call it."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return HttpService(name=name, base_url=base_url.rstrip("/"), headers=headers)
