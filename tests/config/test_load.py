"""Finding the file, reading it, and what comes from the environment and from other files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.conftest import OPTIONS, UPSTREAM, Problems, Read
from toolwire.config.load import find, from_dict, load, loads
from toolwire.config.model import Secret
from toolwire.config.problems import ConfigError


def test_the_least_file_gets_the_defaults(read: Read) -> None:
    settings = read(UPSTREAM)
    (upstream,) = settings.upstreams
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8080)
    assert (upstream.provider, upstream.models, upstream.on_loss) == ("generic", ("*",), "report")
    assert settings.default_upstream == "a"
    assert settings.upstream("a") is upstream
    assert settings.upstream("b") is None


@pytest.mark.parametrize(
    ("named", "variable", "found"),
    [("x.toml", "y.toml", "x.toml"), (None, "y.toml", "y.toml"), (None, None, "toolwire.toml")],
)
def test_the_file_is_found(
    named: str | None,
    variable: str | None,
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("toolwire.toml").touch()
    environ = {"TOOLWIRE_CONFIG": variable} if variable else {}
    assert find(Path(named) if named else None, environ) == Path(found)


def test_no_file_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load(None, environ={}, options=OPTIONS)
    assert str(caught.value) == (
        "toolwire.toml: expected --config FILE, $TOOLWIRE_CONFIG or a file of this name in the "
        "current folder"
    )


def test_a_file_is_loaded_whatever_its_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(b"\xef\xbb\xbf" + UPSTREAM.replace("\n", "\r\n").encode())
    assert load(file, environ={}, options=OPTIONS).upstreams[0].name == "a"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = \n", "expected TOML: Invalid value (at line 1, column 5)"),
        (b"[server]\nport = 1\nport = 2", "expected TOML: Cannot overwrite a value"),
        (b"a = '\xff'", "expected UTF-8: invalid start byte at byte 5"),
    ],
)
def test_a_file_that_is_no_toml(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(file, environ={}, options=OPTIONS)
    assert str(caught.value).startswith(f"{file}: {message}")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "x.toml", environ={}, options=OPTIONS)
    message = f"{tmp_path / 'x.toml'}: expected a readable file: No such file or directory"
    assert str(caught.value) == message


def test_a_document_made_elsewhere() -> None:
    upstream = {"name": "a", "protocol": "messages", "base_url": "https://x"}
    settings = from_dict({"upstreams": [upstream]}, environ={}, options=OPTIONS)
    assert settings.upstreams[0].api_root == "https://x/v1"


def test_the_command_line_wins(read: Read) -> None:
    settings = read(
        "[server]\nport = 1\nworkers = 2\n" + UPSTREAM, overrides={"server": {"port": 3}}
    )
    assert (settings.server.port, settings.server.workers) == (3, 2)


# -- the environment -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A}", "one"),
        ("-${A}-${B}-", "-one-two-"),
        ("${A:-default}", "one"),
        ("${NONE:-default}", "default"),
        ("${NONE:-}", ""),
        ("${EMPTY:-default}", "default"),
        ("${EMPTY}", ""),
        ("${NONE:-a:-b c}", "a:-b c"),
        ("$${A}", "${A}"),
        ("$A $$A $ {A}", "$A $$A $ {A}"),
        ("${LIKE}", "${A}"),
    ],
)
def test_variables_are_put_into_strings(read: Read, text: str, result: str) -> None:
    environ = {"A": "one", "B": "two", "EMPTY": "", "LIKE": "${A}"}
    settings = read(UPSTREAM + f"headers = {{ x = '{text}' }}", environ)
    assert settings.upstreams[0].headers["x"].reveal() == result


def test_a_variable_may_be_a_number_or_a_truth(read: Read) -> None:
    text = '[server]\nport = "${PORT}"\nmetrics = "${METRICS:-false}"\n' + UPSTREAM
    server = read(text, {"PORT": "9000"}).server
    assert (server.port, server.metrics) == (9000, False)


def test_upstreams_may_be_named_by_the_environment(read: Read, problems: Problems) -> None:
    text = UPSTREAM.replace('"a"', '"${NAME}"')
    assert read('default_upstream = "prod"\n' + text, {"NAME": "prod"}).default_upstream == "prod"
    assert problems(UPSTREAM + text, {"NAME": "a"}) == [
        'upstreams[1].name: expected a name of its own, but upstreams[0] is "a" too'
    ]
    assert problems(UPSTREAM + text) == [
        "upstreams[1].name: expected the environment variable NAME to be set (or ${NAME:-default})"
    ]


# -- keys in files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["sk-1", "sk-1\n", " sk-1\r\n\n", "# k\nsk-1"])
def test_a_key_is_read_from_a_file_beside_the_configuration(
    read: Read, tmp_path: Path, content: str
) -> None:
    (tmp_path / "key").write_bytes(content.encode())
    upstream = read(UPSTREAM + 'api_key_file = "key"').upstreams[0]
    assert upstream.api_key == Secret("sk-1")
    assert upstream.api_key_file == str(tmp_path / "key")


def test_without_one_a_key_is_empty(read: Read) -> None:
    assert read(UPSTREAM).upstreams[0].api_key == Secret("")


def test_what_a_key_file_says_is_taken_literally(read: Read, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("${A}")
    assert read(UPSTREAM + 'api_key_file = "key"').upstreams[0].api_key == Secret("${A}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a file with a key, got one without"),
        (b"\n", "expected a file with a key, got one without"),
        (b"a\nb\n", "expected a file with one key, got 2"),
        (b"a b", "expected a key of visible ASCII characters without spaces in the file"),
    ],
)
def test_a_key_file_that_holds_no_key(
    problems: Problems, tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "key").write_bytes(content)
    assert problems(UPSTREAM + 'api_key_file = "key"') == [f"upstreams[0].api_key_file: {message}"]


def test_a_key_and_a_file(problems: Problems, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-1")
    assert problems(UPSTREAM + 'api_key = "sk-2"\napi_key_file = "key"') == [
        "upstreams[0].api_key_file: expected either api_key or api_key_file"
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sk-key-itself", "No such file or directory"),
        ("${KEY}", "No such file or directory"),
        (".", "Is a directory"),
        ("~nobody-of-this-name/x", "Could not determine home directory."),
    ],
)
def test_a_file_that_cannot_be_read_is_not_named(
    problems: Problems, tmp_path: Path, name: str, reason: str
) -> None:
    assert problems(UPSTREAM + f'api_key_file = "{name}"', {"KEY": "sk-secret"}) == [
        (
            f"upstreams[0].api_key_file: expected a file that can be read, relative to {tmp_path} "
            f"({reason})"
        )
    ]


def test_a_key_file_that_is_no_text(problems: Problems, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"\xff")
    message = "upstreams[0].api_key_file: expected a text file (invalid start byte)"
    assert problems(UPSTREAM + 'api_key_file = "key"') == [message]


def test_client_keys_come_from_the_file_too(read: Read, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# team a\nk1\n\n  k2  \n")
    text = '[server]\nhost = "0.0.0.0"\nclient_keys = ["k0"]\nclient_keys_file = "keys"\n'
    keys = read(text + UPSTREAM).server.client_keys
    assert [key.reveal() for key in keys] == ["k0", "k1", "k2"]


def test_a_file_without_client_keys_opens_nothing(problems: Problems, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# none yet\n")
    text = '[server]\nhost = "0.0.0.0"\nclient_keys_file = "keys"\n'
    assert problems(text + UPSTREAM) == [
        "server.client_keys_file: expected a file with a key, got one without"
    ]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_only_this_machine_needs_no_key(read: Read, host: str) -> None:
    assert read(f'[server]\nhost = "{host}"\n' + UPSTREAM).server.host == host


def test_others_are_let_in_where_it_is_written_out(read: Read) -> None:
    server = read('[server]\nhost = "0.0.0.0"\nauth = "off"\n' + UPSTREAM).server
    assert (server.auth, server.client_keys) == ("off", ())


def test_on_loss_is_inherited(read: Read) -> None:
    text = 'on_loss = "reject"\n' + UPSTREAM + UPSTREAM.replace('"a"', '"b"')
    settings = read(text + 'on_loss = "report"')
    assert [upstream.on_loss for upstream in settings.upstreams] == ["reject", "report"]


def test_loads_takes_files_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("key").write_text("sk-1")
    settings = loads(UPSTREAM + 'api_key_file = "key"', environ={}, options=OPTIONS)
    assert settings.upstreams[0].api_key == Secret("sk-1")
