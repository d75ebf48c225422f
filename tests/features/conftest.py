"""The steps that several features share."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pytest_bdd import given, parsers, then, when

from embedded.setting import open_memory
from embedded.turning import talk
from features.world import LONG_AGO, World
from recollect.adapters.models.extractive import ExtractiveModel
from recollect.timeline.record import EventDraft


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """SQLite, the hashing embedder and the model that quotes."""
    memory = open_memory(tmp_path)
    world = World(memory, talk(memory))
    world.replace_parts(model=ExtractiveModel())
    yield world
    memory.app.parts.close()


@given(parsers.parse('the user once said "{text}"'))
def once_said(world: World, text: str) -> None:
    world.earlier += 1
    world.store(EventDraft(content=text, timestamp=LONG_AGO + timedelta(hours=world.earlier)))


@given(parsers.parse('the user says "{text}"'))
@when(parsers.parse('the user says "{text}"'))
def says(world: World, text: str) -> None:
    world.say(text)


@when(parsers.parse('the user asks "{text}"'))
def asks(world: World, text: str) -> None:
    """A question about the context, which stores nothing."""
    world.memory.project()
    world.context = world.memory.context(text, conversation_id=world.talk.conversation_id or "c1")


@when(parsers.parse('a {content_type} memory "{text}" is stored'))
def is_stored(world: World, content_type: str, text: str) -> None:
    world.stored = world.store(EventDraft(content=text, content_type=content_type))


@then(parsers.parse('the prompt holds the line "{line}"'))
def holds_the_line(world: World, line: str) -> None:
    assert line in world.prompt.splitlines()
