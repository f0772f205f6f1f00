"""What the agents have to do, and what has to come out."""

from __future__ import annotations

from pydantic import BaseModel

BOTH = "What is the weather in Oslo and Rome?"
ANSWER = (
    "✓ The tools were run.\n"
    "get_weather answered: “5 °C in Oslo”\nget_weather answered: “5 °C in Rome”"
)


class Person(BaseModel):
    name: str
    age: int


ANN = Person(name="demo name", age=42)
"""What is answered to "Ann is 42"."""


class Weather:
    """A tool that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get_weather(self, city: str) -> str:
        """The weather in a city."""
        self.asked.append(city)
        return f"5 °C in {city}"
