"""What was held goes out or back to the last digit, however the awards are decided."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot_service.domain import posting_rules
from jackpot_service.domain.accounts import AWARDS_HELD, METER_HOUSE, METER_PLAYERS, PRIZE_FUND, Account
from jackpot_service.domain.held_awards import MadeAward, approval, origins, rejection
from jackpot_service.domain.journal import Movement, Postings
from jackpot_service.domain.money import ZERO, Rate, RateSheet
from tests.properties.profile import repeatable

SHEET = RateSheet(
    "EUR",
    1,
    {
        "EUR": Rate("EUR", Decimal(1), 2),
        "GBP": Rate("GBP", Decimal("1.17"), 2),
        "JPY": Rate("JPY", Decimal("0.0061"), 0),
    },
)


def award(bet_id: str, amount_minor: int, currency: str = "EUR", *, funded_by: str = "meter") -> MadeAward:
    cost = SHEET.base_value(amount_minor, currency)
    return MadeAward(
        bet_id, "royal_flush" if funded_by == "meter" else "flush", amount_minor, currency, cost, funded_by
    )


def held(awards: list[MadeAward], *, players: Decimal) -> Postings:
    """What a settlement books that holds all these awards, of the players' money so much."""
    fixed = sum((award.cost for award in awards if award.funded_by == "prize_fund"), ZERO)
    cost = sum((award.cost for award in awards if award.funded_by == "meter"), ZERO)
    prizes = posting_rules.for_awards({}, taken={PRIZE_FUND: fixed}, held=fixed, casino_id="c", sheet=SHEET)
    taken = {METER_PLAYERS: players, METER_HOUSE: cost - players}
    return prizes + posting_rules.for_awards({}, taken=taken, held=cost, casino_id="c", sheet=SHEET)


def moved(postings: Postings) -> dict[Account, Fraction]:
    sums: Counter[Account] = Counter()
    for line in postings.lines:
        sums[line.account] += Fraction(line.amount)  # type: ignore[assignment]
    return {account: Fraction(amount) for account, amount in sums.items() if amount}


def test_the_players_money_went_to_the_first_bets_and_the_houses_to_the_others() -> None:
    awards = [award("c", 300), award("a", 100), award("b", 200), award("a", 500, funded_by="prize_fund")]

    origin = origins(awards, held(awards, players=Decimal("2.50")))

    assert origin == {
        ("a", "flush", 0): {PRIZE_FUND: Decimal(5)},
        ("a", "royal_flush", 0): {METER_PLAYERS: Decimal(1)},
        ("b", "royal_flush", 0): {METER_PLAYERS: Decimal("1.50"), METER_HOUSE: Decimal("0.50")},
        ("c", "royal_flush", 0): {METER_HOUSE: Decimal(3)},
    }


def test_what_other_movements_took_from_the_meter_was_not_for_awards() -> None:
    awards = [award("a", 100)]
    booked = held(awards, players=Decimal(0)) + posting_rules.moved(
        Movement.OVERFLOW, METER_PLAYERS, METER_HOUSE, Decimal(7), "EUR"
    )

    assert origins(awards, booked) == {("a", "royal_flush", 0): {METER_HOUSE: Decimal(1)}}


def test_awards_in_several_currencies_are_released_at_exactly_what_was_held() -> None:
    postings = approval(
        [award("a", 100, "GBP"), award("b", 5, "JPY"), award("c", 3, "GBP")], casino_id="c1", sheet=SHEET
    )

    lines = [(line.account, line.currency, str(line.amount)) for line in postings.lines]
    assert lines == [
        ("awards:held", "EUR", "-1.2356"),
        ("casino:c1", "GBP", "1.03"),
        ("fx:GBP", "GBP", "-1.03"),
        ("casino:c1", "JPY", "5"),
        ("fx:JPY", "JPY", "-5"),
        ("fx:EUR", "EUR", "1.2356"),
    ]


awards_of_a_round = st.lists(
    st.builds(
        award,
        st.text("abcdef", min_size=1, max_size=3),
        st.integers(1, 10**9),
        st.sampled_from(sorted(SHEET.rates)),
        funded_by=st.sampled_from(["meter", "prize_fund"]),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda award: award.key,
)


@repeatable
@given(awards=awards_of_a_round, share=st.fractions(0, 1), choices=st.lists(st.booleans(), min_size=8, max_size=8))
def test_however_awards_are_decided_nothing_is_left_and_nothing_is_lost(
    awards: list[MadeAward], share: Fraction, choices: list[bool]
) -> None:
    meter = sum((award.cost for award in awards if award.funded_by == "meter"), ZERO)
    players = min(meter, Decimal(int(meter * 100 * share.numerator) // share.denominator).scaleb(-2))
    booked = held(awards, players=players)
    origin = origins(awards, booked)
    approved = [award for award, is_approved in zip(awards, choices, strict=False) if is_approved]
    rejected = [award for award in awards if award not in approved]

    out = approval(approved, casino_id="c", sheet=SHEET)
    back = moved(rejection(rejected, origin, base="EUR"))

    assert sum((amount for parts in origin.values() for amount in parts.values()), ZERO) == sum(
        (award.cost for award in awards), ZERO
    )
    assert Fraction(out.moved(AWARDS_HELD)) + back.get(AWARDS_HELD, Fraction(0)) == -Fraction(booked.moved(AWARDS_HELD))
    if len(rejected) == len(awards):
        taken = {account: -amount for account, amount in moved(booked).items() if account != AWARDS_HELD}
        assert {account: amount for account, amount in back.items() if account != AWARDS_HELD} == taken


@pytest.mark.parametrize("amount", ["3.00", "-72"])
def test_a_payment_of_either_sign_is_what_the_bank_and_the_casino_see_of_it(amount: str) -> None:
    postings = posting_rules.for_statement(Decimal(amount), casino_id="c1", currency="GBP")

    assert [(line.account, line.amount) for line in postings.lines] == [
        ("bank:GBP", -Decimal(amount)),
        ("casino:c1", Decimal(amount)),
    ]
