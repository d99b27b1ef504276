"""
The settings in force for a jackpot now: a round's terms are fixed from them at its opening.

Statements may be sent on a guess, together with the question whether it is right: if not, they write nothing. Between
statements that are sent together no answer can be looked at. So the question leaves its answer, `right` or `wrong`, in
a setting of the transaction (`jackpot.guess`), and each statement that writes looks there, once. A wrong guess is no
error, so the database logs none, and the commit that follows has nothing to commit (docs/decisions/hot-statements.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import NoRate
from jackpot_service.records.rounds import RoundName, name_columns

_READ = """
SELECT j.base, of_jackpot.stripes, of_jackpot.is_accepting, of_jackpot.limits_version,
       (SELECT c.rules_version FROM cycles c WHERE c.jackpot_id = %(jackpot_id)s ORDER BY c.cycle DESC LIMIT 1),
       ARRAY(SELECT (SELECT r.number FROM rate_sheets r WHERE r.base = j.base AND r.effective_at <= came.at
                     ORDER BY r.effective_at DESC, r.number DESC LIMIT 1)
             FROM unnest(string_to_array(%(came)s, ' ')::timestamptz[]) WITH ORDINALITY AS came (at, number)
             ORDER BY came.number),
       ARRAY(SELECT asked.number::int
             FROM unnest(string_to_array(%(table_ids)s, ' '), string_to_array(%(round_ids)s, ' '))
                  WITH ORDINALITY AS asked (table_id, round_id, number)
             WHERE (SELECT true
                    FROM rounds
                    WHERE jackpot_id = %(jackpot_id)s::text
                      AND by_index(table_id || ' ' || round_id) = asked.table_id || ' ' || asked.round_id
                    LIMIT 1))
FROM jackpots j
CROSS JOIN LATERAL (
    SELECT count(*), coalesce(bool_and(s.accepting), false), max(s.limits_version)
    FROM stripes s
    WHERE s.jackpot_id = %(jackpot_id)s
) AS of_jackpot (stripes, is_accepting, limits_version)
WHERE j.jackpot_id = %(jackpot_id)s
"""

# The same question, and whether its answer is the expected one.
_REQUIRE = """
SELECT set_config('jackpot.guess', CASE WHEN count(*) = 1 THEN 'right' ELSE 'wrong' END, true)
FROM (
    SELECT j.base, of_jackpot.stripes, of_jackpot.is_accepting, of_jackpot.limits_version,
           (SELECT c.rules_version FROM cycles c WHERE c.jackpot_id = %(jackpot_id)s ORDER BY c.cycle DESC LIMIT 1),
           ARRAY(SELECT (SELECT r.number FROM rate_sheets r WHERE r.base = j.base AND r.effective_at <= came.at
                         ORDER BY r.effective_at DESC, r.number DESC LIMIT 1)
                 FROM unnest(string_to_array(%(came)s, ' ')::timestamptz[]) WITH ORDINALITY AS came (at, number)
                 ORDER BY came.number),
           ARRAY(SELECT asked.number::int
                 FROM unnest(string_to_array(%(table_ids)s, ' '), string_to_array(%(round_ids)s, ' '))
                      WITH ORDINALITY AS asked (table_id, round_id, number)
                 WHERE (SELECT true
                        FROM rounds
                        WHERE jackpot_id = %(jackpot_id)s::text
                          AND by_index(table_id || ' ' || round_id) = asked.table_id || ' ' || asked.round_id
                        LIMIT 1))
    FROM jackpots j
    CROSS JOIN LATERAL (
        SELECT count(*), coalesce(bool_and(s.accepting), false), max(s.limits_version)
        FROM stripes s
        WHERE s.jackpot_id = %(jackpot_id)s
    ) AS of_jackpot (stripes, is_accepting, limits_version)
    WHERE j.jackpot_id = %(jackpot_id)s
) AS found (base, stripes, is_accepting, limits_version, rules_version, rate_sheets, rounds_seen)
WHERE base = %(base)s AND stripes = %(stripes)s AND is_accepting AND limits_version = %(limits_version)s
  AND rules_version = %(rules_version)s
  AND rate_sheets = string_to_array(%(rate_sheets)s, ' ')::int[] AND cardinality(rounds_seen) = 0
"""

RIGHT: Final = "right"
"""The answer to the question if the guess is right."""

LIKELY_AFTER: Final = 4
"""After so many readings in a row of rounds that were all new, the next are likely to be new too."""


class UnknownJackpot(NotFound, code="jackpot-unknown", title="Unknown jackpot"):
    """No jackpot of this id, or not for this caller."""


class NotAsExpected(Exception):
    """The expected settings are others, or not enough: nothing was written, and they have to be asked for."""


@dataclass(frozen=True, slots=True)
class InForce:
    """
    A jackpot's base currency, its number of stripes, and the versions of rules, table limits and rates in force.

    `is_accepting` is whether it took bets when it was asked for. It may be suspended before any are booked, and a table
    limited: the statement that books looks again. `rate_sheets` are those at each of the instants that were asked
    about, None where there was none. `rounds_seen` are those of the rounds asked about that were there a moment ago, by
    place from 1.
    """

    jackpot_id: str
    base: str
    stripes: int
    is_accepting: bool
    limits_version: int
    rules_version: int
    rate_sheets: list[int | None]
    rounds_seen: list[int]

    def require_sheet(self, place: int) -> int:
        """The sheet at one of the instants. Raises: NoRate if no sheet of the base currency was in force."""
        number = self.rate_sheets[place]
        if number is None:
            message = f"No rate sheet of {self.base} is in force."
            raise NoRate(message, currency=self.base)
        return number


class OptimisticSettings:
    """
    The settings that a process expects to be in force for its jackpots: with them, it need not ask before it writes.

    It expects that nothing has changed since it last asked, and that rounds are new where they were of late. Each guess
    is required of the books, in the transaction and before anything is written: `send_required` and `require_right`.
    """

    def __init__(self) -> None:
        self._likely: dict[str, tuple[InForce, int]] = {}

    def of(self, jackpot_id: str, batches: int) -> InForce | None:
        """Return the settings to expect for so many batches, each of a new round; None if it is better to ask."""
        in_force, times = self._likely.get(jackpot_id, (None, 0))
        if in_force is None or times < LIKELY_AFTER:
            return None
        if len(in_force.rate_sheets) == batches:
            return in_force
        return replace(in_force, rate_sheets=in_force.rate_sheets[:1] * batches)

    def note(self, in_force: InForce) -> None:
        """Take note of what was read."""
        is_likely = in_force.is_accepting and not in_force.rounds_seen
        if not is_likely or None in in_force.rate_sheets or len(set(in_force.rate_sheets)) != 1:
            self._likely.pop(in_force.jackpot_id, None)
        else:
            _, times = self._likely.get(in_force.jackpot_id, (None, 0))
            self._likely[in_force.jackpot_id] = (in_force, times + 1)

    def require_right(self, in_force: InForce, cursor: Cursor) -> None:
        """Read the answer to `send_required`. Raises: NotAsExpected, and from then on nothing is expected."""
        if cursor.fetchone() != (RIGHT,):
            self._likely.pop(in_force.jackpot_id, None)
            message = "What was expected to be in force is not."
            raise NotAsExpected(message)


def send_required(pipe: Pipeline, in_force: InForce, *, came: Sequence[datetime], names: Sequence[RoundName]) -> Cursor:
    """
    Require that this is in force for requests that came at some instants, and that their rounds are new.

    If it is not so, the statements of bets that follow in the transaction write nothing.
    """
    return pipe.send(
        _REQUIRE,
        {
            **_parameters(in_force.jackpot_id, came, names),
            "base": in_force.base,
            "stripes": in_force.stripes,
            "limits_version": in_force.limits_version,
            "rules_version": in_force.rules_version,
            "rate_sheets": " ".join(map(str, in_force.rate_sheets)),
        },
    )


def send_read(pipe: Pipeline, jackpot_id: str, *, came: Sequence[datetime], names: Sequence[RoundName] = ()) -> Cursor:
    """Send the question for requests that came at some instants, perhaps on behalf of rounds; see `in_force_of`."""
    return pipe.send(_READ, _parameters(jackpot_id, came, names))


def in_force_of(cursor: Cursor, jackpot_id: str) -> InForce:
    """Read the answer to `send_read`. Raises: UnknownJackpot."""
    row = cursor.fetchone()
    if row is None:
        message = f"There is no jackpot {jackpot_id}."
        raise UnknownJackpot(message, jackpot_id=jackpot_id)
    return InForce(jackpot_id, *row)


def _parameters(jackpot_id: str, came: Sequence[datetime], names: Sequence[RoundName]) -> dict[str, object]:
    return {"jackpot_id": jackpot_id, "came": " ".join([at.isoformat() for at in came]), **name_columns(names)}
