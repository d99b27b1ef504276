"""
Rounds that lived long, in SQL: an index of their endings shows which of them were open at an instant.

Of a round that has ended the books keep no row that says when. To find whether it was open at an instant long ago, one
would read everything since. But rounds rarely live long: the endings of those that did are few, and their lives are
kept as ranges of time. `LONG_LIVED AND LIFE @> instant` finds those that hold an instant, however many there are.

Nothing is missed. Let a round's key lie before `first_key_at(instant - LONG)`, and its ending stand after the positions
at the instant. The key counts whole milliseconds, so what it says lies a millisecond or more before `instant - LONG`.
The positions hold all that was, or ever will be, booked before the instant, so the ending was booked at it or later.
Between the two lies more than LONG: the ending is LONG_LIVED, and its LIFE holds the instant, both ends being included.
Neither the clock by which the round was opened nor that by which it ended needs to be right for it.
"""

from datetime import timedelta
from typing import Final

from jackpot_service.domain.rounds import RANDOM_BITS

LONG: Final = timedelta(minutes=15)

ENDED: Final = "kind IN ('result', 'cancellation')"
"""WHERE this: the entries that end rounds, one each, whatever is corrected later."""

_OPENED_AT: Final = f"to_timestamp((round_key >> {RANDOM_BITS}) / 1000::double precision)"

# The kind comes first: of bets the index looks at nothing else. All of this is written into the index, so that it can
# be used by those only who ask in the very same words.
LONG_LIVED: Final = f"{ENDED} AND booked_at - {_OPENED_AT} > interval '{LONG // timedelta(minutes=1)} minutes'"
"""WHERE this: the entries that ended rounds more than LONG after these had been opened."""

# No range may end before it begins, as it would if one was to be made of a round that a clock which is ahead opened.
LIFE: Final = f"tstzrange(least({_OPENED_AT}, booked_at), booked_at, '[]')"
"""Of what is LONG_LIVED: the time from the round's opening up to its end."""
