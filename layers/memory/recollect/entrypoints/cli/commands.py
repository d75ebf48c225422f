"""What a command is about, by its signature: `app: App` is the open app, `scope: Scope` whose memory it is.

A group makes options of the scope: --user where it stands, and --persona, --household and --tenant before --explain and
--json, else last. `PersonaScope` and `UserScope` have fewer of them.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeAlias

import typer
from typer.models import CommandFunctionType

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.scope import Labels, Scope, namespace_fault
from recollect.importing.turns import is_id
from recollect.settings import Settings

LOCAL_TENANT = "local"

User: TypeAlias = Annotated[str, typer.Option("--user", "-u", help="The user's id.")]
Persona: TypeAlias = Annotated[str | None, typer.Option(help="The assistant's persona; absent: any.")]
Household: TypeAlias = Annotated[str | None, typer.Option(help="The household; absent: any.")]
Tenant: TypeAlias = Annotated[
    str, typer.Option(envvar="RECOLLECT_TENANT", help="The tenant; `local` is that of a server without keys.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]
Sure: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Explain: TypeAlias = Annotated[bool, typer.Option(help="Say why each line is there.")]

Agent: TypeAlias = Annotated[
    str | None, typer.Option("--agent", help="Stores as this agent's, and sees nothing of others.")
]
Application: TypeAlias = Annotated[
    str | None, typer.Option("--app", help="Stores as this application's, and sees nothing of others.")
]
Namespace: TypeAlias = Annotated[
    str | None, typer.Option("--namespace", help="Stores in this one, labels with slashes between, and sees no other.")
]

PersonaScope: TypeAlias = Annotated[Scope, "persona", "tenant"]
UserScope: TypeAlias = Annotated[Scope, "tenant"]

_NARROWING: dict[str, tuple[Any, str | None]] = {
    "persona": (Persona, None),
    "household": (Household, None),
    "tenant": (Tenant, LOCAL_TENANT),
}
_LAST = ("explain", "as_json")


class CommandGroup(typer.Typer):
    """Commands that get the app and the scope that their signatures name."""

    def command(self, name: str | None = None, **options: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """As typer's."""
        register = super().command(name, **options)

        def take(work: CommandFunctionType) -> CommandFunctionType:
            register(_with_options(work))
            return work

        return take


def _with_options(work: Callable[..., None]) -> Callable[..., None]:
    """The same work with options for its scope; a tenant by itself is checked before the app is opened."""
    own = signature(work, eval_str=True).parameters
    narrowing = _narrowing(own["scope"]) if "scope" in own else ()

    @wraps(work)
    def command(**given: Any) -> None:
        if "scope" in own:
            given["scope"] = scope_of(given.pop("user"), **{name: given.pop(name) for name in narrowing})
        if "app" not in own:
            work(**given)
            return
        check_ids(tenant=given.get("tenant"))
        with opened() as app:
            work(app=app, **given)

    vars(command)["__signature__"] = Signature(_options(own.values(), narrowing))
    return command


def _narrowing(scope: Parameter) -> tuple[str, ...]:
    return getattr(scope.annotation, "__metadata__", tuple(_NARROWING))


def _options(own: Iterable[Parameter], narrowing: tuple[str, ...]) -> list[Parameter]:
    options = [_option("user", User) if one.name == "scope" else one for one in own if one.name != "app"]
    place = next((at for at, one in enumerate(options) if one.name in _LAST), len(options))
    options[place:place] = [_option(name, *_NARROWING[name]) for name in narrowing]
    return [one.replace(kind=Parameter.KEYWORD_ONLY) for one in options]


def _option(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def scope_of(user: str, persona: str | None = None, household: str | None = None, tenant: str = LOCAL_TENANT) -> Scope:
    """The scope that the options name. Raises InvalidInput where one of them is no id."""
    check_ids(user=user, persona=persona, household=household, tenant=tenant)
    return Scope(tenant, user, persona, household)


def options_of(scope: Scope) -> str:
    """The options that name this scope again, for a command that a hint gives."""
    given = {"persona": scope.persona_id, "household": scope.household_id}
    given |= {"tenant": None if scope.tenant == LOCAL_TENANT else scope.tenant}
    named = {"user": scope.user_id, **{name: value for name, value in given.items() if value is not None}}
    return " ".join(f"--{name} {shlex.quote(value)}" for name, value in named.items())


def check_ids(**options: str | None) -> None:
    """Raises InvalidInput for the first option that is given and is no id."""
    for option, value in options.items():
        if value is not None and not is_id(value):
            raise InvalidInput(f"--{option}: an id has 1 to 128 characters and no control characters")


def whole_id(given: str, ids: Iterable[str], noun: str) -> str:
    """The id that is given, or the only one that begins so. Raises NotFound, InvalidInput where several do."""
    matching = [one for one in ids if given and one.startswith(given)]
    if given in matching:
        return given
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise NotFound(f"no such {noun}")
    raise InvalidInput(f"{len(matching)} {noun}s begin so: name more of the id")


def labels_of(agent: str | None, application: str | None, namespace: str | None) -> Labels:
    """The labels that the options name. Raises InvalidInput where one of them is none."""
    check_ids(agent=agent, app=application)
    return Labels(agent, application, namespace_of(namespace) or ())


def namespace_of(path: str | None) -> tuple[str, ...] | None:
    """The labels between the slashes. Raises InvalidInput."""
    labels = None if path is None else tuple(path.strip("/").split("/"))
    fault = None if labels is None else namespace_fault(labels)
    if fault is not None:
        raise InvalidInput(fault)
    return labels


@contextmanager
def opened(settings: Settings | None = None) -> Iterator[App]:
    """The app, closed at the end. Raises ConfigurationError."""
    app = open_app(settings)
    try:
        yield app
    finally:
        app.close()
