"""An entry of the books is read to its last field, and what is not the entry that was asked for is an error."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from jackpot_client import BookEntry, EntryRound, Figure, JackpotClient, Posting, ProtocolError
from tests.support.scripted import ROUND, TABLE, Content, Reply, Scripted

pytestmark = pytest.mark.slow

FIGURE_JSON: Content = {
    "kind": "awards-paid",
    "currency": "EUR",
    "tier": "flush",
    "account": None,
    "detail": None,
    "made_on": "2026-01-02",
    "number": 1,
    "minor": 5000,
    "value": "50.000000000000000001",
}
ENTRY_JSON: Content = {
    "book": "live",
    "stripe": 3,
    "seq": 17,
    "kind": "result",
    "principal": "table server",
    "received_at": "2026-01-02T03:04:05.000000Z",
    "booked_at": "2026-01-02T03:04:05.678901Z",
    "round": {"table_id": TABLE, "round_id": ROUND, "step": 2},
    "casino_id": "riga",
    "table_id": TABLE,
    "rules_version": 1,
    "postings": [
        {"account": "pool:prize_fund", "currency": "EUR", "amount": "-50.000000000000000001", "movement": "award"}
    ],
    "figures": [FIGURE_JSON],
    "facts": {"bet_count": 1},
    "digest": "d" * 64,
    "head": "e" * 64,
    "head_before": "f" * 64,
}
OF_NO_ROUND: Content = {
    **dict.fromkeys(("round", "casino_id", "table_id", "rules_version", "principal", "facts")),
    "postings": [],
    "figures": [{**dict.fromkeys(FIGURE_JSON), "kind": "bets"}],
}


def test_an_entry_is_read_exactly(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, ENTRY_JSON)]

    entry = client.entry(book="live", stripe=3, seq=17)

    assert entry == BookEntry(
        book="live",
        stripe=3,
        seq=17,
        kind="result",
        principal="table server",
        received_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        booked_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        round=EntryRound(table_id=TABLE, round_id=ROUND, step=2),
        casino_id="riga",
        table_id=TABLE,
        rules_version=1,
        postings=(
            Posting(
                account="pool:prize_fund", currency="EUR", amount=Decimal("-50.000000000000000001"), movement="award"
            ),
        ),
        figures=(
            Figure(
                kind="awards-paid",
                currency="EUR",
                tier="flush",
                account=None,
                detail=None,
                made_on=date(2026, 1, 2),
                number=1,
                minor=5000,
                value=Decimal("50.000000000000000001"),
            ),
        ),
        facts={"bet_count": 1},
        digest="d" * 64,
        head="e" * 64,
        head_before="f" * 64,
    )
    assert [request.path for request in service.received] == ["/v1/entries/live/3/17"]


def test_an_entry_of_no_round_has_none_of_its_members(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {**ENTRY_JSON, **OF_NO_ROUND})]
    entry = client.entry(book="live", stripe=3, seq=17)
    assert (entry.round, entry.casino_id, entry.principal, entry.facts, entry.postings) == (None, None, None, None, ())
    assert (entry.figures[0].kind, entry.figures[0].value, entry.figures[0].made_on) == ("bets", None, None)


@pytest.mark.parametrize("name", sorted(ENTRY_JSON))
def test_a_missing_field_of_an_entry_is_an_error_even_if_it_may_be_null(
    client: JackpotClient, service: Scripted, name: str
) -> None:
    service.script = [Reply(200, {key: value for key, value in ENTRY_JSON.items() if key != name})]
    with pytest.raises(ProtocolError, match=f"lacks /{name}"):
        client.entry(book="live", stripe=3, seq=17)


@pytest.mark.parametrize(("name", "value"), [("book", "other"), ("stripe", 4), ("seq", 18)])
def test_an_answer_about_another_entry_is_an_error(
    client: JackpotClient, service: Scripted, name: str, value: object
) -> None:
    service.script = [Reply(200, {**ENTRY_JSON, name: value})]
    with pytest.raises(ProtocolError, match="not live/3/17"):
        client.entry(book="live", stripe=3, seq=17)


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ({"book": "a/b"}, "book"),
        ({"book": ".."}, "book"),
        ({"stripe": -1}, "stripe"),
        ({"seq": True}, "seq"),
        ({"seq": 1.0}, "seq"),
    ],
)
def test_a_place_that_could_not_be_is_not_asked_for(
    client: JackpotClient, service: Scripted, place: Content, named: str
) -> None:
    with pytest.raises(ValueError, match=f"{named} must be"):
        client.entry(**{"book": "live", "stripe": 3, "seq": 17, **place})
    assert service.received == []
