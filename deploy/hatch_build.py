"""Build hook: links the source folders to their import names for editable installs.

The folders `proxy`, `middlewares` and `config` are imported as `toolwire.proxy`,
`toolwire.middlewares` and `toolwire.config`. A wheel moves them; an editable install finds them
through the links made here, `build/ns/toolwire/NAME -> ../../../NAME`, because `dev-mode-dirs`
puts `build/ns` on the path. See https://hatch.pypa.io/latest/plugins/build-hook/custom/
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("proxy", "middlewares", "config")


class LinkImportNames(BuildHookInterface):
    """Makes the links before an editable wheel is built; any other build is left alone."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            link_import_names(Path(self.root))


def link_import_names(root: Path) -> None:
    """Links each folder.

    A link that is right already stays: a running process may be importing through it.

    Raises OSError where something else stands in a link's place.
    """
    namespace = root / "build" / "ns" / "toolwire"
    namespace.mkdir(parents=True, exist_ok=True)
    for folder in FOLDERS:
        link = namespace / folder
        target = Path("..", "..", "..", folder)
        if not (link.is_symlink() and link.readlink() == target):
            link.symlink_to(target, target_is_directory=True)
