"""The wall: which jackpots it shows to everybody, with which figures, and what it never says."""

import re
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final

import pytest
import sqlalchemy

from jackpot_service.domain.principals import Role
from jackpot_service.pages import assets
from jackpot_service.pages.wall import TIMES
from jackpot_service.usecases.casinos import add_casino
from tests.support.bets import bet
from tests.support.hands import NOTHING, ROYAL_FLUSH, hand
from tests.support.visitor import Visitor
from tests.support.world import CYBER, SENECA, World

pytestmark = pytest.mark.slow

WALL: Final = "/wall/j1"

MOST_BYTES_OF_SCRIPTS: Final = 12_288
MOST_BYTES: Final = 160 * 1024


@pytest.fixture
def shown(world: World) -> World:
    """A jackpot that is displayed to all."""
    world.open(base_amount="998.657", settings={"displayed": "true"})
    return world


def page_of(world: World, query: str = "") -> str:
    answer = Visitor(world).open(f"{WALL}{query}")
    assert (answer.status, answer.media_type) == (200, "text/html"), answer.text
    return answer.text


def data_of(page: str, name: str) -> str:
    match = re.search(rf'data-{name}="([^"]*)"', page)
    assert match, name
    return match[1]


def figure_of(page: str) -> str:
    """The large amount, as it is read from wheel to wheel."""
    return "".join(re.findall(r'class="(?:wheel|mark)"><b>(.)</b>', page))


def others_of(page: str) -> dict[str, str]:
    return dict(re.findall(r'<li data-currency="([A-Z]{3})"><span>[A-Z]{3}</span> <b>([^<]+)</b>', page))


def feed_of(world: World, page: str) -> dict[str, Any]:
    answer: dict[str, Any] = world.call("GET", data_of(page, "feed").replace("&amp;", "&"), key=None).ok()
    return answer


# Which jackpots.


def test_only_a_jackpot_that_is_displayed_has_a_wall(shown: World) -> None:
    shown.open(jackpot_id="j2", base_amount="1", tables=("T2",))
    for path, status in ((WALL, 200), ("/wall/j2", 404), ("/wall/nothing", 404), ("/wall/", 404)):
        assert Visitor(shown).open(path).status == status, path
    assert Visitor(shown).sign_in(Role.OPERATOR).open("/wall/j2").status == 404


def test_a_retired_jackpot_has_none(shown: World) -> None:
    shown.open(jackpot_id="j2", base_amount="1", tables=("T2",))
    shown.change("retirement", {"jackpot_id": "j1", "to": "j2"})
    assert Visitor(shown).open(WALL).status == 404


def test_a_suspended_jackpot_says_that_it_takes_no_bets(shown: World) -> None:
    shown.put("/v1/jackpots/j1/suspension", {"request_id": "s", "reason": "r"}, key=shown.key(Role.OPERATOR)).ok(201)
    page = page_of(shown)
    assert data_of(page, "state") == "suspended"
    assert "Closed for bets" in page


# Which figures.


def test_it_holds_the_figures_of_the_feed_that_it_listens_to(shown: World) -> None:
    page = page_of(shown, "?currency=GBP&others=EUR,JPY")
    frame = feed_of(shown, page)

    pounds, euros, yen = (amount["amount_minor"] for amount in frame["amounts"])
    assert [amount["currency"] for amount in frame["amounts"]] == ["GBP", "EUR", "JPY"]
    assert Decimal(figure_of(page).replace(",", "")).scaleb(2) == pounds == int(data_of(page, "amount"))
    assert others_of(page) == {"EUR": f"{Decimal(euros).scaleb(-2):,}", "JPY": f"{yen:,}"}
    assert int(data_of(page, "cycle")) == frame["cycle"]
    assert int(data_of(page, "sheet")) == frame["rate_sheet"]


def test_it_never_shows_more_than_the_ledger_has(shown: World) -> None:
    assert figure_of(page_of(shown)) == "998.65"
    assert figure_of(page_of(shown, "?currency=JPY")) == "163,714"  # Of 163,714.26.


def test_without_a_word_it_shows_the_base_currency_and_a_few_usual_others(shown: World) -> None:
    page = page_of(shown)
    assert data_of(page, "feed") == "/v1/jackpots/j1/feed?currency=EUR,GBP,SEK,JPY"
    assert [*others_of(page)] == ["GBP", "SEK", "JPY"]
    assert others_of(page_of(shown, "?others=")) == {}


def test_a_currency_of_three_decimals_and_nine_figures_is_written_out(world: World) -> None:
    world.publish(GBP="1.17", KWD="3.05")
    world.open(base_amount="375000000", settings={"displayed": "true"})
    page = page_of(world, "?currency=KWD&others=")
    assert figure_of(page) == "122,950,819.672"
    assert data_of(page, "size") == "15"
    assert re.search(r'class="sign code">KWD<', page)


@pytest.mark.parametrize("query", ["?currency=XXX", "?currency=eur", "?others=EUR,EUR", "?theme=pink", "?currency="])
def test_what_cannot_be_shown_is_refused_in_words(shown: World, query: str) -> None:
    answer = Visitor(shown).open(f"{WALL}{query}")
    assert (answer.status, answer.media_type) == (422, "text/html"), answer.text


def test_what_a_player_of_signage_adds_is_passed_over(shown: World) -> None:
    assert 'data-theme="night"' in page_of(shown, "?theme=night&lang=en&_=12345")


@pytest.mark.parametrize(
    ("rulebook", "royal_flush", "prizes"),
    [
        (
            None,
            "shared by every jackpot bettor of the round",
            [f"2,500{TIMES} Straight flush", f"3{TIMES} Three of a kind"],
        ),
        (CYBER, "wins the whole jackpot", ["10% Straight flush", "€50 Flush"]),
        (SENECA, "wins the whole jackpot", ["10% Straight flush"]),
    ],
)
def test_it_prints_the_prizes_that_settle(
    world: World, rulebook: str | None, royal_flush: str, prizes: list[str]
) -> None:
    named = {} if rulebook is None else {"rulebook": rulebook}
    world.open(**named, base_amount="1000", settings={"displayed": "true"})  # type: ignore[arg-type]
    page = page_of(world, "?others=")
    printed = [
        f"{re.sub('<[^>]+>', '', figure)} {name}"
        for figure, name in re.findall(r"<li><b>(.+?)</b><span>([^<]+)</span></li>", page)
    ]
    assert f"<span>{royal_flush}</span>" in page
    assert set(prizes) <= set(printed), printed


def test_the_last_hit_is_shown_and_nobody_is_named(shown: World) -> None:
    assert "Last won" not in page_of(shown)
    shown.bet(bet("a"), bet("b", hand="2", player_id="secret-player"))
    shown.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))
    page = Visitor(shown, app=shown.start()).open(WALL).text

    paid = shown.get("/v1/jackpots/j1/hits").ok()["items"][0]["paid"]
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    cut = Decimal(paid).quantize(Decimal("0.01"), ROUND_DOWN)
    assert f"Last won €{cut:,} on 20 November at Casino c1, shared by 2 players" in text
    assert (data_of(page, "cycle"), data_of(page, "hit")) == ("2", "1")
    assert not re.search(r"secret|player-of|\bT1\b|\br1\b|position|stripe", page)


def test_the_last_hit_is_read_once_a_cycle_however_many_look(shown: World) -> None:
    read: list[str] = []
    sqlalchemy.event.listen(shown.engine, "before_cursor_execute", lambda *parameters: read.append(parameters[2]))
    elsewhere = shown.start()
    for _ in range(5):
        assert Visitor(shown, app=elsewhere).open(WALL).status == 200
    assert sum("ORDER BY c.cycle DESC" in statement for statement in read) == 1


# Who may embed it, and what it loads.


def test_only_pages_of_the_configured_origins_may_embed_it(world: World, request: pytest.FixtureRequest) -> None:
    own = World(world.database_url, public_origins=("https://casino.example", "https://www.casino.example:8443"))
    request.addfinalizer(own.close)
    own.open(base_amount="1", settings={"displayed": "true"})

    def ancestors(of: World, path: str) -> str:
        policy = Visitor(of).open(path).headers["Content-Security-Policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        return next(part for part in policy.split("; ") if part.startswith("frame-ancestors"))

    assert ancestors(own, WALL) == "frame-ancestors https://casino.example https://www.casino.example:8443"
    assert ancestors(own, "/sign-in") == ancestors(own, "/wall/j2") == "frame-ancestors 'none'"
    assert ancestors(world, WALL) == "frame-ancestors 'none'"


def test_it_has_no_script_style_or_handler_of_its_own_and_no_way_to_other_pages(shown: World) -> None:
    page = page_of(shown)
    assert re.findall(r"<script(?![^>]* src=)[^>]*>", page) == []
    assert re.findall(r"<style| style=| on[a-z]+=|<a |<form", page) == []
    assert "Set-Cookie" not in Visitor(shown).open(WALL).headers


def test_the_script_is_small_and_the_first_visit_light(shown: World) -> None:
    page = page_of(shown)
    sizes = {name: (assets.STATIC / name).stat().st_size for name in re.findall(r"/assets/[0-9a-f]+/([^\"]+)", page)}
    scripts = {name: size for name, size in sizes.items() if name.endswith(".js")}
    assert set(scripts) == {"wall.js", "rolling.js"}
    assert sum(scripts.values()) <= MOST_BYTES_OF_SCRIPTS
    assert sum(sizes.values()) + len(page) <= MOST_BYTES
    assert len(sizes) + 2 <= 7  # The page itself, and the feed.


def test_a_casino_whose_name_means_harm_is_written_as_it_is(world: World) -> None:
    name = "<script>alert(1)</script>\"'"
    world.transact(lambda session: add_casino(session, world.act(), casino_id="c2", name=name))
    world.open(base_amount="100", settings={"displayed": "true"}, tables=())
    world.add_table("T9", jackpot_id="j1", casino_id="c2")
    world.bet(bet("a"), table_id="T9")
    world.settle(hand("1", ROYAL_FLUSH), table_id="T9")
    page = page_of(world)
    assert "<script>alert" not in page
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;" in page
