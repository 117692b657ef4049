# SPDX-License-Identifier: MIT
"""Random device graphs with the shapes of real ones."""

from __future__ import annotations

import html
from dataclasses import dataclass, field, fields
from typing import Any, Self

from torpor import _core
from torpor._checks import real, shown, whole
from torpor._core import ConfigError
from torpor.dpm.graph import DeviceGraph

__all__ = ["Generator"]

Pair = tuple[float, float]
"""One value for the way down, one for the way up."""

_LARGEST = 2**63 - 1


@dataclass(frozen=True, repr=False)
class Generator:
    """Draws device graphs: wide and shallow, a few hubs with most of the links, a heavy tail of durations.

    What no device tree tells (durations, who holds which lock) is a parameter. Each device draws from streams
    of its own, so more devices or another parameter leave all other draws as they are.

    Device 0 is the root, without callbacks. The first ``devices / (1 + class_ratio)`` are firmware devices,
    the others class devices: leaves below them, mostly without callbacks and always without links.

    Parameters
    ----------
    devices : int
        How many, 1..1000000.
    class_ratio : float
        Class devices for each firmware device, 0..1000.
    max_depth : int
        Of firmware devices, counted in parents; the root has 0.
    p_root : float
        A firmware device has the root as parent, else any earlier one.
    p_link : float
        A firmware device has suppliers, among the earlier ones.
    p_more_links : float
        It has one more supplier, again and again; 0..0.99.
    skew : float
        Suppliers are at ``floor(i * u**skew)``: larger makes fewer hubs; 0..100.
    p_no_callbacks, class_p_no_callbacks : float
        A firmware or a class device has no callbacks.
    p_late : float
        A firmware device with callbacks has them not only in suspend and resume, but also in the late, noirq
        and early phases.
    median_us : pair of float, microseconds
        Of suspend and resume callbacks, which are lognormal. All pairs are for the way down and the way up;
        one number stands for both.
    sigma : pair of float
        Standard deviation of the logarithm, 0..10.
    cap_us : float, microseconds
        Longest callback.
    late_median_us : float, microseconds
        Of the callbacks of the late, noirq and early phases.
    cpu_share : pair of float
        Part of a callback that is CPU work; the rest sleeps.
    fixed_share : float
        Part of the CPU work that takes the same time on every CPU.
    chunks : int
        Callbacks are that many times CPU work, then a sleep; 1..1000.
    locks : int
        How many shared locks there are.
    lock_share : pair of float
        Part of the callbacks that hold a shared lock from beginning to end.

    Raises
    ------
    ConfigError
        Naming the parameter, its value and the limit.

    Notes
    -----
    Shapes follow device trees and the sysfs trees of real kernels, where 2.5 to 3.2 devices take part in
    suspend for each device of the tree: a `class_ratio` of 2 to 4.

    Examples
    --------
    >>> Generator(devices=40, lock_share=0.5)
    Generator(devices=40, lock_share=(0.5, 0.5))
    >>> Generator(devices=40).draw(seed=1)
    <DeviceGraph of 40 devices (root, dev1, dev2, ...) and 40 links>
    >>> Generator(p_link=1.5)
    Traceback (most recent call last):
        ...
    torpor._core.ConfigError: p_link: 1.5 is out of range; it must be 0..1
    """

    devices: int = 350
    class_ratio: float = 0.0
    max_depth: int = 6
    p_root: float = 0.2
    p_link: float = 0.6
    p_more_links: float = 0.5
    skew: float = 2.0
    p_no_callbacks: float = 0.5
    class_p_no_callbacks: float = 0.9
    p_late: float = 0.25
    median_us: Pair | float = (60.0, 60.0)
    sigma: Pair | float = (2.0, 2.0)
    cap_us: float = 30000.0
    late_median_us: float = 20.0
    cpu_share: Pair | float = (0.4, 0.4)
    fixed_share: float = 0.0
    chunks: int = 2
    locks: int = 1
    lock_share: Pair | float = (0.0, 0.0)
    _core_generator: _core.DpmGenerator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for one in fields(self):
            if not one.init:
                continue
            value = getattr(self, one.name)
            if isinstance(one.default, tuple):
                value = _pair(one.name, value)
            elif isinstance(one.default, int):
                value = whole(one.name, value, 0, _LARGEST)
            else:
                value = real(one.name, value)
            object.__setattr__(self, one.name, value)
        object.__setattr__(self, "_core_generator", self._build())

    def _build(self) -> _core.DpmGenerator:
        return _core.DpmGenerator(**self._parameters())

    def _parameters(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self) if one.init}

    @classmethod
    def like_device_tree(cls, devices: int = 98, **others: Any) -> Self:
        """Return the parameters whose graphs have the shape of those that device trees give.

        Of the 1023 arm64 boards of a Debian kernel 6.12 (98 devices in the median) it has leaves, depth,
        widest level, most dependants of one device and number of links between their 10th and 90th
        percentiles. Real ones have about ten roots; these have one.

        Parameters
        ----------
        devices : int
            Number of devices.
        **others
            Parameters of the callbacks, as of `Generator`.

        Raises
        ------
        ConfigError
            As `Generator`.

        Examples
        --------
        >>> Generator.like_device_tree(40, sigma=1.3).skew
        6.0
        """
        return cls(devices=devices, **{"skew": 6.0, "p_root": 0.2, "max_depth": 3, **others})

    def draw(self, seed: int, replicate: int = 0) -> DeviceGraph:
        """Draw the graph that replicate `replicate` of a seed sees.

        Parameters
        ----------
        seed : int
            0..2^64-1.
        replicate : int
            Number of the replicate.

        Raises
        ------
        ConfigError
            Naming the parameter, its value and the limit.

        Examples
        --------
        >>> usual = Generator(devices=3)
        >>> usual.draw(seed=1) == usual.draw(seed=1), usual.draw(seed=1) == usual.draw(seed=1, replicate=1)
        (True, False)
        """
        seed = whole("seed", seed, 0, 2**64 - 1)
        return DeviceGraph.from_core(
            self._core_generator.draw(seed, whole("replicate", replicate, 0, 2**64 - 1))
        )

    def __repr__(self) -> str:
        shown_ones = (
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)
            if one.init and getattr(self, one.name) != one.default
        )
        return f"Generator({', '.join(shown_ones)})"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"

    def __getstate__(self) -> dict[str, object]:
        return self._parameters()

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_core_generator", self._build())


def _pair(name: str, value: object) -> Pair:
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise ConfigError(f"{name}={shown(value)} has {len(value)} numbers, limit: 2 (suspend, resume)")
        return real(f"{name}[0]", value[0]), real(f"{name}[1]", value[1])
    number = real(name, value)  # type: ignore[arg-type]
    return number, number
