"""Options that several commands take, and the scope they name."""

from typing import Annotated, TypeAlias

import typer

from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.importing.drafts import is_id

LOCAL_TENANT = "local"

User: TypeAlias = Annotated[str, typer.Option("--user", "-u", help="Whose memory: the user's id.")]
Persona: TypeAlias = Annotated[str | None, typer.Option(help="The assistant's persona; absent: any.")]
Household: TypeAlias = Annotated[str | None, typer.Option(help="The household; absent: any.")]
Tenant: TypeAlias = Annotated[
    str, typer.Option(envvar="RECOLLECT_TENANT", help="The tenant; `local` is that of a server without keys.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]
Sure: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Explain: TypeAlias = Annotated[bool, typer.Option(help="Say why each line is there.")]


def scope_of(user: str, persona: str | None, household: str | None, tenant: str) -> Scope:
    """The scope that the options name. Raises InvalidInput where one of them is no id."""
    given = {"--user": user, "--persona": persona, "--household": household, "--tenant": tenant}
    for option, value in given.items():
        if value is not None and not is_id(value):
            raise InvalidInput(f"{option}: an id has 1 to 128 characters and no control characters")
    return Scope(tenant, user, persona, household)


def tenant_of(tenant: str) -> str:
    """The tenant that the option names. Raises InvalidInput where it is no id."""
    if not is_id(tenant):
        raise InvalidInput("--tenant: an id has 1 to 128 characters and no control characters")
    return tenant


def sure(yes: bool, question: str) -> None:
    """Asks unless that was answered on the command line. Raises typer.Abort for any answer but yes."""
    if not yes:
        typer.confirm(question, abort=True, err=True)


def required_text(text: str, what: str) -> str:
    """The text. Raises InvalidInput where it is blank."""
    if not text.strip():
        raise InvalidInput(f"{what} is empty")
    return text
