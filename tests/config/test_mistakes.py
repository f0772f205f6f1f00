"""Every kind of mistake in a configuration, with the exact words that tell of it."""

from __future__ import annotations

import pytest

from tests.config.conftest import UPSTREAM, Problems


def upstream(**changes: str) -> str:
    """An upstream's table; the values are TOML, an empty one leaves the key out."""
    keys = {"name": '"a"', "protocol": '"chat"', "base_url": '"http://x"', **changes}
    return "[[upstreams]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value)


MISTAKES = [
    # what is not there, or must not be
    ("", "upstreams: expected at least one upstream, begun with [[upstreams]]"),
    ("[upstreams]", "upstreams: expected a list of tables, each begun with [[upstreams]]"),
    ("upstreams = [1]", "upstreams: expected a list of tables, each begun with [[upstreams]]"),
    (upstream(name=""), ("upstreams[0].name: expected a name of "
     "letters, digits, dots, dashes and underscores, the key is missing")),
    (upstream(base_url=""), ("upstreams[0].base_url: expected a URL such as "
     "https://api.example.com/v1, the key is missing")),
    ("nonsense = 1\n" + UPSTREAM, "nonsense: unknown key"),
    ("[servers]\n" + UPSTREAM, 'servers: unknown key; did you mean "server"?'),
    ("[server]\nprot = 1\n" + UPSTREAM, 'server.prot: unknown key; did you mean "port"?'),
    (upstream(modles="[]"), 'upstreams[0].modles: unknown key; did you mean "models"?'),
    (upstream(**{'"a b"': "1"}), 'upstreams[0]."a b": unknown key'),
    # types and bounds
    ("server = 1\n" + UPSTREAM, "server: expected a table, got 1"),
    ("[server]\nport = 65536\n" + UPSTREAM,
     "server.port: expected a whole number from 0 to 65535, got 65536"),
    ("[server]\nport = -1\n" + UPSTREAM,
     "server.port: expected a whole number from 0 to 65535, got -1"),
    ('[server]\nport = "80"\n' + UPSTREAM,
     'server.port: expected a whole number from 0 to 65535, got "80"'),
    ("[server]\nport = true\n" + UPSTREAM,
     "server.port: expected a whole number from 0 to 65535, got true"),
    ("[server]\nport = 8080.5\n" + UPSTREAM,
     "server.port: expected a whole number from 0 to 65535, got 8080.5"),
    ("[server]\nport = 1979-05-27\n" + UPSTREAM,
     "server.port: expected a whole number from 0 to 65535, got a date"),
    ('[server]\nmetrics = "yes"\n' + UPSTREAM,
     'server.metrics: expected true or false, got "yes"'),
    ("[server]\nmax_body_bytes = 0\n" + UPSTREAM,
     "server.max_body_bytes: expected a whole number of at least 1, got 0"),
    ("[server]\ndrain_seconds = nan\n" + UPSTREAM,
     "server.drain_seconds: expected a number of at least 0, got NaN"),
    ("[server]\nhost = 1\n" + UPSTREAM, "server.host: expected a string, got 1"),
    ('[server]\nlog_level = "trace"\n' + UPSTREAM,
     'server.log_level: expected one of "debug", "info", "warning" or "error", got "trace"'),
    (upstream(protocol='"openai"'), ('upstreams[0].protocol: expected one of "chat", "messages" '
     'or "responses", got "openai"')),
    (upstream(models='"*"'), 'upstreams[0].models: expected a list of strings, got "*"'),
    (upstream(models="[1]"), "upstreams[0].models[0]: expected a string, got 1"),
    (upstream(headers="[]"), "upstreams[0].headers: expected a table, got a list"),
    (upstream(connect_seconds="0"),
     "upstreams[0].connect_seconds: expected a number greater than 0, got 0"),
    (upstream(profile="1"), "upstreams[0].profile: expected a table, got 1"),
    (upstream(middlewares="1"), "upstreams[0].middlewares: expected a table, got 1"),
    # forms of strings
    (upstream(name='"a/b"'), ("upstreams[0].name: expected a name of "
     'letters, digits, dots, dashes and underscores, got "a/b"')),
    (upstream(base_url='"ftp://x"'), ("upstreams[0].base_url: expected a URL such as "
     'https://api.example.com/v1, got "ftp://x"')),
    (upstream(base_url='"api.example.com"'), ("upstreams[0].base_url: expected a URL such as "
     'https://api.example.com/v1, got "api.example.com"')),
    (upstream(base_url='"http://x:99999"'), ("upstreams[0].base_url: expected a URL such as "
     'https://api.example.com/v1 (Port out of range 0-65535), got "http://x:99999"')),
    (upstream(base_url='"http://x/a b"'), ("upstreams[0].base_url: expected a URL such as "
     'https://api.example.com/v1, got "http://x/a b"')),
    (upstream(base_url='"http://x?a=1"'),
     'upstreams[0].base_url: expected a URL without ? and #, got "http://x?a=1"'),
    (upstream(version_path='"v1/"'), ("upstreams[0].version_path: expected a path such as "
     '"/v1" without a slash at its end, or "", got "v1/"')),
    ('[server]\nhost = "a b"\n' + UPSTREAM,
     'server.host: expected an IP address or a host name, got "a b"'),
    ('[server]\nroot_path = "/llm/"\n' + UPSTREAM, ("server.root_path: expected a path such as "
     '"/v1" without a slash at its end, or "", got "/llm/"')),
    (upstream(models='["[qwen"]'),
     'upstreams[0].models[0]: expected a glob whose [ is closed by ], got "[qwen"'),
    (upstream(models='[" "]'), 'upstreams[0].models[0]: expected a glob such as qwen*, got " "'),
    (upstream(headers='{ "a b" = "c" }'),
     'upstreams[0].headers."a b": expected the name of a header, got "a b"'),
    (upstream(headers='{ Host = "c" }'), ("upstreams[0].headers.Host: expected a header that is "
     'not about the connection, got "Host"')),
    (upstream(headers='{ a = "b\\r\\nc" }'), ("upstreams[0].headers.a: expected the value of a "
     "header, in one line of Latin-1, got a string")),
    (upstream(api_key='"a b"'), ("upstreams[0].api_key: expected a key of visible ASCII characters "
     "without spaces, got a string")),
    (upstream(api_key="1"), "upstreams[0].api_key: expected a string, got a whole number"),
    ('[server]\nclient_keys = [""]\n' + UPSTREAM,
     "server.client_keys[0]: expected a key that is not empty, got a string"),
    ('[responses_store]\nurl = "mysql://u:p@h"\n' + UPSTREAM, ("responses_store.url: expected a "
     "URL such as sqlite:///responses.db or postgresql://user@host/name, got a string")),
    # the environment
    (upstream(api_key='"${NO_KEY}"'), ("upstreams[0].api_key: expected the environment variable "
     "NO_KEY to be set (or ${NO_KEY:-default})")),
    (upstream(api_key='"${NO KEY}"'), ("upstreams[0].api_key: expected ${NAME} or "
     "${NAME:-default} (and $${ for a plain ${), got '${NO KEY}'")),
    (upstream(api_key='"${OPEN"'), ("upstreams[0].api_key: expected ${NAME} or ${NAME:-default} "
     "(and $${ for a plain ${), got '${OPEN'")),
    # what fits nothing else
    (upstream() + upstream(), ('upstreams[1].name: expected a name of its own, but upstreams[0] '
     'is "a" too')),
    (upstream(models="[]"),
     "upstreams[0].models: expected at least one glob; it serves no model"),
    (upstream(provider='"deepsek"'), ('upstreams[0].provider: expected a provider, got "deepsek"; '
     'did you mean "deepseek"?')),
    ('default_upstream = "b"\n' + UPSTREAM,
     'default_upstream: expected the name of an upstream ("a"), got "b"'),
    ('[models."gpt-4"]\nstrict = false\n' + upstream(models='["qwen*"]'),
     "models.gpt-4: expected a model that an upstream serves"),
    (upstream(models='["qwen*"]') + '[upstreams.profile.models."gpt-4"]\nstrict = false\n',
     "upstreams[0].profile.models.gpt-4: expected a model that an upstream serves"),
    ('[server]\nhost = "0.0.0.0"\n' + UPSTREAM, ('server.host: expected server.client_keys, or '
     'auth = "off" written out, because others can reach 0.0.0.0')),
    ('[server]\nhost = "::"\n' + UPSTREAM, ('server.host: expected server.client_keys, or '
     'auth = "off" written out, because others can reach ::')),
    # profiles
    ("[providers.mine]\nstrikt = true\n" + UPSTREAM,
     'providers.mine.strikt: unknown key; did you mean "strict"?'),
    ("[providers.mine]\nreasoning_missing_error = '('\n" + UPSTREAM,
     ("providers.mine.reasoning_missing_error: expected a regular expression (missing ), "
     'unterminated subpattern at position 0), got "("')),
    ('[providers.mine]\nlike = "vlm"\n' + UPSTREAM,
     'providers.mine.like: expected a provider, got "vlm"; did you mean "vllm"?'),
    ('[providers.mine]\nlike = "mine"\n' + UPSTREAM,
     'providers.mine.like: expected another provider, but "mine" is like itself'),
    ('[providers.openai]\nlike = "vllm"\n' + UPSTREAM,
     "providers.openai.like: expected no like, for the provider is known already"),
    ('[models."[x"]\n' + UPSTREAM,
     'models."[x": expected a glob whose [ is closed by ], got "[x"'),
    ("[providers.mine]\nthinking_budgets = { some = 1 }\n" + UPSTREAM,
     ('providers.mine.thinking_budgets.some: expected one of "none", "minimal", "low", "medium", '
     '"high", "xhigh" or "max", got "some"')),
    # middlewares
    ("[middlewares.tunde]\n" + UPSTREAM, ('middlewares.tunde: unknown middleware; did you mean '
     '"tuned"? (one of your own needs use = "package.module:Class")')),
    ("[middlewares]\ntuned = 1\n" + UPSTREAM, "middlewares.tuned: expected a table, got 1"),
    ("[middlewares.tuned]\nsize = 10\n" + UPSTREAM,
     "middlewares.tuned.size: expected a whole number from 1 to 9, got 10"),
    ("[middlewares.tuned]\nlimits = { a = true }\n" + UPSTREAM,
     "middlewares.tuned.limits.a: expected a whole number, got true"),
    ('[middlewares.tuned]\nflush = "budget"\nsize = 9\n' + UPSTREAM,
     "middlewares.tuned: expected size of at most 8 with flush = budget"),
    (UPSTREAM + "[upstreams.middlewares.tunde]\n",
     'upstreams[0].middlewares.tunde: unknown middleware; did you mean "tuned"?'),
    (UPSTREAM + "[upstreams.middlewares.tuned]\nenabeld = true\n",
     'upstreams[0].middlewares.tuned.enabeld: unknown key; did you mean "enabled"?'),
    (UPSTREAM + "[upstreams.middlewares.auth]\nenabled = false\n",
     ("upstreams[0].middlewares.auth: expected in [middlewares.auth] only: it acts before an "
     "upstream is chosen")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[line[:60] for _, line in MISTAKES])
def test_a_mistake_is_told_with_its_place_and_what_was_expected(
    problems: Problems, text: str, message: str
) -> None:
    assert problems(text) == [message]


def test_all_mistakes_are_told_at_once(problems: Problems) -> None:
    text = """
        port = 1
        [server]
        port = 70000
        workers = 0
        [[upstreams]]
        name = "a"
        protocol = "chats"
        base_url = "nowhere"
        [upstreams.middlewares.tuned]
        size = 0
        [[upstreams]]
        name = "a"
        [middlewares.tuned]
        size = "4"
        [models.x]
        strict = 1
    """
    paths = [line.split(": ")[0] for line in problems(text)]
    assert sorted(paths) == [
        "middlewares.tuned.size",
        "models.x.strict",
        "port",
        "server.port",
        "server.workers",
        "upstreams[0].base_url",
        "upstreams[0].middlewares.tuned.size",
        "upstreams[0].protocol",
        "upstreams[1].base_url",
        "upstreams[1].name",
        "upstreams[1].protocol",
    ]


def test_a_value_from_the_environment_is_not_shown(problems: Problems) -> None:
    text = upstream(base_url='"${SECRET_URL}"', name='"${SECRET_NAME}"')
    environ = {"SECRET_URL": "http://user:hunter2@x", "SECRET_NAME": "hunter2/x"}
    assert problems(text, environ) == [
        (
            "upstreams[0].name: expected a name of letters, digits, dots, dashes and underscores, "
            'got "${SECRET_NAME}"'
        ),
        (
            "upstreams[0].base_url: expected a URL without user and password (they belong in "
            'api_key or headers), got "${SECRET_URL}"'
        ),
    ]


def test_what_the_command_line_says_is_blamed_on_it(problems: Problems) -> None:
    overrides = {"server": {"port": 70000, "host": "0.0.0.0"}}
    assert problems("[server]\nworkers = 0\n" + UPSTREAM, overrides=overrides) == [
        "command line: server.port: expected a whole number from 0 to 65535, got 70000",
        "server.workers: expected a whole number from 1 to 256, got 0",
    ]
    assert problems(UPSTREAM, overrides={"server": {"host": "0.0.0.0"}}) == [
        (
            'command line: server.host: expected server.client_keys, or auth = "off" written out, '
            "because others can reach 0.0.0.0"
        )
    ]
