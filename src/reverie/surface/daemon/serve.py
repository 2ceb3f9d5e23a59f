"""The daemon: HTTP, MCP over HTTP and the schedule for every workspace beneath a root, in one process.

Owns the order of beginning and ending, the port, the signals and the lock of the root; promises that one daemon serves
a root, that what was acknowledged is on disk however it ends, and that on SIGTERM or SIGINT what was begun is finished
and answered before it leaves; never touches a memory itself.

Beginning: the lock, the port, the token, then schedule and requests. Ending: no new request, the answers that are being
given, the schedule with what it started, every open memory, the lock. A second signal ends it at once, as `kill -9`
would: nothing acknowledged is lost, and the next command finishes what was begun.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import msgspec

from reverie import layout
from reverie.core.settings.http import HttpSettings
from reverie.entrance import Opening
from reverie.errors import Busy, UsageError
from reverie.store.filesystem.disk import Disk
from reverie.store.filesystem.lock import Locks
from reverie.store.hosts.parcels import sweep
from reverie.surface.daemon.access import Access
from reverie.surface.daemon.logs import Log, listen
from reverie.surface.daemon.mcp import PATH, McpRoutes, lifespan_of
from reverie.surface.daemon.scheduler import Scheduler
from reverie.surface.exits import INTERRUPTED
from reverie.surface.http.app import app
from reverie.surface.http.callers import Callers
from reverie.surface.http.guard import LOOPBACK
from reverie.surface.http.hosted import Hosted
from reverie.surface.http.metrics import MISSING
from reverie.surface.http.patience import patient
from reverie.surface.http.tokens import Tokens

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

HOST, PORT = "127.0.0.1", 8737

_GRACE = 10  # seconds that answers being given have at the end


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """What a daemon serves and where; `token_file` holds the token of whoever started it."""

    root: str
    url: str
    mcp: str
    token_file: str
    pid: int


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a daemon: where it listens, its further names, whether it runs what is due.

    Port 0 is any free one.
    """

    root: Path
    host: str = HOST
    port: int = PORT
    names: tuple[str, ...] = ()
    schedule: bool = True


def serve(wish: Wish, opening: Opening, *, ready: Callable[[Served], None]) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is told once requests are taken.

    Raises Busy for a root or a port that is served already, UsageError where the extra is not installed or the address
    is none of this machine's.
    """
    root = Path(os.path.realpath(wish.root))
    Disk(root).make_folder("")
    stop = _Signals()
    limits = opening.settings_of_the_user().http
    with _alone(root, wish), _listening(wish) as port:
        sweep(root)  # what an earlier one had on its way
        log = Log()
        listen(log)
        address = _address(port)
        tokens = Tokens(opening.config(), root)
        served = Served(
            root=str(root),
            url=f"http://{address}",
            mcp=f"http://{address}{PATH}",
            token_file=str(tokens.first()),
            pid=os.getpid(),
        )
        hosted = Hosted(root, opening=opening)
        try:
            mcp = _mcp(hosted, limits)
            hosts = {*LOOPBACK, *wish.names, *([_bracketed(wish.host)] if _is_one(wish.host) else [])}
            inner = app(
                hosted, tokens, hosts=hosts, limits=limits, more=mcp.routes, lifespan=lifespan_of(mcp)
            )
            server = _server(Access(inner, log), limits)
            schedule = Scheduler(hosted, log) if wish.schedule else None
            _run(server, port, stop=stop, schedule=schedule, told=lambda: _tell(log, served, ready))
        finally:
            hosted.close()
            log("stopped", root=str(root))


@contextmanager
def _alone(root: Path, wish: Wish) -> Iterator[None]:
    """Hold the root's lock; raises Busy, which says who else serves it."""
    locks = Locks(root)
    with ExitStack() as held:
        try:
            held.enter_context(locks.serve(0, what=f"reverie serve at {wish.host}:{wish.port}"))
        except Busy as error:
            holder = locks.holder(layout.SERVE_LOCK) or "another daemon"
            raise Busy(f"{root} is served already, by {holder}: use that one, or stop it first") from error
        yield


def _run(
    server: uvicorn.Server,
    port: socket.socket,
    *,
    stop: _Signals,
    schedule: Scheduler | None,
    told: Callable[[], None],
) -> None:
    """Answer requests until a signal comes; `told` is called once the port takes them."""
    if stop.came:
        return
    began = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await began(sockets=sockets)
        if server.started:
            told()

    server.startup = startup  # type: ignore[method-assign]  # uvicorn has no other place to be told by
    if schedule is None:
        asyncio.run(server.serve(sockets=[port]))
        return
    with schedule:
        asyncio.run(server.serve(sockets=[port]))


def _tell(log: Log, served: Served, ready: Callable[[Served], None]) -> None:
    """Say where it serves."""
    log("serving", root=served.root, url=served.url, pid=str(served.pid))
    ready(served)


def _mcp(hosted: Hosted, limits: HttpSettings) -> McpRoutes:
    """Return the routes of MCP; what is missing is named by the extra that has all of it."""
    try:
        return McpRoutes(hosted, limits)
    except UsageError as error:
        raise UsageError(MISSING) from error


def _server(inner: ASGIApp, limits: HttpSettings, *, callers: Callers | None = None) -> uvicorn.Server:
    """Return the server of the application, which logs nothing by itself and believes no proxy."""
    try:
        import uvicorn
    except ImportError as error:
        raise UsageError(MISSING) from error
    return uvicorn.Server(
        uvicorn.Config(
            inner,
            http=patient(limits, callers or Callers()),
            h11_max_incomplete_event_size=limits.max_header_bytes,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
    )


class _Signals:
    """Takes SIGTERM and SIGINT from now on: one is remembered, the next ends the process at once.

    uvicorn takes them itself while it runs, and hands each on here when it has ended.
    """

    def __init__(self) -> None:
        self.came = 0
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, self._take)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        self.came += 1
        if self.came > 1:
            os._exit(INTERRUPTED)


def _listening(wish: Wish) -> socket.socket:
    """Return the open port; raises Busy when it is taken, UsageError when it cannot be opened."""
    family = socket.AF_INET6 if ":" in wish.host else socket.AF_INET
    try:
        return socket.create_server((wish.host.strip("[]"), wish.port), family=family, backlog=512)
    except OSError as error:
        where = f"{_bracketed(wish.host)}:{wish.port}"
        if error.errno == errno.EADDRINUSE:
            raise Busy(f"something listens at {where} already: choose another --port") from error
        raise UsageError(
            f"cannot listen at {where} ({error.strerror or error}): choose another --host"
        ) from error


def _address(port: socket.socket) -> str:
    """Return the address at which a program on this machine reaches an open port."""
    host, number = port.getsockname()[:2]
    local = {"0.0.0.0": HOST, "::": "[::1]"}  # noqa: S104 - it is what the user asked for, told in another way
    return f"{local.get(host, _bracketed(host))}:{number}"


def _is_one(host: str) -> bool:
    """Tell whether a host is one address, and not every one that this machine has."""
    return host not in {"0.0.0.0", "::", ""}  # noqa: S104 - as above


def _bracketed(host: str) -> str:
    """Return a host as it stands in an address."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
