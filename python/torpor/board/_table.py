# SPDX-License-Identifier: MIT
"""What every table of a board file is made of."""

from typing import Annotated

import msgspec

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
# Any microsecond count whose nanoseconds still fit the engine's 64 bits; the engine has the tighter limit.
Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
# Times of a state are refused here when negative: the engine sees sums of them and could not name the entry.
Time = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table: unknown keys are errors, and an entry that the file leaves out stays out."""
