"""What is built is what is imported: the files of a wheel, an sdist and an editable install."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("proxy", "middlewares", "config")


def build(kind: str, into: Path) -> Path:
    """Builds with the installed hatchling, without the network; returns the one file made."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(into)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = into.iterdir()
    return made


def source_files(folder: str) -> set[str]:
    """The files of one package as they stand in the checkout, relative to its root."""
    files = (ROOT / folder).rglob("*")
    return {
        file.relative_to(ROOT).as_posix()
        for file in files
        if file.is_file() and "__pycache__" not in file.parts
    }


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    with zipfile.ZipFile(build("wheel", tmp_path_factory.mktemp("wheel"))) as wheel:
        return set(wheel.namelist())


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_wheel_holds_every_file_of_the_package(wheel_files: set[str], folder: str) -> None:
    expected = {f"toolwire/{file}" for file in source_files(folder)}
    assert f"toolwire/{folder}/py.typed" in expected
    assert {file for file in wheel_files if file.startswith(f"toolwire/{folder}/")} == expected


def test_the_wheel_puts_nothing_else_at_the_top_level(wheel_files: set[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    parts = [file.split("/") for file in wheel_files]
    assert {top for top, *_ in parts} == {"toolwire", f"toolwire-{project['version']}.dist-info"}
    assert {folder for top, folder, *_ in parts if top == "toolwire"} == set(FOLDERS)


def test_the_sdist_holds_the_packages_and_can_be_built_from(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path)) as sdist:
        files = {name.partition("/")[2] for name in sdist.getnames()}
    packages = set().union(*map(source_files, FOLDERS))
    assert packages | {"pyproject.toml", "LICENSE", "README.md", "deploy/hatch_build.py"} <= files


@pytest.mark.parametrize("package", ["proxy", "middlewares"])
def test_importing_one_module_does_not_import_its_siblings(package: str) -> None:
    assert (ROOT / package / "__init__.py").read_bytes() == b""


def test_an_editable_install_finds_the_checkout(tmp_path: Path) -> None:
    with zipfile.ZipFile(build("wheel:editable", tmp_path / "wheel")) as wheel:
        wheel.extractall(tmp_path / "site")
    program = (
        "import site, sys\n"
        "from importlib.util import find_spec\n"
        "site.addsitedir(sys.argv[1])\n"
        "for folder in sys.argv[2:]:\n"
        "    print(find_spec(f'toolwire.{folder}').origin)\n"
    )
    # -I -S: neither the working directory nor what is installed in this environment may help.
    command = [sys.executable, "-I", "-S", "-c", program, str(tmp_path / "site"), *FOLDERS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = [Path(line).resolve() for line in done.stdout.splitlines()]
    assert found == [ROOT / folder / "__init__.py" for folder in FOLDERS]
