"""Where results stand: ``arrange`` over what clients really send."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolwire.proxy.protocols.layout import arrange
from toolwire.proxy.protocols.neutral import (
    Call,
    Image,
    Losses,
    Result,
    Role,
    Source,
    Text,
    Thinking,
    Turn,
)


def system(text: str) -> Turn:
    return Turn(Role.SYSTEM, [Text(text)])


def user(*parts: object, name: str | None = None) -> Turn:
    return Turn(Role.USER, [Text(p) if isinstance(p, str) else p for p in parts], name=name)  # type: ignore[misc]


def assistant(*parts: object, name: str | None = None) -> Turn:
    return Turn(Role.ASSISTANT, [Text(p) if isinstance(p, str) else p for p in parts], name=name)  # type: ignore[misc]


def call(call_id: str, name: str = "f", at: str = "call") -> Call:
    return Call(call_id, name, "{}", at=at)


def result(call_id: str, text: str = "ok", at: str = "result") -> Result:
    return Result(call_id, [Text(text)], at=at)


def spelled(turns: list[Turn]) -> list[tuple[str, list[str]]]:
    """A layout, short enough to be compared."""
    return [(turn.role.value, [_word(part) for part in turn.parts]) for turn in turns]


def _word(part: object) -> str:
    match part:
        case Text():
            return part.text
        case Call():
            return f"call {part.id}"
        case Result():
            return f"result {part.call_id}: {part.parts[0].text}"  # type: ignore[union-attr]
    return type(part).__name__


def arranged(*turns: Turn) -> tuple[list[tuple[str, list[str]]], list[tuple[str, str]]]:
    losses = Losses()
    layout = arrange(list(turns), losses)
    return spelled(layout), [(loss.kind, loss.path) for loss in losses.entries]


def test_a_conversation_that_is_right_stays() -> None:
    turns = [system("s"), user("q"), assistant("t", call("1")), user(result("1"), "more")]
    losses = Losses()
    assert arrange(turns, losses) == turns
    assert losses.entries == []


def test_leading_system_turns_stay_apart() -> None:
    developer = Turn(Role.DEVELOPER, [Text("d")])
    assert arranged(system("a"), system("b"), developer, user("q"))[0] == [
        ("system", ["a"]),
        ("system", ["b"]),
        ("developer", ["d"]),
        ("user", ["q"]),
    ]


def test_neighbours_of_one_role_are_one_turn() -> None:
    assert arranged(user("a"), user("b"), assistant("c"), assistant("d"))[0] == [
        ("user", ["a", "b"]),
        ("assistant", ["c", "d"]),
    ]


def test_speakers_of_other_names_keep_their_turns() -> None:
    assert arranged(user("a", name="ann"), user("b", name="bob"), user("c", name="bob"))[0] == [
        ("user", ["a"]),
        ("user", ["b", "c"]),
    ]


def test_results_come_before_the_text_that_stood_before_them() -> None:
    layout, losses = arranged(
        user("q"), assistant(call("1"), call("2")), user("also", result("2"), result("1"))
    )
    assert layout[2] == ("user", ["result 1: ok", "result 2: ok", "also"])
    assert losses == []


def test_results_of_several_turns_are_one_turn() -> None:
    layout, _ = arranged(
        assistant(call("1"), call("2")), user(result("1")), user(result("2")), user("go on")
    )
    assert layout[1:] == [("user", ["result 1: ok", "result 2: ok", "go on"])]


def test_neighbouring_calls_are_one_turn() -> None:
    layout, _ = arranged(
        assistant(call("1")), assistant(call("2")), user(result("1")), user(result("2"))
    )
    assert layout == [
        ("assistant", ["call 1", "call 2"]),
        ("user", ["result 1: ok", "result 2: ok"]),
    ]


def test_turns_that_only_results_part_stay_apart() -> None:
    layout, _ = arranged(
        assistant(call("1")), user(result("1")), assistant("so", call("2")), user(result("2"))
    )
    assert layout == [
        ("assistant", ["call 1"]),
        ("user", ["result 1: ok"]),
        ("assistant", ["so", "call 2"]),
        ("user", ["result 2: ok"]),
    ]


def test_a_result_passes_what_stands_between() -> None:
    layout, losses = arranged(
        assistant(call("1")), system("note"), user("text"), user(result("1"), "after")
    )
    assert layout == [
        ("assistant", ["call 1"]),
        ("user", ["result 1: ok"]),
        ("system", ["note"]),
        ("user", ["text", "after"]),
    ]
    assert losses == []


def test_a_late_result_goes_back_to_its_call() -> None:
    layout, _ = arranged(
        assistant(call("1")), user("meanwhile"), assistant("fine"), user(result("1"), "next")
    )
    assert layout == [
        ("assistant", ["call 1"]),
        ("user", ["result 1: ok", "meanwhile"]),
        ("assistant", ["fine"]),
        ("user", ["next"]),
    ]


def test_results_stand_before_the_next_speaker_of_another_name() -> None:
    layout, _ = arranged(
        assistant(call("1"), name="ann"), assistant("b", name="bob"), user(result("1"))
    )
    assert layout == [
        ("assistant", ["call 1"]),
        ("user", ["result 1: ok"]),
        ("assistant", ["b"]),
    ]


def test_a_missing_result_is_marked_and_reported() -> None:
    layout, losses = arranged(
        assistant(call("1"), call("2", at="messages[1].tool_calls[1]")), user(result("1"), "go on")
    )
    placeholder = "result 2: [No result was given for this tool call.]"
    assert layout[1] == ("user", ["result 1: ok", placeholder, "go on"])
    assert losses == [("invented", "messages[1].tool_calls[1]")]


def test_calls_at_the_end_are_answered_too() -> None:
    turns = arrange([user("q"), assistant(call("1"))], losses := Losses())
    (placeholder,) = turns[2].parts
    assert isinstance(placeholder, Result)
    assert (placeholder.call_id, placeholder.is_error) == ("1", True)
    assert len(losses.entries) == 1


def test_a_second_result_is_dropped_and_reported() -> None:
    layout, losses = arranged(
        assistant(call("1")), user(result("1", "first"), result("1", "second", at="messages[2]"))
    )
    assert layout[1] == ("user", ["result 1: first"])
    assert losses == [("dropped", "messages[2]")]


def test_a_result_without_its_call_becomes_text_with_all_it_holds() -> None:
    picture = Image(Source(url="https://example.org/a.png"))
    orphan = Result("gone", [Text("21 C"), picture], at="messages[0]")
    turns = arrange([user(orphan, "hi")], losses := Losses())
    mark, text, image, rest = turns[0].parts
    assert isinstance(mark, Text) and "gone" in mark.text
    assert (text, image, rest) == (Text("21 C"), picture, Text("hi"))
    assert [(loss.kind, loss.path) for loss in losses.entries] == [("coerced", "messages[0]")]


def test_the_output_of_a_tool_that_was_not_called_takes_no_calls_place() -> None:
    told = Result("", [Text("from another thread")], at="input[1]", uncalled="inbox")
    turns = arrange([assistant(call("1")), user(told, result("1"))], losses := Losses())
    answered, mark, text = turns[1].parts
    assert isinstance(answered, Result) and answered.call_id == "1"
    assert isinstance(mark, Text) and "inbox" in mark.text
    assert text == Text("from another thread")
    assert [(loss.kind, loss.path) for loss in losses.entries] == [("coerced", "input[1]")]


def test_a_result_before_its_call_is_no_result() -> None:
    layout, losses = arranged(user(result("1")), assistant(call("1")), user("x"))
    assert layout[0][0] == "user" and "ok" in layout[0][1]
    assert [kind for kind, _ in losses] == ["coerced", "invented"]


def test_calls_and_results_without_ids_are_paired_in_order() -> None:
    turns = [
        user("q"),
        assistant(call("", "first"), call("", "second")),
        user(result("", "one"), result("", "two")),
    ]
    layout = arrange(turns, Losses())
    first, second = layout[1].parts
    one, two = layout[2].parts
    assert isinstance(first, Call) and isinstance(second, Call)
    assert isinstance(one, Result) and isinstance(two, Result)
    assert first.id and second.id and first.id != second.id
    assert (one.call_id, one.parts) == (first.id, [Text("one")])
    assert (two.call_id, two.parts) == (second.id, [Text("two")])


def test_made_ids_are_the_same_in_the_next_request_of_a_session() -> None:
    turns = [user("q"), assistant(call("")), user(result(""))]
    longer = [*turns, assistant(call("")), user(result(""))]
    assert arrange(longer, Losses())[:3] == arrange(turns, Losses())
    ids = {p.id for t in arrange(longer, Losses()) for p in t.parts if isinstance(p, Call)}
    assert len(ids) == 2


def test_a_result_without_id_answers_a_call_that_has_one() -> None:
    layout, losses = arranged(assistant(call("1"), call("2")), user(result("2"), result("", "it")))
    assert layout[1] == ("user", ["result 1: it", "result 2: ok"])
    assert losses == []


def test_a_result_with_an_id_of_its_own_answers_a_call_that_has_none() -> None:
    layout, losses = arranged(assistant(call("")), user(result("made-up", "it")))
    assert [kind for kind, _ in losses] == ["invented"]
    assert layout[1][1][0].endswith(": it")


def test_an_id_means_the_latest_call_that_bears_it() -> None:
    layout, losses = arranged(
        assistant(call("call_0")),
        user(result("call_0", "first")),
        assistant(call("call_0")),
        user(result("call_0", "second")),
    )
    assert layout[1] == ("user", ["result call_0: first"])
    assert layout[3] == ("user", ["result call_0: second"])
    assert losses == []


def test_two_calls_of_one_turn_do_not_share_an_id() -> None:
    turns = arrange(
        [assistant(call("x"), call("x")), user(result("x", "one"), result("x", "two"))],
        losses := Losses(),
    )
    first, second = turns[0].parts
    assert isinstance(first, Call) and isinstance(second, Call)
    assert first.id == "x" != second.id
    assert [(r.call_id, r.parts) for r in turns[1].parts if isinstance(r, Result)] == [
        ("x", [Text("one")]),
        (second.id, [Text("two")]),
    ]
    assert [loss.kind for loss in losses.entries] == ["coerced"]


def test_a_result_is_as_free_in_form_as_its_call() -> None:
    free = Call("1", "shell", "ls", custom=True)
    turns = arrange([assistant(free), user(result("1"))], Losses())
    assert [r.custom for r in turns[1].parts if isinstance(r, Result)] == [True]


def test_empty_text_and_empty_turns_are_left_out() -> None:
    layout, losses = arranged(user("q", ""), assistant(""), user(""), assistant("", call("1")))
    assert layout[:2] == [("user", ["q"]), ("assistant", ["call 1"])]
    assert [kind for kind, _ in losses] == ["invented"]


def test_white_space_and_thinking_are_kept() -> None:
    assert arranged(user("a", " ", "b"), assistant(Thinking("hm")))[0] == [
        ("user", ["a", " ", "b"]),
        ("assistant", ["Thinking"]),
    ]


def test_the_turns_that_came_are_left_alone() -> None:
    turns = [assistant(call("")), user("x", ""), assistant("y"), user(result(""))]
    before = spelled(turns)
    arrange(turns, Losses())
    assert spelled(turns) == before


IDS = st.sampled_from(["", "a", "b", "c"])
PARTS = st.one_of(
    st.builds(call, IDS),
    st.builds(result, IDS, st.just("r")),
    st.builds(Text, st.sampled_from(["", "t", " "])),
)
TURNS = st.lists(
    st.builds(
        Turn,
        st.sampled_from(list(Role)),
        st.lists(PARTS, max_size=4),
        name=st.sampled_from([None, "ann"]),
    ),
    max_size=12,
)


@given(TURNS)
def test_whatever_comes_each_call_is_answered_at_its_place(turns: list[Turn]) -> None:
    losses = Losses()
    layout = arrange(turns, losses)
    owed: list[str] = []
    for turn in layout:
        assert turn.parts
        answered = []
        for part in turn.parts:
            if isinstance(part, Result):
                answered.append(part.call_id)
            elif turn.role is Role.USER and answered:
                break
        if turn.role is Role.ASSISTANT and not answered:
            owed += [part.id for part in turn.parts if isinstance(part, Call)]
        elif owed:
            assert answered[: len(owed)] == owed
            owed = []
    texts = [p for t in turns for p in t.parts if isinstance(p, Text) and p.text]
    kept = [p for t in layout for p in t.parts if isinstance(p, Text)]
    assert all(text in kept for text in texts)
    results = sum(isinstance(p, Result) for t in turns for p in t.parts)
    told = sum(isinstance(p, Result) for t in layout for p in t.parts)
    kinds = [loss.path for loss in losses.entries if loss.path == "result"]
    invented = [x for x in losses.entries if x.kind == "invented" and "no result" in x.why]
    assert results == told + len(kinds) - len(invented)
