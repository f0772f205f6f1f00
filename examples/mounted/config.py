"""The settings of this app. Its name is that of one of toolwire's folders, and nothing happens."""

from pathlib import Path

NAME = "library"
GATEWAY_FILE = Path(__file__).with_name("toolwire.toml")
