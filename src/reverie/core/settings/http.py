"""The settings of the HTTP server: how much a request may be, how long it may take, and how many there may be.

Owns the table `[http]`; promises that no workspace's own file can set any of it; never knows who asks.
"""

from __future__ import annotations

from dataclasses import dataclass

from reverie.core.settings.keys import key


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """The limits of `reverie serve`, for each request, each connection, each token and each address."""

    max_body_bytes: int = key(
        "Bytes of the largest body accepted.", default=2_000_000, within=(1_000, 100_000_000)
    )
    max_upload_bytes: int = key(
        "Bytes of the largest upload accepted.", default=4_000_000_000, within=(1_000, 10**12)
    )
    max_header_bytes: int = key(
        "Bytes of the longest headers accepted, with the address asked for.",
        default=32_768,
        within=(1_024, 1_000_000),
    )
    max_json_depth: int = key("How deep the JSON of a body may be.", default=32, within=(4, 100))
    header_seconds: float = key(
        "How long the headers of a request may take to arrive.", default=10.0, within=(0.1, 3_600)
    )
    body_seconds: float = key(
        "How long a body may take to arrive, and how long an upload may pause.",
        default=20.0,
        within=(0.1, 3_600),
    )
    upload_seconds: float = key(
        "How long an upload may take to arrive.", default=3_600.0, within=(0.1, 86_400)
    )
    answer_seconds: float = key(
        "How long an answer is waited for; what was begun goes on behind it.",
        default=900.0,
        within=(0, 86_400),
    )
    send_seconds: float = key(
        "How long a client may take none of an answer that is sent to it.",
        default=60.0,
        within=(0.1, 3_600),
    )
    max_connections: int = key(
        "Connections served at a time; on one more, each request is told to come again, and past twice as many none is"
        " opened.",
        default=256,
        within=(1, 100_000),
    )
    max_connections_per_address: int = key(
        "Connections of one address of another machine, of which the same holds; an IPv6 network of 64 bits is one"
        " address.",
        default=64,
        within=(1, 100_000),
    )
    max_sessions_per_token: int = key(
        "MCP sessions of one token that are open at a time.", default=100, within=(1, 10_000)
    )
    session_seconds: float = key(
        "How long an MCP session may rest before it is given up.", default=1_800.0, within=(0.1, 86_400)
    )
    requests_per_minute: int = key(
        "Requests of one token in a minute, a sixth of them at once; 0 is without end.",
        default=6_000,
        within=(0, 10_000_000),
    )
    refusals_per_minute: int = key(
        "Requests without a valid token from one address in a minute, a sixth of them at once, that are told so; 0 is"
        " without end.",
        default=60,
        within=(0, 10_000_000),
    )
