"""The official Python SDK, 1.x line: it speaks the old era only."""

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from driver import DEADLINE, Ears, plain, play


class Session:
    def __init__(self, session: ClientSession, greeting: types.InitializeResult) -> None:
        self.session = session
        self.greeting = greeting
        self.last = 0

    def opened(self) -> dict[str, Any]:
        greeting = plain(self.greeting)
        return {"server": greeting["serverInfo"], "capabilities": greeting["capabilities"], "revision": greeting["protocolVersion"]}

    async def ping(self) -> Any:
        return await self.session.send_ping()

    async def page(self, cursor: str | None) -> Any:
        return await self.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))

    async def call(self, tool: str, arguments: dict[str, Any], progress: Any) -> Any:
        self.last = self.session._request_id
        return await self.session.call_tool(tool, arguments, timedelta(seconds=DEADLINE), progress)

    async def task(self, tool: str, arguments: dict[str, Any]) -> tuple[list[str], Any]:
        tasks = self.session.experimental
        made = (await tasks.call_tool_as_task(tool, arguments)).task
        statuses = [made.status]
        async for seen in tasks.poll_task(made.taskId):
            statuses.append(seen.status)
            # A task that waits for an answer asks for it over the request for its result.
            if seen.status == "input_required":
                break
        return statuses, await tasks.get_task_result(made.taskId, types.CallToolResult)

    async def leave(self, scope: anyio.CancelScope) -> None:
        # This line of the SDK says nothing to the server when a caller leaves: whoever wants that sends it.
        notice = types.CancelledNotificationParams(requestId=self.last, reason="the caller left")
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=notice)))
        scope.cancel()


def transport(server: dict[str, Any]) -> Any:
    if "url" in server:
        return streamablehttp_client(server["url"], headers={"Authorization": f"Bearer {server['bearer']}"})
    program, *args = server["command"]
    return stdio_client(StdioServerParameters(command=program, args=args))


@asynccontextmanager
async def connect(server: dict[str, Any], ears: Ears) -> Any:
    if server["era"] != "legacy":
        raise ValueError(f"this SDK does not speak the era {server['era']}")

    async def elicit(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        ears.hear(asked="elicitation/create", message=params.message)
        return types.ElicitResult.model_validate(ears.answer)

    async def sample(_context: Any, _params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        ears.hear(asked="sampling/createMessage")
        return types.CreateMessageResult(model="abacus", role="assistant", content=types.TextContent(type="text", text="4"))

    async def roots(_context: Any) -> types.ListRootsResult:
        ears.hear(asked="roots/list")
        return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///srv/site", "name": "site"}]})

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        ears.hear(log=params.data)

    async def message(said: Any) -> None:
        if isinstance(said, types.ServerNotification) and isinstance(said.root, types.ToolListChangedNotification):
            ears.hear(changed="tools")

    async with transport(server) as (read, write, *_):
        async with ClientSession(
            read,
            write,
            elicitation_callback=elicit,
            sampling_callback=sample,
            list_roots_callback=roots,
            logging_callback=log,
            message_handler=message,
            client_info=types.Implementation(name="candor-tests-python-1", version="0.0.0"),
        ) as session:
            yield Session(session, await session.initialize())


anyio.run(play, connect)
