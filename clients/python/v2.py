"""The official Python SDK, 2.x line: it speaks both eras, and `auto` asks before it chooses."""

import warnings
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPDeprecationWarning

from driver import DEADLINE, Ears, plain, play

# What the newer era has dropped is still asked of the older one.
warnings.simplefilter("ignore", MCPDeprecationWarning)

# A version by itself would be adopted unasked: `auto` is what sends `server/discover`.
MODES = {"legacy": "legacy", "modern": "auto", "auto": "auto"}


class Session:
    def __init__(self, client: Client) -> None:
        self.client = client

    def opened(self) -> dict[str, Any]:
        client = self.client
        server = client.server_info and plain(client.server_info)
        return {"server": server, "capabilities": plain(client.server_capabilities), "revision": client.protocol_version}

    async def ping(self) -> Any:
        return await self.client.send_ping()

    async def page(self, cursor: str | None) -> Any:
        return await self.client.list_tools(cursor=cursor)

    async def call(self, tool: str, arguments: dict[str, Any], progress: Any) -> Any:
        return await self.client.call_tool(tool, arguments, DEADLINE, progress)

    async def leave(self, scope: anyio.CancelScope) -> None:
        scope.cancel()

    def listen(self) -> Any:
        return self.client.listen(tools_list_changed=True)


def transport(server: dict[str, Any]) -> Any:
    if "url" in server:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {server['bearer']}"}, timeout=DEADLINE, follow_redirects=True)
        return streamable_http_client(server["url"], http_client=http)
    program, *args = server["command"]
    return StdioServerParameters(command=program, args=args)


@asynccontextmanager
async def connect(server: dict[str, Any], ears: Ears) -> Any:
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
        if isinstance(said, types.ToolListChangedNotification):
            ears.hear(changed="tools")

    client = Client(
        transport(server),
        mode=MODES[server["era"]],
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
        logging_callback=log,
        log_level="debug",
        message_handler=message,
        client_info=types.Implementation(name="candor-tests-python-2", version="0.0.0"),
    )
    async with client:
        yield Session(client)


anyio.run(play, connect)
