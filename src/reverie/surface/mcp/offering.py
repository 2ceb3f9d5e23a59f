"""What the MCP server offers, as the SDK's handlers want it: the tools, resources and prompts.

Owns the translation between both; promises that every request is answered from the workspace's own thread while the
loop goes on reading, and that a cancelled one which was not begun is dropped; never knows how messages travel.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from reverie.config import traceback_wanted
from reverie.errors import NotFound, ReverieError, UsageError
from reverie.memory import Memory
from reverie.surface.mcp.answers import ERROR, Answer, fit
from reverie.surface.mcp.bound import Bound
from reverie.surface.mcp.fields import schema
from reverie.surface.mcp.prompts import PROMPTS, text_of
from reverie.surface.mcp.resources import MARKDOWN, PAGE, TEMPLATES, read_resource, resources
from reverie.surface.mcp.table import failure, offered, use

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any]

T = TypeVar("T")

_INVALID_PARAMS = -32602
_INTERNAL = -32603


class Offered:
    """What the server offers, as the SDK's handlers want it."""

    def __init__(self, chosen: Callable[[Context], Bound], *, pulse: float) -> None:
        """Answer each request over the workspace that is `chosen` for it, with a sign of life every `pulse` seconds."""
        import mcp_types
        from mcp.shared.exceptions import MCPError

        self._chosen, self._types, self._error, self._pulse = chosen, mcp_types, MCPError, pulse

    async def list_tools(
        self, context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return every tool that may be called."""
        tools = [
            self._types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.summary,
                input_schema=schema(tool.fields),
                output_schema=tool.output,
                annotations=self._types.ToolAnnotations(
                    title=tool.title,
                    read_only_hint=tool.reads,
                    destructive_hint=tool.destroys,
                    idempotent_hint=tool.repeats,
                    open_world_hint=False,
                ),
            )
            for tool in offered(self._chosen(context)).values()
        ]
        return self._types.ListToolsResult(tools=tools)

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Return what a tool answers; an error of ours is an answer, so that the model can do what it says."""
        bound = self._chosen(context)
        tool = offered(bound).get(params.name)
        if tool is None:
            raise self._error(_INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        try:
            answer = await _do(
                context, bound, lambda memory: use(tool, memory, given=params.arguments), pulse=self._pulse
            )
        except ReverieError as error:
            told = failure(error, bound).answer
            return self._result(told.text, error=told.value)
        except Exception as error:  # reason: the outermost frame: a fault of ours must not end the session
            return self._result(_fault(error), error={"class": type(error).__name__, "retryable": False})
        return self._result(answer.text, value=answer.value)

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return the files there are, page by page."""
        cursor = (params.cursor if params else None) or "0"
        if not cursor.isdecimal():
            raise self._error(_INVALID_PARAMS, f"Invalid cursor: {cursor[:100]}")
        start = int(cursor)
        found = await self._asked(context, lambda memory: list(resources(memory)))
        listed = [
            self._types.Resource(
                uri=one.uri, name=one.name, title=one.title, description=one.what, mime_type=MARKDOWN
            )
            for one in found[start : start + PAGE]
        ]
        more = str(start + PAGE) if start + PAGE < len(found) else None
        return self._types.ListResourcesResult(resources=listed, next_cursor=more)

    async def list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the families of files."""
        listed = [
            self._types.ResourceTemplate(
                uri_template=one.form,
                name=one.name,
                title=one.title,
                description=one.what,
                mime_type=MARKDOWN,
            )
            for one in TEMPLATES
        ]
        return self._types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a file's text."""
        uri = str(params.uri)
        found = await self._asked(
            context, lambda memory: fit(Answer(read_resource(memory, uri), {}), memory.root)
        )
        content = self._types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=found.text)
        return self._types.ReadResourceResult(contents=[content])

    async def list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Return every prompt."""
        listed = [
            self._types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.summary,
                arguments=[
                    self._types.PromptArgument(name=one.name, description=one.why, required=one.required)
                    for one in prompt.fields
                ],
            )
            for prompt in PROMPTS
        ]
        return self._types.ListPromptsResult(prompts=listed)

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Return a prompt's text."""
        prompt = next((one for one in PROMPTS if one.name == params.name), None)
        if prompt is None:
            raise self._error(_INVALID_PARAMS, f"Unknown prompt: {params.name[:100]}")
        found = await self._asked(
            context,
            lambda memory: fit(Answer(text_of(prompt, memory, given=params.arguments), {}), memory.root),
        )
        content = self._types.TextContent(type="text", text=found.text)
        message = self._types.PromptMessage(role="user", content=content)
        return self._types.GetPromptResult(description=prompt.summary, messages=[message])

    async def _asked(self, context: Context, verb: Callable[[Memory], T]) -> T:
        """Do what a request for no tool wants: there an error of ours is an error of the protocol."""
        bound = self._chosen(context)
        try:
            return await _do(context, bound, verb, pulse=self._pulse)
        except ReverieError as error:
            told = failure(error, bound).answer
            wrong = isinstance(error, NotFound | UsageError)
            raise self._error(_INVALID_PARAMS if wrong else _INTERNAL, told.text, told.value) from error

    def _result(
        self, text: str, *, value: dict[str, Any] | None = None, error: dict[str, Any] | None = None
    ) -> types.CallToolResult:
        """Return a result. An error has no structured content: some clients hold it against the output's schema."""
        content = self._types.TextContent(type="text", text=text)
        meta: Any = {ERROR: error} if error else None
        return self._types.CallToolResult(
            content=[content], structured_content=value, is_error=error is not None, _meta=meta
        )


async def _do(context: Context, bound: Bound, verb: Callable[[Memory], T], *, pulse: float) -> T:
    """Do something with the memory; whoever asked for progress gets a sign of life while it waits or runs.

    Nobody waits any more once this is cancelled: what had not begun is dropped, and what had goes on to its end.
    """
    asked, seconds = asyncio.wrap_future(bound.call(verb)), 0.0
    try:
        while not (await asyncio.wait({asked}, timeout=pulse))[0]:
            seconds += pulse
            await context.session.report_progress(seconds, message=f"at work for {seconds:g} s")
        return asked.result()
    finally:
        asked.cancel()


def _fault(error: Exception) -> str:
    """Return what is said of an error nobody expected; where it came from is shown to who asked for that."""
    if traceback_wanted():
        traceback.print_exception(error, file=sys.stderr)
    name = type(error).__name__
    return (
        f"unexpected {name}: what was acknowledged is kept; REVERIE_TRACEBACK=1 shows on standard error where"
    )
