"""A socket that listens, on IPv4 or IPv6, or one line that says why there is none."""

from __future__ import annotations

import ipaddress
import socket

from lf_sql.errors import LfSqlError


def listen(host: str, port: int, waiting: int, hint: str) -> socket.socket:
    """LfSqlError with that hint: no such host or address, or another has the port."""
    listener = None
    try:
        family, kind, proto, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, proto)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(waiting)
    except (OSError, UnicodeError) as error:  # the latter for a..b
        if listener is not None:
            listener.close()
        reason = error.strerror if isinstance(error, OSError) else "this is no name of a host"
        raise LfSqlError(f"cannot listen on {bracketed(host)}:{port}: {reason}", hint) from None
    return listener


def bracketed(host: str) -> str:
    """As it stands before a port."""
    return f"[{host}]" if ":" in host else host


def bare(host: str) -> str:
    """Without the brackets that an IPv6 address has before a port. ValueError: others."""
    inner = host.removeprefix("[").removesuffix("]")
    if "[" in inner or "]" in inner or host not in (inner, bracketed(inner)):
        raise ValueError(f"{host!r} is no host: brackets stand around an IPv6 address alone")
    return inner


def reached_at(host: str) -> str:
    """The host of an address that leads to who listens on `host`, as browsers write it."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bracketed(host)
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return bracketed(str(address))
