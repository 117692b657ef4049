# SPDX-License-Identifier: MIT
"""Listing of the policies of one family."""

from __future__ import annotations

from collections.abc import Sequence

from torpor._core import PolicyInfo
from torpor.report import Report
from torpor.tables import Column, Table

__all__ = ["policy_table"]


def policy_table(family: str, known: Sequence[PolicyInfo]) -> Report:
    """Table of policies with their versions, parameters, defaults and sources.

    Parameters
    ----------
    family : str
        Name of the family.
    known : sequence of PolicyInfo
        Its policies.

    Examples
    --------
    >>> from torpor.idle import known_policies
    >>> policy_table("idle", known_policies()).to_json()["policies"][0]["family"]
    'idle'
    """
    rows = [
        [
            info.name,
            "bound" if info.bound else "policy",
            ", ".join(info.versions),
            ", ".join(
                p.name if not p.default_value else f"{p.name}={p.default_value}" for p in info.parameters
            ),
            info.description,
            info.source,
        ]
        for info in known
    ]
    columns = [
        Column("name", align="left"),
        Column("kind", align="left"),
        Column("versions", align="left", wrap=26),
        Column("parameters", align="left", wrap=26),
        Column("what it does", align="left", wrap=34),
        Column("source", align="left", wrap=30),
    ]
    data = {
        "policies": [
            {
                "family": family,
                "name": info.name,
                "bound": info.bound,
                "versions": list(info.versions),
                "parameters": [
                    {"name": p.name, "default": p.default_value or None, "description": p.description}
                    for p in info.parameters
                ],
                "description": info.description,
                "source": info.source,
            }
            for info in known
        ]
    }
    return Report([Table(f"Policies of the {family} family", columns, rows)], data)
