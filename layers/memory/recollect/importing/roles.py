"""Who spoke: `bot` only for an assistant; names that assistants go by, and roles that nobody speaks in."""

from recollect.core.event import Role

_ASSISTANTS = frozenset({
    "ai", "ai assistant", "assistant", "bot", "chatbot", "chatgpt", "claude", "copilot", "gemini", "gpt", "gpt-4",
    "llm", "meta ai", "model",
})  # fmt: skip
_PEOPLE = frozenset({"user", "human", "person", "customer"})
_NOBODY = frozenset({"system", "developer", "tool", "function"})


def role_of_speaker(speaker: str | None) -> Role:
    """The role that a speaker's name tells, where no role is given: a person's unless it is an assistant's."""
    return Role.BOT if speaker is not None and speaker.strip().casefold() in _ASSISTANTS else Role.USER


def role_of_name(role: str) -> Role | None:
    """The role of a role's name; None where nobody speaks in it (system, tool). Raises KeyError for an unknown one."""
    name = role.strip().casefold()
    if name in _NOBODY:
        return None
    if name in _ASSISTANTS or name in _PEOPLE:
        return Role.BOT if name in _ASSISTANTS else Role.USER
    raise KeyError(name)
