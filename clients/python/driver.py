"""Plays a plan with a client of the official Python SDK and prints, one JSON line a step, what its caller saw.

Plans are made and judged by crates/candor-cli/tests/clients and crates/candor/tests/official. This file knows steps; v1.py and v2.py
know the SDKs.
"""

import json
import sys
from typing import Any

import anyio

# No wait is longer than this, in seconds: a client that hangs is a finding, not a hung test.
DEADLINE = 20.0

# How often the tools may be asked for another page.
PAGES = 20


# What the user says when asked, unless the step has another answer.
YES = {"action": "accept", "content": {"name": "Ada"}}


class Ears:
    """What the server said by itself since the step began, and what it is answered."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = YES
        self._came = anyio.Event()

    def hear(self, **event: Any) -> None:
        self.heard.append(event)
        self._came.set()
        self._came = anyio.Event()

    def begin(self, step: dict[str, Any]) -> None:
        self.heard = []
        self.answer = step.get("answer", YES)

    async def until(self, count: int) -> None:
        """Returns when so many events came, or at the deadline: what is missing then is the judge's affair."""
        with anyio.move_on_after(DEADLINE):
            while len(self.heard) < count:
                await self._came.wait()


async def ping(session: Any, step: dict[str, Any], ears: Ears) -> dict[str, Any]:
    return {"pong": plain(await session.ping())}


async def list_tools(session: Any, step: dict[str, Any], ears: Ears) -> dict[str, Any]:
    tools: list[Any] = []
    cursor = None
    for _ in range(PAGES):
        page = plain(await session.page(cursor))
        tools.extend(page["tools"])
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    return {"tools": tools}


async def call(session: Any, step: dict[str, Any], ears: Ears) -> dict[str, Any]:
    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        said = {"progress": progress, "total": total, "message": message}
        ears.hear(progress={name: value for name, value in said.items() if value is not None})

    result = await session.call(step["tool"], step["arguments"], progressed if step.get("progress") else None)
    await ears.until(step.get("awaits", 0))
    return {"result": plain(result)}


async def cancel(session: Any, step: dict[str, Any], ears: Ears) -> dict[str, Any]:
    """Calls, and leaves as soon as the server has said that it began."""
    saw: dict[str, Any] = {}

    async def calling(scope: anyio.CancelScope) -> None:
        with scope:
            saw["result"] = plain(await session.call(step["tool"], step["arguments"], None))

    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        group.start_soon(calling, scope)
        await ears.until(1)
        await session.leave(scope)
    return saw or {"left": True}


async def pair(session: Any, step: dict[str, Any], ears: Ears) -> dict[str, Any]:
    """Two calls at once; the first is answered second."""
    answered: list[list[Any]] = []

    async def one(tool: str) -> None:
        answered.append([tool, plain(await session.call(tool, {}, None))])

    async with anyio.create_task_group() as group:
        for tool in step["tools"]:
            group.start_soon(one, tool)
            # The first is to be on its way before the second is.
            await anyio.wait_all_tasks_blocked()
    return {"answered": answered}


async def listen(session: Any, step: dict[str, Any], ears: Ears) -> dict[str, Any]:
    events: list[str] = []
    async with session.listen() as subscription:
        async for event in subscription:
            events.append({"ToolsListChanged": "tools"}.get(type(event).__name__, type(event).__name__))
            if len(events) >= step["awaits"]:
                break
        return {"honored": plain(subscription.honored), "events": events}


async def task(session: Any, step: dict[str, Any], ears: Ears) -> dict[str, Any]:
    """Calls as a task of 2025-11-25, and follows it to its result."""
    statuses, result = await session.task(step["tool"], step["arguments"])
    return {"statuses": [status for at, status in enumerate(statuses) if [status] != statuses[at - 1 : at]], "result": plain(result)}


STEPS = {"ping": ping, "list": list_tools, "call": call, "cancel": cancel, "pair": pair, "listen": listen, "task": task}


def plain(value: Any) -> Any:
    """A value of the SDK's as JSON, by the names of the wire. What the caller could not read is not in it."""
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def thrown(error: BaseException) -> dict[str, Any]:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    said = getattr(error, "error", None)
    saw = {"class": type(error).__name__, "message": str(error), "code": getattr(said, "code", None), "data": getattr(said, "data", None)}
    return {"threw": {name: value for name, value in saw.items() if value is not None}}


async def play(connect: Any) -> None:
    """Plays the plan. `connect(server, ears)` is a context that gives a session: what it must have is seen above.

    `server` has the `era`, and `command`, or `url` and `bearer`.
    """
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    for session in plan["sessions"]:
        await play_session(connect, session)


async def play_session(connect: Any, plan: dict[str, Any]) -> None:
    ears = Ears()

    def tell(step: str, saw: dict[str, Any]) -> None:
        if ears.heard:
            saw = {**saw, "heard": ears.heard}
        print(json.dumps({"session": plan["name"], "era": plan["era"], "step": step, "saw": saw}), flush=True)

    opened = False
    try:
        async with connect(plan, ears) as session:
            tell("open", session.opened())
            opened = True
            for step in plan["steps"]:
                ears.begin(step)
                try:
                    with anyio.fail_after(DEADLINE * 2):
                        saw = await STEPS[step["do"]](session, step, ears)
                except Exception as error:
                    saw = thrown(error)
                tell(step["name"], saw)
            ears.begin({})
        tell("close", {"closed": True})
    except Exception as error:
        tell("close" if opened else "open", thrown(error))
