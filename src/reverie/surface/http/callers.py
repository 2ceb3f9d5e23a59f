"""Who counts as one caller, and how many connections each of them holds.

Owns the count; promises that an address of IPv6 counts with all that its host can take beside it, and that who has gone
is remembered no longer; never knows what is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

_OF_ONE_HOST = 64  # bits of an IPv6 address behind which a host gives itself as many as it likes


def caller_of(address: str) -> str:
    """Return what stands for whoever calls from an address: itself, or the network of one host in IPv6."""
    try:
        found = ip_address(address)
    except ValueError:  # no address, as of a socket in the file system
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return f"{IPv6Address(int(found) >> _OF_ONE_HOST << _OF_ONE_HOST)}/{_OF_ONE_HOST}"


def is_from_elsewhere(address: str) -> bool:
    """Tell whether an address is of another machine: the programs of this one, a proxy among them, share theirs."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return not found.is_loopback


class Callers:
    """How many connections each caller holds."""

    def __init__(self, counted: Callable[[str], bool] = is_from_elsewhere) -> None:
        """Begin with nobody; an address that is not `counted` holds none, whatever it has."""
        self._counted = counted
        self._held: Counter[str] = Counter()

    def enter(self, address: str) -> int:
        """Count a connection, and return how many its caller holds with it."""
        if not self._counted(address):
            return 0
        caller = caller_of(address)
        self._held[caller] += 1
        return self._held[caller]

    def leave(self, address: str) -> None:
        """Count a connection no longer that had entered."""
        if not self._counted(address):
            return
        caller = caller_of(address)
        self._held[caller] -= 1
        if self._held[caller] < 1:
            del self._held[caller]
