"""What the operator writes: the structs of `model`, filled from TOML by `load`."""

from toolwire.config.options import Options

__all__ = ["Options"]
