"""A middleware of this app, beside those of toolwire."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ServedBy:
    """Says in a header who answered."""

    def __init__(self, app: ASGIApp, name: str) -> None:
        self.app = app
        self.header = (b"x-served-by", name.encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], self.header]}
            await send(message)

        await self.app(scope, receive, send_named if scope["type"] == "http" else send)
