"""Whether each casino's slips are numbered without a gap, and printed as the acts say."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.held_awards import AwardKey, MadeAward
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof import acts
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.payments import state_before
from jackpot_service.usecases.print_slip import PRINTED_IN

# Numbers of acts are compared as texts: an act may say anything where a number is due.
_NOT_AS_SAID: Final = text(
    """
    WITH said AS (
        SELECT a.seq, ARRAY[a.after #>> '{round,casino_id}', a.after #>> '{slip,number}', a.after #>> '{slip,copy}',
                            a.after #>> '{round,jackpot_id}', a.after #>> '{round,round_key}',
                            a.after #>> '{awards,0,bet_id}', a.after #>> '{awards,0,tier}',
                            a.after #>> '{awards,0,correction}'] AS print
        FROM acts a
        JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = a.seq
        WHERE e.kind = 'slip_printed'
    ),
    kept AS (
        SELECT entry_seq AS seq, ARRAY[casino_id, number::text, copy::text, jackpot_id, round_key::text, bet_id, tier,
                                       correction::text] AS print
        FROM slip_prints
    )
    SELECT seq, kept.print, said.print
    FROM kept FULL JOIN said USING (seq)
    WHERE kept.print IS DISTINCT FROM said.print
    ORDER BY seq
    """
)

_NOT_IN_ORDER: Final = text(
    """
    SELECT casino_id, number, copy
    FROM (
        SELECT p.*,
               row_number() OVER (PARTITION BY casino_id, copy = 1 ORDER BY entry_seq) AS place,
               row_number() OVER (PARTITION BY casino_id, number ORDER BY entry_seq) AS print,
               count(*) OVER (PARTITION BY jackpot_id, round_key, bet_id, tier, correction) AS of_award,
               count(*) OVER (PARTITION BY casino_id, number) AS of_number
        FROM slip_prints p
    ) AS numbered
    WHERE copy = 1 AND number <> place OR copy <> print OR of_award <> of_number
    ORDER BY casino_id COLLATE "C", number, copy
    """
)


def check(session: Session) -> Found:
    """Each print is what an act says; numbers and copies count up from 1 in the order of acts, one number an award."""
    for seq, stored, stated in session.execute(_NOT_AS_SAID):
        yield Mismatch(Code.SLIP_SERIES, REFERENCE_BOOK, f"act {seq}", f"printed {stored}, its act says {stated}")
    for casino_id, number, copy in session.execute(_NOT_IN_ORDER):
        detail = "is out of order, or of another award, or a number or a copy before it is missing"
        yield Mismatch(Code.SLIP_SERIES, REFERENCE_BOOK, f"slip {casino_id} {number}, copy {copy}", detail)


def are_due(rows: Sequence[Row[Any]], made: Mapping[AwardKey, MadeAward], round_: RoundDocuments, of: Jackpot) -> Found:
    """Each act that printed a slip shows its award as it is, which was to be paid or was paid then."""
    for act in rows:
        [stated] = act.after["awards"]
        award = made[stated["bet_id"], stated["tier"], stated["correction"]]
        slip = act.after["slip"]
        yield from acts.says(act, held_awards.facts_of_slip(round_.round, award, **slip), of.jackpot_id)
        state = state_before(act.seq, award, round_)
        if state not in PRINTED_IN:
            detail = f"act {act.seq} printed a slip of bet {award.bet_id}, {award.tier}, while it was {state}"
            yield Mismatch(Code.SLIP_SERIES, of.jackpot_id, round_.place, detail)
