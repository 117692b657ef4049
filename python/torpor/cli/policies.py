"""``torpor policies``: what can be asked for."""

from __future__ import annotations

from torpor import dpm, freezer, idle
from torpor.cli.options import FormatOption, JsonOption, OutputOption
from torpor.cli.output import Format, emit
from torpor.report import Report


def policies(form: FormatOption = Format.TEXT, json: JsonOption = False, output: OutputOption = None) -> None:
    """List the policies of all families: versions, parameters, defaults, sources; and the freezer's sites."""
    catalogues = [family.policies.policy_catalogue() for family in (idle, freezer, dpm)]
    sites = freezer.sites()
    tables = [table for report in (*catalogues, sites) for table in report.tables]
    known = [policy for catalogue in catalogues for policy in catalogue.data["policies"]]
    emit(Report(tables, {"policies": known, **sites.data}), Format.JSON if json else form, output)
