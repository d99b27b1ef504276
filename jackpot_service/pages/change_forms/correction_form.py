"""The form of a correction: the right cards of each hand of a settled round, and its count of bets."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.cards import RANKS, SUITS, Card
from jackpot_service.domain.outcomes import Hand, HandStatus, Result
from jackpot_service.domain.rounds import RoundState
from jackpot_service.pages.cards import ShownCard, shown_card
from jackpot_service.pages.change_forms import award_forms, round_parts, subjects
from jackpot_service.pages.change_forms.fields import Choice, Control, Field, Reading, Typed, read_fields
from jackpot_service.pages.change_forms.form import Asker, Candidate, ChangeForm, Sheet
from jackpot_service.pages.change_forms.subjects import UnknownSubject
from jackpot_service.pages.figures import moment
from jackpot_service.records.round_search import RoundFilters, latest_rounds
from jackpot_service.reports.rounds import RoundRecord
from jackpot_service.usecases.changes.round_correction import CorrectRound

HANDS: Final = "result/hands"
DEALER: Final = "result/dealer"

_STATUSES: Final[Mapping[HandStatus, str]] = {
    HandStatus.DEALT: "dealt: five cards",
    HandStatus.DEAD: "dead: a wrong number of cards",
    HandStatus.FORFEITED: "forfeited by its player",
}

DECK: Final[Sequence[Sequence[tuple[str, ShownCard]]]] = tuple(
    tuple((rank + suit, shown_card(Card(rank + suit))) for rank in reversed(RANKS)) for suit in SUITS
)
"""The deck as it is picked from: a row for each suit, the highest card first."""


def _settled(session: Session, asker: Asker) -> Sequence[Candidate]:
    filters = RoundFilters(state=RoundState.SETTLED)
    rows = latest_rounds(session, asker.principal, filters, limit=subjects.MOST_CANDIDATES, now=asker.at)
    return [
        Candidate(
            f"{row.table_id}, {moment(row.opened_at)}: round {row.round_id}",
            {"table": row.table_id, "round": row.round_id},
        )
        for row in rows
    ]


def _correction(session: Session, asker: Asker, subject: Mapping[str, str]) -> Sheet:
    record = subjects.round_of(session, asker, subject)
    verdict = round_parts.in_force(record)
    if verdict is None:
        message = "The round is not settled: there is no result to correct."
        raise UnknownSubject(message)
    live = sum(1 for booked in record.bets if not booked.is_void)
    fields = (
        *(field for hand in verdict.hands for field in _hand_fields(hand)),
        Field(
            name=DEALER,
            label="Dealer",
            section="Dealer",
            control=Control.CARDS,
            default=verdict.dealer,
            hint="They do not matter to the jackpot; no card is dealt twice.",
            is_required=False,
        ),
        Field(
            name="result/bet_count",
            label="Live bets of the round",
            section="Count",
            control=Control.WHOLE,
            default=(str(live),),
            hint=f"As the table counts them. The ledger has {live}.",
        ),
    )
    parts = {"record": record, "deck": DECK}
    subject_, payload = round_parts.subject_of(record), round_parts.payload_of(record)
    shown = CorrectRound(**payload, result=Result(live, verdict.hands, verdict.dealer))
    return Sheet(subject_, payload, fields, _facts(record), parts, _read, shown.version(session))


def _hand_fields(hand: Hand) -> tuple[Field, Field]:
    statuses = tuple(Choice(status, text) for status, text in _STATUSES.items())
    return (
        Field(
            name=f"{HANDS}/{hand.hand}/cards",
            label=f"Hand {hand.hand}",
            section=f"Hand {hand.hand}",
            control=Control.CARDS,
            default=hand.cards,
        ),
        Field(
            name=f"{HANDS}/{hand.hand}/status",
            label=f"Hand {hand.hand} was",
            section=f"Hand {hand.hand}",
            control=Control.CHOICE,
            choices=statuses,
            default=(hand.status.value,),
        ),
    )


def _facts(record: RoundRecord) -> tuple[tuple[str, str], ...]:
    corrected = len(record.corrections)
    verdict = "the settlement" if not corrected else f"correction {corrected}"
    state = record.view.round.state.value
    return (("State", state), ("Verdict in force", verdict))


def _read(fields: Sequence[Field], typed: Typed) -> Reading:
    """Read the hands, which have their fields by name, as a list."""
    reading = read_fields(fields, typed)
    result: dict[str, Any] = reading.payload.setdefault("result", {})
    hands: Mapping[str, dict[str, Any]] = result.pop("hands", {})
    result["hands"] = [{"hand": name, **members} for name, members in sorted(hands.items())]
    for place, name in enumerate(sorted(hands)):
        reading.places[f"/payload/{HANDS}/{place}"] = f"/payload/{HANDS}/{name}"
    return reading


FORMS: Final = (
    ChangeForm(
        kind=CorrectRound.name,
        group=award_forms.GROUP,
        title="Correct the result of a round",
        about="A settled round is judged anew by its right cards. What was paid stays paid, and the rest is booked.",
        subject=subjects.ROUND,
        subject_fields=subjects.round_fields,
        candidates=_settled,
        sheet=_correction,
    ),
)
