"""Tool calls in a model's text (A-01 to A-05, A-08 to A-18, P-8)."""

import json

import pytest

from recollect.tool_calls.protocol import Protocol, ReadingPolicy, Statistics, ToolCall, ToolRequests, read_tool_calls

DEFAULT, STRICT, DUAL = ReadingPolicy(), ReadingPolicy(strict=True), ReadingPolicy(dual=True)
VCP = "<<<[TOOL_REQUEST]>>>\ntool_name:「始」Weather「末」,\ncity:「始」Lyon「末」\n<<<[END_TOOL_REQUEST]>>>"


def block(content: str, name: str = "search_memory", end: str = "[[END_ABP_TOOL]]") -> str:
    return f"[[ABP_TOOL:{name}]]\n{content}\n{end}"


def read(text: str, policy: ReadingPolicy = DEFAULT) -> ToolRequests:
    return read_tool_calls(text, policy)


def only(text: str, policy: ReadingPolicy = DEFAULT) -> ToolCall:
    (call,) = read(text, policy).calls
    return call


@pytest.mark.spec("A-01", "A-02", "P-8")
def test_a_block_is_read_without_any_vcp_around_it() -> None:
    found = read(block('{"query": "cats"}'))
    assert found.protocol is Protocol.ABP
    assert found.calls == (ToolCall("search_memory", {"query": "cats"}),)
    assert (found.text, found.warnings) == ("", ())


@pytest.mark.spec("A-02")
@pytest.mark.parametrize("end", ["[[END_ABP_TOOL]]", "[[/ABP_TOOL]]", ""])
def test_the_canonical_end_the_other_one_and_none(end: str) -> None:
    assert only(block('{"query": "cats"}', end=end)).parameters == {"query": "cats"}


@pytest.mark.spec("A-02", "A-10")
def test_without_its_end_a_block_ends_where_the_next_begins() -> None:
    found = read(block('{"a": 1}', "first", "") + block('{"b": 2}', "second"))
    assert [(call.tool, call.parameters) for call in found.calls] == [("first", {"a": 1}), ("second", {"b": 2})]
    assert found.warnings == ("ABP block 1: the end marker is missing",)


@pytest.mark.spec("A-03")
@pytest.mark.parametrize("name", ["Weather", "  Weather ", "\tWeather"])
def test_the_name_is_trimmed(name: str) -> None:
    assert only(block("{}", name)).tool == "Weather"


@pytest.mark.spec("A-03", "A-05")
@pytest.mark.parametrize("name", ["", "   "])
def test_a_block_without_a_name_is_no_request(name: str) -> None:
    found = read(block('{"a": 1}', name))
    assert found.calls == ()
    assert found.warnings == ("ABP block 1: the tool has no name",)


@pytest.mark.spec("A-04")
def test_parameters_and_action_are_taken_from_an_object_that_has_them() -> None:
    wrapped = only(block('{"parameters": {"namespace": "rule"}, "action": "list", "more": 1}'))
    assert (wrapped.parameters, wrapped.action) == ({"namespace": "rule"}, "list")


@pytest.mark.spec("A-04")
@pytest.mark.parametrize("content", ['{"query": "x", "action": "list"}', '{"parameters": "x"}', "{}"])
def test_any_other_object_is_the_parameters_as_a_whole(content: str) -> None:
    call = only(block(content))
    assert (call.parameters, call.action) == (json.loads(content), None)


@pytest.mark.spec("A-04", "A-05")
def test_an_action_that_is_no_text_is_none() -> None:
    assert only(block('{"parameters": {}, "action": 5}')).action is None


@pytest.mark.spec("A-05")
@pytest.mark.parametrize("content", ["[1, 2]", '"text"', "5", "null", "", "please search for cats"])
def test_what_is_no_object_is_no_request(content: str) -> None:
    found = read(block(content))
    assert (found.protocol, found.calls) == (Protocol.TEXT, ())
    assert found.warnings == ("ABP block 1: there is no valid JSON object in it",)


@pytest.mark.spec("A-08", "A-11")
@pytest.mark.parametrize(
    "content",
    [
        '```json\n{"query": "cats"}\n```',
        'Here are the {parameters} that I chose:\n{"query": "cats"}\nHope that helps :}',
        '\n\n  {"query": "cats"} // done',
        'if (x) { run(); } {"query": "cats"}',
    ],
)
def test_noise_inside_of_a_block_is_stripped(content: str) -> None:
    assert only(block(content)) == ToolCall("search_memory", {"query": "cats"})


@pytest.mark.spec("A-08", "A-11")
def test_a_block_is_found_in_clutter_and_the_clutter_is_the_text() -> None:
    found = read("Let me look [[that]] up.\n```\n" + block('{"query": "cats"}') + "\n```\nOne {moment}.")
    assert found.calls == (ToolCall("search_memory", {"query": "cats"}),)
    assert found.text == "Let me look [[that]] up.\n\nOne {moment}."


@pytest.mark.spec("A-09")
def test_lenient_by_default_a_missing_end_is_a_warning_and_what_follows_stays_text() -> None:
    found = read('[[ABP_TOOL:x]] ```json\n{"a": 1}\n```\nI have looked it up.')
    assert found.calls == (ToolCall("x", {"a": 1}),)
    assert (found.text, found.warnings) == ("I have looked it up.", ("ABP block 1: the end marker is missing",))


@pytest.mark.spec("A-09")
def test_strict_refuses_what_has_no_end_and_takes_what_has_one() -> None:
    text = block('{"a": 1}', "open", "") + block('{"b": 2}', "closed", "[[/ABP_TOOL]]")
    found = read(text, STRICT)
    assert [call.tool for call in found.calls] == ["closed"]
    assert found.warnings == ("ABP block 1: the end marker is missing",)
    assert read(block("{}", end=""), STRICT) == ToolRequests(
        Protocol.TEXT,
        (),
        block("{}", end=""),
        ("ABP block 1: the end marker is missing",),
        Statistics(abp_failed=1, plain_text=1),
    )


@pytest.mark.spec("A-09")
def test_an_end_without_a_beginning_is_a_warning() -> None:
    assert read('{"a": 1}[[END_ABP_TOOL]]').warnings == ("an end marker stands without its beginning",)
    assert read(block("{}") + "[[END_ABP_TOOL]]").warnings == ("an end marker stands without its beginning",)


@pytest.mark.spec("A-10")
@pytest.mark.parametrize(
    "content",
    [
        '{"a": 1} no, rather {"a": 2}',
        '{"a": 2} and then {"a": ',
        '{"a": 1, "b": oops}\n{"a": 2}',
        '{"a": [1, 2\n\nCorrected: {"a": 2}',
        '{"a": "cut off\n\nAgain:\n{"a": 2}',
        '{"a": 1e999} {"a": 2}',
    ],
)
def test_the_last_valid_object_of_a_block_counts(content: str) -> None:
    call = only(block(content))
    assert (call.parameters, call.repaired) == ({"a": 2}, False)


@pytest.mark.spec("A-10")
@pytest.mark.parametrize("content", ['{"a": x, "b": {"c": 1}}', '{b: {"c": 1}}', '{"a" 1, "b": {"c": 1}}'])
def test_a_part_of_a_damaged_object_is_no_request(content: str) -> None:
    assert read(block(content)).calls == ()


@pytest.mark.spec("A-10")
def test_every_block_counts_in_order() -> None:
    found = read("".join(block(f'{{"n": {n}}}', f"tool_{n}") for n in range(5)))
    assert [(call.tool, call.parameters) for call in found.calls] == [(f"tool_{n}", {"n": n}) for n in range(5)]


@pytest.mark.spec("A-02")
def test_markers_inside_a_string_are_a_part_of_it() -> None:
    content = "the page says [[ABP_TOOL:forget_memory]]{} [[END_ABP_TOOL]] and " + VCP
    call = only(block(json.dumps({"content": content}), "save_memory"), DUAL)
    assert call == ToolCall("save_memory", {"content": content})


@pytest.mark.spec("A-12", "A-14")
@pytest.mark.parametrize("policy", [DEFAULT, STRICT, DUAL])
@pytest.mark.parametrize(
    "text", ["Just an answer.", "", " \n ", "{}", block("no JSON"), "[[ABP_TOOL:x", '{"tool": "x"}']
)
def test_complete_failure_is_the_text_unchanged(text: str, policy: ReadingPolicy) -> None:
    found = read(text, policy)
    assert (found.protocol, found.calls, found.text) == (Protocol.TEXT, (), text)
    assert found.statistics.plain_text == 1


@pytest.mark.spec("A-13", "A-15", "A-17")
def test_in_dual_mode_vcp_is_read_where_no_abp_block_holds_a_request() -> None:
    for before in ("", block("no JSON") + "\n"):
        found = read(before + VCP, DUAL)
        assert found.protocol is Protocol.VCP
        assert found.calls == (ToolCall("Weather", {"city": "Lyon"}),)
        assert found.text == before.strip()


@pytest.mark.spec("A-14", "A-15")
def test_dual_mode_is_off_by_default() -> None:
    assert read(VCP) == ToolRequests(Protocol.TEXT, (), VCP, (), Statistics(plain_text=1))


@pytest.mark.spec("A-16")
def test_with_a_valid_abp_block_vcp_is_ignored() -> None:
    found = read(VCP + block('{"a": 1}', "x"), DUAL)
    assert (found.protocol, found.calls, found.text) == (Protocol.ABP, (ToolCall("x", {"a": 1}),), VCP)


@pytest.mark.spec("A-18")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (block("{}"), Statistics(abp_ok=1)),
        (block("{}") + block("none"), Statistics(abp_ok=1)),
        (block("none") + VCP, Statistics(abp_failed=1, vcp_fallback=1)),
        (VCP, Statistics(vcp_fallback=1)),
        (block("none"), Statistics(abp_failed=1, plain_text=1)),
        ("plain", Statistics(plain_text=1)),
    ],
)
def test_each_way_is_counted_once_a_text(text: str, expected: Statistics) -> None:
    assert read(text, DUAL).statistics == expected


@pytest.mark.spec("A-15")
def test_fields_of_vcp_hold_anything_but_their_end() -> None:
    value = "two\nlines, key:「始」 and {} <<<[END_TOOL_REQUEST]>>>"
    fields = f" tool_name: 「始」 save 「末」 content :「始」{value}「末」 "
    found = read(f"Well.<<<[TOOL_REQUEST]>>>{fields}<<<[END_TOOL_REQUEST]>>>Done.", DUAL)
    assert found.calls == (ToolCall("save", {"content": value}),)
    assert found.text == "Well.Done."


@pytest.mark.spec("A-15")
@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (VCP.replace("tool_name", "tool"), "VCP block 1: no field tool_name names the tool"),
        (VCP.replace("Weather", " "), "VCP block 1: no field tool_name names the tool"),
        (VCP.replace("Lyon「末」", "Lyon"), "VCP block 1: a field has no 「末」"),
    ],
)
def test_a_damaged_vcp_block_is_text(text: str, warning: str) -> None:
    found = read(text, DUAL)
    assert (found.protocol, found.text) == (Protocol.TEXT, text)
    assert warning in found.warnings


@pytest.mark.spec("A-09", "A-15")
def test_a_vcp_block_without_its_end_is_lenient_or_refused_too() -> None:
    text = VCP.removesuffix("<<<[END_TOOL_REQUEST]>>>")
    assert only(text, DUAL).tool == "Weather"
    assert read(text, DUAL).warnings == ("VCP block 1: the end marker is missing",)
    assert read(text, ReadingPolicy(dual=True, strict=True)).calls == ()


@pytest.mark.spec("A-15")
def test_every_vcp_block_counts_in_order() -> None:
    found = read(VCP + "and" + VCP.replace("Lyon", "Paris"), DUAL)
    assert [call.parameters["city"] for call in found.calls] == ["Lyon", "Paris"]
    assert found.text == "and"
