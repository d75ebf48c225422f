"""Every page and every form of the console is driven in a real browser: the table is made from routes and pages.

A test says what it drives (`drives`), and fails where the browser has not sent it (conftest.py). Here no browser runs.
"""

from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from browser.driving import ROUTES, forms_of, of_route
from browser.test_further_pages import FURTHER
from entrypoints.console.test_foreign_ids import OWNER, Kept, filled
from entrypoints.console.test_weight import PAGES
from entrypoints.http.conftest import opened

FURTHER_FIELDS = {"cursor", "decided", "goals", "open", "part", "versions"}
NO_LINK = {"GET /users/{user_id}/import"}
"""Shown where a file was sent without a script: the sweep of all pages opens it."""


def declared() -> set[str]:
    """What the tests of this folder say that they drive."""
    modules = [import_module(f"browser.{path.stem}") for path in sorted(Path(__file__).parent.glob("test_*.py"))]
    tests = [one for module in modules for name, one in vars(module).items() if name.startswith("test_")]
    return {
        done for one in tests for mark in getattr(one, "pytestmark", ()) if mark.name == "drives" for done in mark.args
    }


@pytest.fixture(scope="module")
def fields(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Each field of each form of each page of a store in which there is one of each, as a browser would send it."""
    with opened(tmp_path_factory.mktemp("forms")) as app:
        kept = Kept(app, filled(app))
        other = kept.api().post("/v1/memories", {"user_id": "anna", "content": "I have a boat"})["id"]
        ids = {**kept.ids, "kind": "reconcile", "namespace": "notes", "key": "hours", "other_id": other}
        paths = [one.format(**ids, record_id="none", user_id="anna") for one in PAGES]
        return {field for path in paths for field in forms_of(path, str(kept.ask(OWNER, "GET", path).body))}


def test_every_route_and_every_field_of_a_form_is_driven(fields: set[str]) -> None:
    said = declared()
    done = said | {one.partition("?")[0] for one in said}
    assert len(fields) > 40, "the store is not full"
    further = {one for one in said if one.partition("?")[2] in FURTHER_FIELDS}
    assert done == {of_route(route) for route in ROUTES} - NO_LINK | fields | further


def test_every_link_to_what_follows_on_a_further_page_is_driven() -> None:
    """Of a store with one of each no page has any: they are counted in the templates.

    Those of parts and versions have a test of their own; those of users, jobs, rejections and a context are walked
    without a browser (entrypoints/console/test_further_pages.py).
    """
    templates = (files("recollect.entrypoints.console") / "templates").iterdir()
    assert sum(one.read_text("utf-8").count('rel="next"') for one in templates) == len(FURTHER) + 6
