"""What is peculiar to a provider or a model, as data: code knows behaviours, never vendor names.

The known providers are tables of `providers.toml`, which cites a document for each peculiarity.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from toolwire.config.kinds import HeaderName, HeaderValue, Regex

Protocol = Literal["chat", "messages", "responses"]
"""What is spoken on a wire: OpenAI Chat Completions, Anthropic Messages or OpenAI Responses."""

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model may think, in the words of OpenAI's `reasoning_effort`, weakest first."""

Positive = Annotated[int, Meta(ge=1)]
Limit = Annotated[int, Meta(ge=0)]
"""A largest number, where 0 means that there is none."""


BUDGETS: dict[Effort, int] = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 32768,
    "max": 65536,
}
"""Effort -> tokens of thinking, for providers that say nothing about it."""


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an upstream differs from the protocol it speaks. The defaults are the provider `generic`.

    An empty string, list or 0 means "no such rule". Words of a request are those of the protocol
    that the upstream speaks; a field that concerns one protocol only says so.
    """

    # -- credentials ---------------------------------------------------------------------------
    auth: Literal["auto", "bearer", "x-api-key", "api-key"] = "auto"
    """The header of the upstream's key: `Authorization: Bearer`, `x-api-key` or `api-key` (Azure).
    `auto`: `x-api-key` on messages upstreams, `bearer` on the others, as the official SDKs do."""

    headers: dict[HeaderName, HeaderValue] = {}
    """Headers that every request of this provider needs, unless the client sent them itself."""

    # -- thinking ------------------------------------------------------------------------------
    thinking_switch: Literal[
        "none",
        "reasoning_effort",
        "enable_thinking",
        "thinking_type",
        "chat_template_kwargs",
        "reasoning",
    ] = "reasoning_effort"
    """How a chat upstream is told to think or not to:

    - `none`: there is no switch, a wish for thinking is dropped and reported;
    - `reasoning_effort`: `"reasoning_effort": "high"`;
    - `enable_thinking`: `"enable_thinking": true, "thinking_budget": 4096`;
    - `thinking_type`: `"thinking": {"type": "enabled" | "disabled"}`, and beside it
      `reasoning_effort` where `efforts` is not empty;
    - `chat_template_kwargs`: `"chat_template_kwargs": {<thinking_key>: true}`;
    - `reasoning`: `"reasoning": {"effort": "high"}`, `{"max_tokens": 4096}` or `{"enabled":
      false}`.
    """

    thinking_key: str = "enable_thinking"
    """The key inside `chat_template_kwargs`: chat templates differ."""

    messages_thinking: Literal["budget", "adaptive"] = "budget"
    """How a messages upstream is told to think: `budget` is
    `"thinking": {"type": "enabled", "budget_tokens": 4096}`, `adaptive` is
    `"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}`."""

    efforts: tuple[Effort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    """The efforts that the upstream knows. Another one is replaced by the next stronger of them,
    else by the strongest, and reported; `none` switches thinking off where it can be. Empty: no
    effort is sent."""

    thinking_budgets: dict[Effort, Positive] = field(default_factory=lambda: dict(BUDGETS))
    """Effort -> tokens, where the client speaks of effort and the upstream of a budget, and
    backwards."""

    thinking_budget_min: Limit = 1024
    """The smallest budget in tokens that the upstream accepts."""

    thinking_optional: bool = True
    """Whether thinking can be switched off. Of a model that always thinks nothing is asked that it
    refuses while thinking: a forced choice becomes `auto` with the tools narrowed to the named
    one."""

    forced_choice_refused_while_thinking: bool = False
    """Whether a forced tool choice (`required`, `any` or a named tool) is a 400 while the model
    thinks. Thinking is then switched off for the request, unless the client itself asked for it."""

    # -- thinking in the history ---------------------------------------------------------------
    reasoning_history: Literal["keep", "strip", "current_turn", "tool_turns"] = "strip"
    """Which thinking of earlier assistant messages goes back to a chat upstream: all, none, that
    after the last user message, or that of the turns that called tools."""

    reasoning_field: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    """The name of that thinking in a chat message towards the upstream."""

    reasoning_missing_error: Regex = ""
    """Searched in the message of a 400: it says that thinking is missing from the history. The
    request is then repeated once with an empty `reasoning_field` on each assistant message that has
    none."""

    signed_thinking: bool = True
    """Whether a messages upstream signs its thinking and wants it back with the signature, first in
    its turn, and refuses thinking that it did not sign."""

    first_turn_user: bool = False
    """Whether a messages upstream wants the user to speak first, as Amazon Bedrock does; a marked
    text is then put before a history that begins with the assistant. Anthropic's own API takes
    such a history: https://github.com/anthropics/anthropic-sdk-typescript/issues/622"""

    # -- tools ---------------------------------------------------------------------------------
    tool_choices: tuple[Literal["auto", "none", "required", "named"], ...] = (
        "auto",
        "none",
        "required",
        "named",
    )
    """The choices that the upstream obeys, in the words of chat. One that is missing is replaced
    and reported: `named` by `required` with that tool alone, `required` by `auto`, `none` by no
    tools."""

    parallel_tool_calls: bool = True
    """Whether the switch for one call at a time is understood; else it is dropped and reported."""

    strict: bool = True
    """Whether tools and formats may carry `strict`; else it is dropped, and reported when true."""

    custom_tools: bool = False
    """Whether free-form tools (`type: custom`) are understood; else they go as functions with one
    string."""

    tool_name_max: Limit = 64
    """The longest tool name, in characters."""

    tool_name_pattern: Regex = "[a-zA-Z0-9_-]+"
    """What a whole tool name must match."""

    tool_id_pattern: Regex = ""
    """What a whole tool call id must match. `[a-zA-Z0-9_-]+` on messages upstreams."""

    schema_unions: bool = True
    """Whether the schema of a tool may have `anyOf`, `oneOf` or `allOf` at its root, which messages
    upstreams do not take; else their branches are merged, and it is reported."""

    tool_result_images: bool = False
    """Whether the result of a tool may hold images on a chat upstream; else they follow in a user
    message."""

    # -- other content -------------------------------------------------------------------------
    developer_role: bool = False
    """Whether a chat upstream takes the role `developer`; else it becomes `system`."""

    images: bool = True
    """Whether images are accepted; else a line of text stands in their place, and it is
    reported."""

    documents: bool = True
    """Whether documents (PDF) are accepted; else as with `images`."""

    cache_control: bool = False
    """Whether a chat upstream takes Anthropic's cache marks on content parts and tools."""

    structured_output: Literal["json_schema", "json_object", "none"] = "json_schema"
    """The strongest structured output that is understood; a stronger wish is weakened and
    reported."""

    think_tags: bool = False
    """Whether `<think>...</think>` at the start of the visible text is moved to the thinking."""

    # -- limits and sampling -------------------------------------------------------------------
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The name that a chat upstream has for the limit of the answer."""

    default_max_tokens: Positive = 8192
    """The limit for a messages upstream, which requires one, when the client gave none; tokens."""

    output_tokens_min: Limit = 0
    """The smallest limit that a responses upstream takes; a smaller one is raised and reported."""

    temperature_max: Annotated[float, Meta(ge=0)] = 2.0
    """The largest temperature, 1 on messages upstreams. A larger one is lowered and reported."""

    stop_max: Limit = 0
    """How many stop sequences are accepted; further ones are dropped and reported."""

    refused_fields: tuple[str, ...] = ()
    """Further fields at the top of a request that the upstream answers with an error. They are left
    out of what we convert, and reported; what the client wrote to its own protocol passes."""

    stream_usage: bool = True
    """Whether a chat upstream understands `stream_options.include_usage`."""
