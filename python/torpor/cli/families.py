"""``torpor run`` and ``torpor validate``: one command for each family that can."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from torpor.cli import dpm, dpm_validate, freezer, idle
from torpor.cli.output import fail, guarded

__all__ = ["run", "validate"]


class FamilyGroup(TyperGroup):
    """A group whose commands are families: an unknown one is named beside the known ones."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the family's command."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            fail(f"unknown family '{args[0]}': known are {', '.join(self.commands)}")
        return super().resolve_command(ctx, args)


def _group(purpose: str) -> typer.Typer:
    app = typer.Typer(help=purpose, cls=FamilyGroup, no_args_is_help=True)
    # Keeps a group of one command a group.
    app.callback()(lambda: None)
    return app


run = _group("Run policies side by side on the same worlds and print what each does.")
run.command("idle")(guarded(idle.run))
run.command("freezer")(guarded(freezer.run))
run.command("dpm")(guarded(dpm.run))

validate = _group("Compare a model with a real kernel's captures; exit 1 if a limit is missed.")
validate.command("idle")(guarded(idle.validate))
validate.command("freezer")(guarded(freezer.validate))
validate.command("dpm")(guarded(dpm_validate.validate))
