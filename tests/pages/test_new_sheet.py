"""A new sheet on a page: typed, checked by the ledger, requested once, and refused in the ledger's own words."""

import re
from html import unescape
from typing import Final

import psycopg
import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.pages.new_sheet import STALE
from tests.support.answers import Answer, Body
from tests.support.logins import owner_conninfo
from tests.support.page_text import content_of, text_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

NEW: Final = "/rates/EUR/new"
CHECK: Final = "/rates/EUR/check"
HOSTILE: Final = "<script>alert(1)</script>\"'"


@pytest.fixture
def rita(world: World) -> Visitor:
    return Visitor(world).sign_in(key=world.person("Rita", Role.RATES))


def fields_of(page: str) -> dict[str, str]:
    """What a browser would send of the form as it stands: its hidden fields and its texts."""
    form = page.partition('<form class="card sheet"')[2].partition("</form>")[0]
    inputs = re.findall(r"<input\b[^>]*>", form)
    named = {re.search(r'name="([^"]*)"', tag)[1]: tag for tag in inputs if 'type="checkbox"' not in tag}  # type: ignore[index]
    values = {name: re.search(r'value="([^"]*)"', tag) for name, tag in named.items()}
    return {name: unescape(match[1]) if match else "" for name, match in values.items()}


def send(visitor: Visitor, path: str = NEW, *, on: Answer | None = None, **typed: str) -> Answer:
    """Fill in the form, over the page that is open or a new one, and send it."""
    page = on or visitor.open(NEW)
    typed = {
        name.replace("_", "-") if name[:4] in {"rate", "leav", "new_"} else name: value for name, value in typed.items()
    }
    return visitor.post(path, {**fields_of(page.text), "reason": "as the market moved", **typed})


def error_at(page: str, name: str) -> str:
    """The sentence at a field, which says that it is wrong."""
    match = re.search(rf'id="{name}-error"[^>]*>([^<]*)<', page)
    assert match, page
    tag = re.search(rf'<input[^>]*aria-describedby="{name}-error"[^>]*>', page)
    assert tag, page
    assert ('aria-invalid="true"' in tag[0]) is bool(match[1])
    return unescape(match[1])


def requests(world: World) -> list[Body]:
    items: list[Body] = world.get("/v1/change-requests", role=Role.RATES).ok()["items"]
    return items


def test_the_form_is_filled_in_from_the_sheet_in_force(rita: Visitor) -> None:
    fields = fields_of(rita.open(NEW).text)
    assert {name: value for name, value in fields.items() if name.startswith("rate-")} == {
        "rate-GBP": "1.17",
        "rate-JPY": "0.0061",
        "rate-SEK": "0.0873",
    }
    assert fields["base_version"] == "1"


def test_only_what_was_typed_is_requested(world: World, rita: Visitor) -> None:
    answer = send(rita, rate_GBP="1.18", leaves_SEK="on", new_code_0="CHF", new_rate_0="1.05")

    (change,) = requests(world)
    assert (answer.status, answer.headers["Location"]) == (303, f"/changes/{change['request_id']}")
    assert change["payload"] == {
        "base": "EUR",
        "rates": {"GBP": "1.18", "CHF": "1.05"},
        "removed_currencies": ["SEK"],
    }
    assert (change["maker"], change["reason"], change["base_version"]) == ("Rita", "as the market moved", "1")
    assert change["confirm"] == {"CHF": "1.05"}


def test_the_same_form_again_is_the_same_request(world: World, rita: Visitor) -> None:
    page = rita.open(NEW)
    first = send(rita, on=page, rate_GBP="1.18")
    again = send(rita, on=page, rate_GBP="1.18")
    assert first.headers["Location"] == again.headers["Location"]
    assert len(requests(world)) == 1


def test_a_check_figures_the_moves_and_requests_nothing(world: World, rita: Visitor) -> None:
    answer = send(rita, CHECK, rate_GBP="1.404", rate_SEK="11.45", rate_JPY="0.0062", reason="")

    page = content_of(answer.text)
    assert answer.status == 200
    assert "3 currencies change. The approver must type 2 of the rates again: they are beyond the band, or new." in page
    assert "+20.00 % beyond the band" in page
    assert "the other way round?" in page
    assert "+1.64 %" in page
    assert fields_of(answer.text)["rate-GBP"] == "1.404"
    assert requests(world) == []


def test_for_htmx_a_check_is_the_part_that_changes(rita: Visitor) -> None:
    page = rita.open(NEW)
    form = {**fields_of(page.text), "rate-GBP": "1.18"}
    part = rita.post(CHECK, form, **{"HX-Request": "true"})

    assert part.status == 200
    assert "<html" not in part.text
    assert part.text.strip().startswith('<div id="outcome" role="status">')
    assert "1 currency changes, none beyond the band." in part.text
    moved = re.search(r'<span id="move-GBP" hx-swap-oob="true">(.*?)</span>', part.text)
    assert moved
    assert moved[1] == "+0.85\N{NO-BREAK SPACE}%"
    wrong = rita.post(CHECK, {**form, "rate-GBP": "1.00000000001"}, **{"HX-Request": "true"})
    assert wrong.status == 200
    assert 'id="rate-GBP-error" hx-swap-oob="true">The rate of GBP may have at most 10 decimals.<' in wrong.text


def test_a_form_in_which_nothing_was_typed_says_so(rita: Visitor) -> None:
    for path in (NEW, CHECK):
        answer = send(rita, path)
        assert answer.status == 422
        assert "The rates: must hold at least one rate." in content_of(answer.text)


# Refused in the ledger's own words, at the field.


@pytest.mark.parametrize("path", [NEW, CHECK])
@pytest.mark.parametrize(
    ("rate", "sentence"),
    [
        ("1.00000000001", "The rate of GBP may have at most 10 decimals."),
        ("0", "The rate of GBP must be positive and below 10^10, not 0."),
        ("1,18", "must be a plain decimal number in a string"),
        ("", "must be a plain decimal number in a string"),
    ],
)
def test_a_rate_that_cannot_be_is_refused_at_its_field(
    world: World, rita: Visitor, path: str, rate: str, sentence: str
) -> None:
    answer = send(rita, path, rate_GBP=rate)

    assert answer.status == 422
    assert sentence in error_at(answer.text, "rate-GBP")
    assert fields_of(answer.text)["rate-GBP"] == rate
    assert error_at(answer.text, "rate-SEK") == ""
    assert requests(world) == []


def test_a_new_currency_that_there_is_not_is_refused_at_its_field(world: World, rita: Visitor) -> None:
    answer = send(rita, new_code_1="XXA", new_rate_1="1")
    assert "XXA" in error_at(answer.text, "new-1")
    twice = send(rita, new_code_0="GBP", new_rate_0="1.18")
    assert twice.status == 422
    assert error_at(twice.text, "new-0") == "is in the table already: type its rate there"
    assert "must hold at least one rate" not in twice.text
    assert requests(world) == []


def test_a_new_currency_is_typed_once(world: World, rita: Visitor) -> None:
    for path in (NEW, CHECK):
        answer = send(rita, path, new_code_0="CHF", new_rate_0="1.05", new_code_2="CHF", new_rate_2="1.50")
        assert answer.status == 422
        assert error_at(answer.text, "new-2") == "is in the table already: type its rate there"
        assert error_at(answer.text, "new-0") == ""
        assert fields_of(answer.text)["new-rate-0"] == "1.05"
    assert requests(world) == []


@pytest.mark.parametrize("rate", ["1.05", "much"])
def test_a_rate_without_a_currency_is_refused_at_its_own_row(world: World, rita: Visitor, rate: str) -> None:
    answer = send(rita, new_rate_0=rate)
    assert answer.status == 422
    assert error_at(answer.text, "new-0")
    assert error_at(answer.text, "new-2") == ""
    assert requests(world) == []


def test_the_way_back_to_a_check_leads_to_the_form(rita: Visitor) -> None:
    answer = rita.open(CHECK)
    assert (answer.status, answer.headers["Location"]) == (303, NEW)


def test_a_check_waits_for_no_act_and_no_act_for_it(world: World, rita: Visitor) -> None:
    page = rita.open(NEW)
    with psycopg.connect(owner_conninfo(world.database_url)) as holder:
        holder.execute("SELECT FROM stripes FOR UPDATE")
        assert send(rita, CHECK, on=page, rate_GBP="1.18").status == 200


def test_a_currency_that_left_meanwhile_cannot_leave_again(world: World, rita: Visitor) -> None:
    page = rita.open(NEW)
    world.change("rate-sheet", {"base": "EUR", "removed_currencies": ["SEK"]}, request_id="q", role=Role.RATES)

    answer = send(rita, on=page, leaves_SEK="on", effective_at="2027-01-01T00:00:00Z")
    assert answer.status == 422
    assert error_at(answer.text, "rate-SEK") == "names SEK, of which the sheet before has no rate"


def test_a_time_in_the_past_is_refused_at_its_field(world: World, rita: Visitor) -> None:
    past = send(rita, rate_GBP="1.18", effective_at="2020-01-01T00:00:00Z")
    assert (past.status, error_at(past.text, "effective_at")) == (422, "lies in the past")
    none = send(rita, rate_GBP="1.18", effective_at="tomorrow")
    assert "must be a time such as" in error_at(none.text, "effective_at")
    assert requests(world) == []


def test_a_reason_is_needed(world: World, rita: Visitor) -> None:
    answer = send(rita, rate_GBP="1.18", reason=" ")
    assert answer.status == 422
    assert "must be a text of 1 to 500" in error_at(answer.text, "reason")
    assert requests(world) == []


def test_a_lone_approver_is_refused(world: World, rita: Visitor) -> None:
    address = send(rita, rate_GBP="1.18").headers["Location"]
    page = rita.open(address).text
    assert "It waits for somebody else." in page
    assert "<button>Approve</button>" not in page

    token = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert token
    alone = rita.post(address, {"csrf_token": unescape(token[1]), "outcome": "approved", "effect": ""})
    assert alone.status == 403
    refusal = world.approve(address.rsplit("/", 1)[1], by="Rita", role=Role.RATES).problem(403, "same-user")
    assert refusal["detail"] in text_of(alone.text)


def test_a_sheet_that_came_meanwhile_is_shown_before_anything_is_requested(world: World, rita: Visitor) -> None:
    page = rita.open(NEW)
    world.change("rate-sheet", {"base": "EUR", "rates": {"SEK": "0.09"}}, request_id="q", role=Role.RATES)

    answer = send(rita, on=page, rate_GBP="1.18")
    assert answer.status == 409
    assert STALE in content_of(answer.text)
    fields = fields_of(answer.text)
    assert (fields["rate-GBP"], fields["rate-SEK"], fields["base_version"]) == ("1.18", "0.09", "2")

    assert send(rita, on=answer, rate_GBP="1.18").status == 303
    assert requests(world)[0]["payload"]["rates"] == {"GBP": "1.18"}


def test_what_somebody_typed_is_text(rita: Visitor) -> None:
    answer = send(rita, rate_GBP=HOSTILE, effective_at=HOSTILE, reason=HOSTILE, new_code_0="<b>", new_rate_0=HOSTILE)
    assert answer.status == 422
    assert "<script>alert" not in answer.text
    assert fields_of(answer.text)["rate-GBP"] == HOSTILE
