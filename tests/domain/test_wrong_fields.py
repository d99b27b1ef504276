"""Of bets with wrong fields, exactly that is found which is true whatever those fields would have said."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product
from typing import Any, Final, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain import batches
from jackpot_service.domain.batches import BatchTerms
from jackpot_service.domain.bets import Bet, Bets, BookedBet
from jackpot_service.domain.money import Rate, RateSheet
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.table_limits import SetLimits, TableLimits

NOW: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)
AHEAD: Final = datetime(2126, 1, 1, tzinfo=UTC)
SHEET: Final = RateSheet("EUR", 1, {"EUR": Rate("EUR", Decimal(1), 2), "GBP": Rate("GBP", Decimal("1.2"), 2)})
LIVE: Final = published_rules("live-caribbean-stud", base="EUR", settings={})

VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "bet_id": ("a", "b", "booked", "void"),
    "player_id": ("p", "q"),
    "hand": ("1", "2"),
    "currency": ("EUR", "GBP", "CHF"),
    "stake_minor": (1, 100, 9_001, 10_001),
    "occurred_at": (None, AHEAD),
}
OTHERS: Final[dict[str, tuple[Any, ...]]] = {"player_id": ("another",), "hand": ("8", "9")}
"""What a wrong field may have said as well. It did not say the id of another bet of the batch."""

EMPTY: Final = Bet(bet_id="", player_id="", hand="", currency="", stake_minor=0)

Named = set[tuple[str, str]]


class Case(NamedTuple):
    """Bets, the names of the wrong fields of each, and what they meet; `booked` is None for a round that is new."""

    bets: Sequence[Bet]
    wrong: Sequence[frozenset[str]]
    terms: BatchTerms
    booked: BookedBet | None

    def named_of(self, bets: Bets) -> Named:
        """The places and codes of all that is found in bets."""
        refusals = batches.refusals(
            bets,
            () if self.booked is None else (self.booked,),
            () if self.booked is None else ("void",),
            self.terms,
            opens_round=self.booked is None,
            suspension=None,
        )
        return {(error.pointer, error.code) for error in batches.field_errors_of(refusals)}

    def read(self) -> Bets:
        """The bets as they are read, without their wrong fields."""
        bets = [
            bet._replace(**{name: getattr(EMPTY, name) for name in names})
            for bet, names in zip(self.bets, self.wrong, strict=True)
        ]
        return replace(Bets.of(bets), wrong=dict(enumerate(self.wrong)))

    def meant(self) -> Iterator[Bets]:
        """The bets with everything that their wrong fields may have said."""
        places = [(place, name) for place, names in enumerate(self.wrong) for name in sorted(names)]
        for meanings in product(*(self.values_of(place, name) for place, name in places)):
            bets = list(self.bets)
            for (place, name), value in zip(places, meanings, strict=True):
                bets[place] = bets[place]._replace(**{name: value})
            yield Bets.of(bets)

    def values_of(self, place: int, name: str) -> Sequence[Any]:
        """What a wrong field may have said."""
        if name == "bet_id":
            return [f"id of {place}", *([] if self.booked is None else ["booked", "void"])]
        return [*VALUES[name], *OTHERS.get(name, ())]


@st.composite
def terms(draw: st.DrawFn) -> BatchTerms:
    """Rules by a token or by bounds, for one or two hands, perhaps with limits of the table."""
    hands = draw(st.integers(1, 2))
    if draw(st.booleans()):
        rules = replace(LIVE, hands_per_player=hands, token=Decimal(1), largest_stake=None)
    else:
        rules = replace(LIVE, hands_per_player=hands, least_stake=Decimal("0.5"))
    limits = draw(st.sampled_from([None, SetLimits(1, TableLimits(largest_stake=Decimal(90)))]))
    return BatchTerms(rules, SHEET, limits, NOW)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to four bets with up to three wrong fields."""
    bets = draw(
        st.lists(st.builds(Bet, *(st.sampled_from(values) for values in VALUES.values())), min_size=1, max_size=4)
    )
    fields = [(place, name) for place in range(len(bets)) for name in VALUES]
    wrong = draw(st.sets(st.sampled_from(fields), min_size=1, max_size=3))
    by_place = [frozenset(name for other, name in wrong if other == place) for place in range(len(bets))]
    known = Bet("booked", "p", "1", "EUR", 100)
    booked = draw(st.sampled_from([None, BookedBet(known, 1, None), BookedBet(known, 1, 2)]))
    return Case(bets, by_place, draw(terms()), booked)


@given(cases())
def test_what_is_found_is_true_whatever_the_wrong_fields_would_have_said(case: Case) -> None:
    named = case.named_of(case.read())

    certain = set.intersection(*map(case.named_of, case.meant()))

    assert named <= certain
    if not any("bet_id" in names for names in case.wrong):
        assert named == certain
