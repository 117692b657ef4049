"""``torpor policies``: what can be asked for."""

from __future__ import annotations

from torpor.cli.options import FormatOption, JsonOption, OutputOption
from torpor.cli.output import Format, emit
from torpor.idle.policies import policy_catalogue


def policies(form: FormatOption = Format.TEXT, json: JsonOption = False, output: OutputOption = None) -> None:
    """List the policies with their versions, parameters, defaults and sources."""
    emit(policy_catalogue(), Format.JSON if json else form, output)
