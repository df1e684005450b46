"""The address at which one machine reaches another."""

import ipaddress
import socket

from tautochrone.base.errors import UsageError
from tautochrone.target.target import Target

_LOOPBACK = "127.0.0.1"
_ADVICE = "Name the address of the server's machine as the client reaches it: --server-address ADDRESS."


def address_between(client: Target, server: Target, given: str | None) -> str:
    """Where the client finds the server, as a number.

    Args:
        given: by a person, a number or a name; None: it is found out from how this machine reaches both.

    Raises:
        UsageError: it can't be known, or what is given is no address of a machine.
    """
    if given is not None:
        return numeric(given)
    if server is client:
        return _LOOPBACK
    found = _found(client, server)
    if found is None:
        raise UsageError(f"it can't be told at which address {client.name} reaches {server.name}", _ADVICE)
    return found


def _found(client: Target, server: Target) -> str | None:
    there = server.address_there()
    if there == _LOOPBACK and server.name == "local":
        return client.address_here()
    if there is None or not _is_only_here(there):
        return there
    # The loopback of this machine: right for one that is on it.
    way = client.address_there()
    return there if way is not None and _is_only_here(way) else None


def numeric(text: str) -> str:
    """An address as a number; names are looked up here.

    Raises:
        UsageError: nobody has this name, or a number that only holds together with a network interface.
    """
    host = text.strip().removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = _looked_up(host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_unspecified or (isinstance(address, ipaddress.IPv6Address) and address.is_link_local):
        raise UsageError(
            f"--server-address {text}: this address alone does not tell where the server is",
            "Give one that holds on every interface of the client's machine, such as 10.0.0.2 or fd00::2.",
        )
    return str(address)


def _looked_up(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"--server-address {host}: no machine of this name is known here", "Write a number: 10.0.0.2."
        ) from error
    return ipaddress.ip_address(str(found[0][4][0]).partition("%")[0])


def _is_only_here(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback
