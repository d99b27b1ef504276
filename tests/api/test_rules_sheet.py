"""The rules sheet: what players and inspectors read of a jackpot, as data, in sentences and as a page to print."""

import hashlib
import json
from collections import Counter
from datetime import timedelta
from html import unescape
from html.parser import HTMLParser
from typing import Any, ClassVar, Final

import pytest

from jackpot_service.domain.languages import Language
from jackpot_service.domain.principals import READERS, Role
from tests.support.answers import Answer, Body
from tests.support.asking import rows
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import CYBER, LIVE, SENECA, World

SOURCE: Final = {"name": "ecb", "date": "2026-11-19", "sha256": "5" * 64}
FROM_ECB: Final = f"Source of the rate, which came with sheet 2: ecb, 2026-11-19, SHA-256 {'5' * 64}."
ODDS: Final = {
    "royal_flush": "1 in 649,740",
    "straight_flush": "1 in 72,193.33",
    "four_of_a_kind": "1 in 4,165",
    "full_house": "1 in 694.17",
    "flush": "1 in 508.80",
    "straight": "1 in 254.80",
    "three_of_a_kind": "1 in 47.33",
}


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def ask(world: World, query: str = "", *, page: bool = False, jackpot_id: str = "j1") -> Answer:
    return world.get(f"/v1/jackpots/{jackpot_id}/rules{'.html' if page else ''}?{query}")


def prizes(sheet: Body, figure: str) -> dict[str, Any]:
    return {prize["tier"]: prize[figure] for prize in sheet["prizes"]}


def publish_with_source(world: World, name: str = SOURCE["name"]) -> None:
    payload = {"base": "EUR", "rates": {"GBP": "1.18"}, "source": {**SOURCE, "name": name}}
    world.change("rate-sheet", payload, request_id="from-a-document", role=Role.RATES)


def test_live_has_the_odds_and_the_return_of_its_rulebook(opened: World) -> None:
    sheet = ask(opened).ok()

    assert prizes(sheet, "odds") == ODDS
    assert prizes(sheet, "hands_per_win")["royal_flush"] == "649740"
    assert sheet["theoretical_return"] == {
        "meter_percent": "50",
        "prize_fund_percent": "31.8448918029",
        "percent": "81.8448918029",
        "text": "81.84 %",
    }
    assert sheet["split"] == {"meter": "0.45", "reserve": "0.05", "prize_fund": "0.3184", "house": "0.1816"}
    assert "Royal flush: 1 in 649,740 for one hand of five cards." in sheet["text"]
    assert any(line.startswith("In theory a bet returns 81.84 %") for line in sheet["text"])


PROCEDURES: Final = (
    "The order in which hands and bets are listed changes no amount.",
    "Two rounds never share a win: the round whose result the ledger books first takes the meter.",
    "A round keeps the rate sheet that was in force when it was opened, whatever is published later.",
    "Amounts are rounded once, down to a payable unit; what is left stays in the jackpot.",
    "For the period in which a prize may be claimed, the casino's own rules hold.",
    "A refund gives back the stake and takes back its parts, at the split and the rate of the bet.",
    "Bets on a dead hand are refunded.",
    "All bets of a cancelled round are refunded, and it pays no prize.",
    "A settled round that was found wrong is corrected by two people: one requests, another approves.",
    "A new version of the rules takes two people and waits until the jackpot is won.",
)


@pytest.mark.parametrize("rulebook", [LIVE, CYBER, SENECA])
def test_every_procedure_that_players_and_inspectors_ask_about_is_on_the_sheet(world: World, rulebook: str) -> None:
    """Demand 8: several winners, two rounds, rounding, refunds, dead hands, cancellation, malfunction, claims."""
    world.open(rulebook)

    assert set(PROCEDURES) - set(ask(world).ok()["text"]) == set()


def test_the_return_is_that_of_the_report(opened: World) -> None:
    opened.bet(bet(stake_minor=100))
    opened.settle(hand("1"))

    (both,) = (row for row in rows(opened, "rtp") if row["paid_from"] == "both")

    assert both["theoretical_percent"] == ask(opened).ok()["theoretical_return"]["percent"]


@pytest.mark.parametrize("rulebook", [CYBER, SENECA])
def test_where_a_hand_owns_its_prize_the_meter_returns_all(world: World, rulebook: str) -> None:
    world.open(rulebook, base_amount="12345.67")

    sheet = ask(world).ok()

    assert prizes(sheet, "odds") == {tier: ODDS[tier] for tier in list(ODDS)[:5]}
    assert sheet["theoretical_return"]["text"] == "70 %"
    assert prizes(sheet, "amount_minor") == {
        "royal_flush": 1_234_567,
        "straight_flush": 123_456,
        "four_of_a_kind": 50_000,
        "full_house": 10_000,
        "flush": 5_000,
    }
    assert not any(prizes(sheet, "is_shared").values())
    assert "Four of a kind: 500 EUR, from the jackpot." in sheet["text"]
    assert "Once won, the jackpot starts again with its reserve, at least 10,000 EUR." in sheet["text"]


def test_amounts_are_for_one_unit_and_for_a_stake_in_a_currency_without_decimals(opened: World) -> None:
    sheet = ask(opened, "currency=JPY&stake_minor=300").ok()

    assert (sheet["currency"], sheet["stake_minor"]) == ("JPY", 300)
    assert prizes(sheet, "amount_minor")["straight"] == 10
    assert prizes(sheet, "stake_amount_minor")["straight"] == 3_000
    assert prizes(sheet, "stake_amount_minor")["royal_flush"] == 163_934
    assert prizes(sheet, "is_shared") == {tier: tier == "royal_flush" for tier in ODDS}
    assert sheet["amounts"] == {
        "unit": 1,
        "token": None,
        "least_stake": None,
        "largest_stake": 16_393,
        "reset_amount": 0,
        "limit": None,
    }
    assert (sheet["meter"]["amount"], sheet["meter"]["rate"], sheet["meter"]["rate_sheet"]) == ("163934", "0.0061", 1)
    assert sheet["conversion"]["exponent"] == 0


def test_the_amounts_of_the_rules_are_converted_too(world: World) -> None:
    world.open(settings={"limit": "20000", "reset_amount": "5000", "largest_stake.GBP": "20.50"})

    sheet = ask(world, "currency=GBP").ok()

    assert sheet["amounts"] == {
        "unit": 100,
        "token": None,
        "least_stake": None,
        "largest_stake": 2_050,
        "reset_amount": 427_350,
        "limit": 1_709_401,
    }
    assert "A bet in GBP may be at most 20.5, whatever that is worth." in sheet["text"]
    assert "At most 20,000 EUR is on offer; what comes beyond starts the next jackpot." in sheet["text"]


def test_a_token_is_the_unit_of_printed_prizes(world: World) -> None:
    world.open(CYBER, settings={"token": "2.50"})

    sheet = ask(world, "stake_minor=250").ok()

    assert (sheet["amounts"]["unit"], sheet["amounts"]["token"]) == (250, 250)
    assert prizes(sheet, "stake_amount_minor") == prizes(sheet, "amount_minor")
    assert "A bet is one token of 2.5 EUR." in sheet["text"]


def test_a_converted_figure_has_its_rate_sheet_source_and_time(opened: World) -> None:
    publish_with_source(opened)
    effective_at = opened.get("/v1/rates?base=EUR").ok()["effective_at"]

    sheet = ask(opened, "currency=GBP").ok()

    assert sheet["conversion"] == {
        "rate": "1.18",
        "exponent": 2,
        "rate_sheet": 2,
        "effective_at": effective_at,
        "source": SOURCE,
        "source_sheet": 2,
    }
    (sentence,) = (line for line in sheet["text"] if line.startswith("Amounts are shown"))
    assert sentence.startswith("Amounts are shown at 1.18 EUR for 1 GBP, by rate sheet 2, in force since 20")
    assert FROM_ECB in sheet["text"]


def test_the_source_is_that_of_the_sheet_with_which_the_currencys_rate_last_changed(opened: World) -> None:
    publish_with_source(opened)
    by_hand = {"base": "EUR", "rates": {"JPY": "0.0062"}}
    opened.change("rate-sheet", by_hand, request_id="by-hand", role=Role.RATES)

    pound, yen, euro = (ask(opened, f"currency={currency}").ok()["conversion"] for currency in ("GBP", "JPY", "EUR"))
    krona = ask(opened, "currency=SEK").ok()["conversion"]

    assert {rate["rate_sheet"] for rate in (pound, yen, euro, krona)} == {3}
    assert (pound["source"], pound["source_sheet"]) == (SOURCE, 2)
    assert [(rate["source"], rate["source_sheet"]) for rate in (yen, krona)] == [(None, 3), (None, 1)]
    assert FROM_ECB in ask(opened, "currency=GBP").ok()["text"]
    assert "ecb, 2026-11-19" in ask(opened, "currency=GBP", page=True).text


def test_a_rate_that_was_removed_and_came_back_has_the_source_of_its_return(opened: World) -> None:
    publish_with_source(opened)
    removal = {"base": "EUR", "removed_currencies": ["GBP"]}
    opened.change("rate-sheet", removal, request_id="removal", role=Role.RATES)
    by_hand = {"base": "EUR", "rates": {"GBP": "1.18"}}
    opened.ask("rate-sheet", by_hand, request_id="return", role=Role.RATES).ok(201)
    opened.approve("return", role=Role.RATES, confirm={"GBP": "1.18"}).ok()

    conversion = ask(opened, "currency=GBP").ok()["conversion"]

    assert (conversion["source"], conversion["source_sheet"]) == (None, 4)


def test_the_base_currency_has_the_rate_one(opened: World) -> None:
    sheet = ask(opened).ok()

    assert (sheet["currency"], sheet["conversion"]["rate"], sheet["conversion"]["rate_sheet"]) == ("EUR", "1", 1)
    assert sheet["conversion"]["source"] is None
    assert ask(opened, "currency=EUR&lang=en").ok() == sheet


def test_without_a_sheet_in_force_amounts_are_in_the_base_currency(world: World) -> None:
    world.open(base="USD", tables=())

    sheet, page = ask(world).ok(), ask(world, page=True)

    assert sheet["conversion"] == {
        "rate": "1",
        "exponent": 2,
        "rate_sheet": None,
        "effective_at": None,
        "source": None,
        "source_sheet": None,
    }
    assert "No rate sheet of USD is in force; amounts are shown in USD." in sheet["text"]
    assert "no rate sheet in force" in page.text
    ask(world, "currency=GBP").problem(422, "no-rate")


OWN_RULES: Final = "For the period in which a prize may be claimed, the casino's own rules hold."
ELSEWHERE: Final = "At other casinos, the casino's own rules hold for that period."
GERMAN_PERIOD: Final = "Frist, in der ein Gewinn im Casino c1 beansprucht werden kann, in Tagen zu 24 Stunden: 30."


def period(casino_id: str, days: int) -> str:
    return f"Period in which a prize may be claimed at casino {casino_id}, in days of 24 hours: {days}."


def claims(world: World, casino_id: str, claim_days: int | None) -> None:
    payload = {"casino_id": casino_id, "claim_days": claim_days}
    world.change("casino-claims", payload, request_id=f"claims-{casino_id}-{claim_days}")


def test_the_claim_period_of_each_casino_of_the_jackpots_tables_is_printed(opened: World) -> None:
    assert OWN_RULES in ask(opened).ok()["text"]
    for casino_id in ("c2", "c3"):
        opened.add_casino(casino_id)
    opened.add_table("T2", jackpot_id="j1", casino_id="c2")
    claims(opened, "c1", 30)
    claims(opened, "c3", 7)

    sheet = ask(opened).ok()
    assert sheet["claims"] == [{"casino_id": "c1", "claim_days": 30}, {"casino_id": "c2", "claim_days": None}]
    assert {period("c1", 30), ELSEWHERE} <= set(sheet["text"])
    assert OWN_RULES not in sheet["text"]
    assert period("c3", 7) not in sheet["text"]
    page = unescape(ask(opened, page=True).text)
    assert period("c1", 30) in page
    assert OWN_RULES not in page
    assert GERMAN_PERIOD in unescape(ask(opened, "lang=de", page=True).text)

    claims(opened, "c2", 180)
    text = ask(opened).ok()["text"]
    assert {period("c1", 30), period("c2", 180)} <= set(text)
    assert ELSEWHERE not in text


def test_a_key_of_a_casino_reads_the_claim_period_of_its_own(opened: World) -> None:
    opened.add_casino("c2")
    opened.add_table("T2", jackpot_id="j1", casino_id="c2")
    claims(opened, "c1", 30)

    for role in (Role.TABLE, Role.FINANCE):
        own, other = (
            opened.get("/v1/jackpots/j1/rules", key=opened.key(role, casino_id=casino_id)).ok()
            for casino_id in ("c1", "c2")
        )
        assert own["claims"] == [{"casino_id": "c1", "claim_days": 30}]
        assert other["claims"] == [{"casino_id": "c2", "claim_days": None}]
        assert period("c1", 30) in own["text"]
        assert OWN_RULES in other["text"]
        assert period("c1", 30) not in other["text"]


def test_the_sheet_says_what_becomes_of_the_bet_of_a_disconnected_player(opened: World) -> None:
    english, german = (ask(opened, f"lang={lang}", page=True).text for lang in Language)

    assert "A disconnected player&#39;s bet is void before betting is closed; after that it stands." in english
    assert "Bricht die Verbindung vor dem Ende der Einsätze ab, ist der Einsatz nichtig; danach gilt er." in german


def test_a_pending_version_says_the_claim_period_too(opened: World) -> None:
    claims(opened, "c1", 30)
    opened.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}})

    assert period("c1", 30) in ask(opened).ok()["pending"]["text"]


def test_an_inspector_can_repeat_the_sha256(opened: World) -> None:
    sheet = ask(opened).ok()

    canonical = json.dumps(sheet["rules"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert sheet["sha256"] == hashlib.sha256(canonical.encode()).hexdigest()
    assert {ask(opened, query).ok()["sha256"] for query in ("lang=de", "currency=JPY", "lang=de&currency=GBP")} == {
        sheet["sha256"]
    }


def test_a_pending_version_has_its_date_and_its_own_sha256(opened: World) -> None:
    before = ask(opened).ok()
    opened.clock.advance(timedelta(days=3))
    opened.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}})
    decided_at = opened.get("/v1/change-requests/q1", role=Role.AUDITOR).ok()["decision"]["decided_at"]

    sheet = ask(opened).ok()
    page = ask(opened, "lang=de", page=True).text
    opened.bet(bet())
    opened.settle(hand("1", ROYAL_FLUSH))
    after = ask(opened).ok()

    pending = sheet["pending"]
    assert before["pending"] is None
    assert (sheet["version"], pending["version"]) == (1, 2)
    assert sheet["sha256"] == before["sha256"] != pending["sha256"]
    assert pending["approved_at"] == decided_at
    assert pending["split"]["meter"] == "0.4"
    assert pending["theoretical_return"]["text"] == "76.84 %"
    assert any("40 % goes to the current prize" in line for line in pending["text"])
    assert "Künftige Fassung 2" in page
    assert pending["sha256"] in page
    assert f"Sie wurde am {decided_at[:10]} {decided_at[11:19]} UTC genehmigt" in page
    assert (after["version"], after["pending"]) == (2, None)
    assert (after["sha256"], after["approved_at"]) == (pending["sha256"], decided_at)


@pytest.mark.parametrize(
    ("query", "code", "pointer"),
    [
        ("currency=CHF", "no-rate", None),
        ("currency=XXX", "no-rate", None),
        ("currency=eur", "validation", "?currency"),
        ("lang=xx", "validation", "?lang"),
        ("lang=", "validation", "?lang"),
        ("lang=en&lang=de", "validation", "?lang"),
        ("stake_minor=0", "validation", "?stake_minor"),
        ("stake_minor=-1", "validation", "?stake_minor"),
        ("stake_minor=1.5", "validation", "?stake_minor"),
        ("stake_minor=10001", "stake-out-of-range", "?stake_minor"),
        ("stake_minor=1000000000000000", "stake-out-of-range", "?stake_minor"),
        ("stake_minor=1000000000000001", "validation", "?stake_minor"),
        ("currency=JPY&stake_minor=16394", "stake-out-of-range", "?stake_minor"),
        ("zzz=1", "validation", "?zzz"),
    ],
)
def test_what_does_not_fit_is_a_problem_of_the_sheet_and_of_its_page(
    opened: World, query: str, code: str, pointer: str | None
) -> None:
    for page in (False, True):
        ask(opened, query, page=page).problem(422, code, *([pointer] if pointer else []))


def test_a_stake_that_is_no_token_does_not_fit(world: World) -> None:
    world.open(CYBER)

    ask(world, "stake_minor=99").problem(422, "stake-out-of-range", "?stake_minor")
    ask(world, "stake_minor=100&currency=GBP").problem(422, "currency-not-accepted", "?currency")
    assert prizes(ask(world, "currency=GBP").ok(), "amount_minor")["four_of_a_kind"] == 42_735


def test_everybody_with_a_key_may_ask_and_nobody_else(opened: World) -> None:
    for path in ("rules", "rules.html"):
        assert {opened.get(f"/v1/jackpots/j1/{path}", role=role).status for role in READERS} == {200}
        opened.call("GET", f"/v1/jackpots/j1/{path}", key=None).problem(401, "unauthenticated")
        opened.get(f"/v1/jackpots/j9/{path}").problem(404, "jackpot-unknown")


@pytest.mark.parametrize("rulebook", [LIVE, CYBER, SENECA])
@pytest.mark.parametrize("lang", Language)
def test_the_page_says_what_the_sheet_says(world: World, rulebook: str, lang: Language) -> None:
    world.open(rulebook, base_amount="12345.67")
    query = f"lang={lang}&stake_minor=100"

    sheet, answer = ask(world, query).ok(), ask(world, query, page=True)

    text = unescape(answer.text)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert f'<html lang="{lang}">' in text
    assert [line for line in sheet["text"] if line not in text] == []
    assert [odds for odds in prizes(sheet, "odds").values() if odds not in text] == []
    assert sheet["sha256"] in text
    assert ("12,345.67 EUR" if lang is Language.ENGLISH else "12.345,67 EUR") in text


class Outline(HTMLParser):
    """Closes what is opened, and counts the elements of a page."""

    EMPTY: ClassVar = {"meta"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.unscoped: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "th" and "scope" not in dict(attrs):
            self.unscoped.append(str(self.getpos()))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()


def test_the_page_is_whole_and_its_tables_can_be_read_aloud(opened: World) -> None:
    opened.change("rules", {"jackpot_id": "j1", "settings": {"split.meter": "0.40"}})

    outline = Outline(ask(opened, "currency=GBP&stake_minor=100", page=True).text)

    assert outline.open == []
    assert outline.unscoped == []
    assert outline.tags["caption"] == outline.tags["table"] == 4
    assert outline.tags["h1"] == outline.tags["main"] == outline.tags["title"] == 1


def test_the_page_needs_nothing_from_elsewhere(opened: World) -> None:
    answer = ask(opened, page=True)

    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    for wrong in ("<script", "src=", "href=", "url(", "@import", "http:", "https:"):
        assert wrong not in answer.text


def test_the_page_escapes_what_people_typed(opened: World) -> None:
    publish_with_source(opened, name='<script>alert("{rate}")</script> & co')

    answer = ask(opened, "currency=GBP", page=True)

    assert "<script" not in answer.text
    assert "&lt;script&gt;alert(&#34;{rate}&#34;)&lt;/script&gt; &amp; co" in answer.text


def test_no_sentence_of_the_english_sheet_is_in_the_german_one(world: World, subtests: pytest.Subtests) -> None:
    tiers = ({"from": "0"}, {"from": "1000", "prizes": ["royal_flush"], "evidence": ["witness"], "approvals": 2})
    world.open(base_amount="1000", settings={"limit": "20000", "reset_amount": "5000", "close_required": "true"})
    world.open(CYBER, jackpot_id="j2", tables=(), settings={"dead_hand": "play-on"})
    world.open(SENECA, jackpot_id="j3", tables=(), settings={"policy": "minor_first"})
    world.open(CYBER, jackpot_id="j4", tables=(), settings={"policy": "equal_share"})
    world.change("rules", {"jackpot_id": "j1", "settings": {"payout_tiers": list(tiers)}})
    world.open(jackpot_id="j5", tables=(), settings={"dead_hand": "play-on"})
    for jackpot_id in ("j1", "j2", "j3", "j4", "j5"):
        with subtests.test(jackpot_id):
            english, german = (ask(world, f"lang={lang}", jackpot_id=jackpot_id).ok() for lang in Language)

            for first, other in ((english, german), (english["pending"], german["pending"])):
                if first is not None:
                    assert len(first["text"]) == len(other["text"])
                    assert set(first["text"]) & set(other["text"]) == set()
            assert set(prizes(english, "odds").values()) & set(prizes(german, "odds").values()) == set()


def test_numbers_are_written_as_the_language_does(opened: World) -> None:
    sheet = ask(opened, "lang=de").ok()

    assert prizes(sheet, "odds")["royal_flush"] == "1 zu 649.740"
    assert sheet["theoretical_return"]["text"] == "81,84 %"
    assert sheet["theoretical_return"]["percent"] == "81.8448918029"
    assert "Straight Flush: das 2.500-Fache des Einsatzes, aus dem Gewinnfonds." in sheet["text"]
