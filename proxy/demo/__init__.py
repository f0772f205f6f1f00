"""The built-in scripted upstream: chat, messages and responses offline, with faults on request.

    app = create_demo()              # an ASGI application, to run behind the gateway
    for quirk in QUIRKS.values():    # what it does wrong when a model's name asks for it
        ...quirk.name, quirk.doc

It is no model: it calls the tools it is offered with arguments made from their schemas, and repeats
what the tools said. It is as strict as the vendors are, so a client that works with it sends what
they accept. It imports nothing else of the project.
"""

from toolwire.proxy.demo.app import create_demo
from toolwire.proxy.demo.quirks import QUIRKS, Quirk

__all__ = ["QUIRKS", "Quirk", "create_demo"]
