# SPDX-License-Identifier: MIT
"""USB devices that are reset on resume: one lock per host controller, found from the topology."""

from __future__ import annotations

from dataclasses import dataclass

from torpor.dpm._capture_snapshot import Snapshot

__all__ = ["UsbReset", "usb_reset"]


@dataclass(frozen=True)
class UsbReset:
    """What a reset of a USB device on resume consists of.

    Only one device of a host controller may answer to address zero, so that resets below one controller,
    however deep and behind whatever hubs, come one after another.

    Attributes
    ----------
    controller : str
        Path of the host controller, which names the lock.
    hub_sleeps : int
        Sleeps of a hub after its own reset: one until its ports have power, and a second one if a device
        hangs below it; 0 for a device that is no hub.
    """

    controller: str
    hub_sleeps: int


def usb_reset(snapshot: Snapshot, position: int) -> UsbReset | None:
    """Return what is reset with a device: None for anything but a USB device that is no root hub."""
    if not _is_usb_device(snapshot, position):
        return None
    above = snapshot.parents[position]
    if above is None or snapshot.devices[above].subsystem != "usb":
        return None
    while above is not None and snapshot.devices[above].subsystem == "usb":
        above = snapshot.parents[above]
    if above is None:
        return None
    below = snapshot.children[position]
    is_hub = any(snapshot.devices[one].driver == "hub" for one in below)
    in_use = any(_is_usb_device(snapshot, one) for one in below)
    return UsbReset(snapshot.devices[above].path, (1 + in_use) if is_hub else 0)


def _is_usb_device(snapshot: Snapshot, position: int) -> bool:
    device = snapshot.devices[position]
    return (device.subsystem, device.driver) == ("usb", "usb")
