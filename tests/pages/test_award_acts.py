"""The acts on an award by forms: refused in the API's words at their field, and the same form again is a replay."""

from datetime import timedelta

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer
from tests.support.awarded import (
    award_id_of,
    award_of,
    casino_finance,
    decide,
    error_at,
    forms_on,
    furnish,
    hidden_in,
    path_of,
    pay,
    record_surveillance,
    send,
    stop,
    win,
)
from tests.support.page_text import content_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>\"' &amp; \N{HEBREW LETTER ALEF}"
SLIP = {"amount": "10.00", "reference": "slip 1"}


@pytest.fixture
def awarded(world: World) -> World:
    return furnish(world)


def operator(world: World) -> Visitor:
    return Visitor(world).sign_in(Role.OPERATOR)


def done(answer: Answer, path: str, word: str) -> None:
    assert (answer.status, answer.headers.get("Location")) == (303, f"{path}?done={word}"), answer.text


# Stopping.


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_one_person_stops_a_payable_award_with_a_reason(awarded: World, role: Role) -> None:
    visitor, path = Visitor(awarded).sign_in(role), path_of(awarded, "payable")
    done(send(visitor, path, "stop", {"reason": "the cards are in doubt"}), path, "stopped")
    assert award_of(awarded, "payable")["state"] == "stopped"
    page = content_of(visitor.open(f"{path}?done=stopped").text)
    assert "The payment is stopped. Two people release it." in page


def test_finance_of_a_casino_stops_an_award_of_its_own(awarded: World) -> None:
    path = path_of(awarded, "other")
    done(send(casino_finance(awarded, "c2"), path, "stop", {"reason": "a doubt"}), path, "stopped")


@pytest.mark.parametrize(("reason", "wrong"), [("", "500"), ("\x07", "500"), ("x" * 501, "500")])
def test_a_stop_needs_a_reason(awarded: World, reason: str, wrong: str) -> None:
    answer = send(operator(awarded), path_of(awarded, "payable"), "stop", {"reason": reason})
    assert answer.status == 422
    assert wrong in error_at(answer.text, "stop-reason")
    assert award_of(awarded, "payable")["state"] == "payable"


def test_who_stops_second_reads_why_not(awarded: World) -> None:
    visitor, path = operator(awarded), path_of(awarded, "payable")
    page = visitor.open(path).text
    stop(awarded, "payable")
    answer = send(visitor, path, "stop", {"reason": "mine"}, page=page)
    assert answer.status == 409
    shown = content_of(answer.text)
    assert f"Nothing was recorded. Award {award_id_of(awarded, 'payable')} is stopped" in shown
    assert forms_on(answer.text) == set()


# Evidence.


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.AUDITOR])
def test_evidence_is_recorded_with_the_hash_of_its_file(awarded: World, role: Role) -> None:
    visitor, path = Visitor(awarded).sign_in(role), path_of(awarded, "held")
    stated = {"kind": "surveillance", "statement": "camera 12", "sha256": "ab" * 32}
    done(send(visitor, path, "evidence", stated), path, "evidence")
    evidence = awarded.get("/v1/tables/T1/rounds/held/evidence").ok()
    assert (evidence["missing"], evidence["recorded"][0]["statement"]) == ([], "camera 12")
    page = content_of(visitor.open(path).text)
    assert "Surveillance recorded camera 12 20 Nov 2026" in page
    assert f"UTC · a {role} · act" in page
    assert "ab" * 32 in page


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        ({"kind": "rumour", "statement": "seen"}, "evidence-kind"),
        ({"kind": "witness", "statement": ""}, "evidence-statement"),
        ({"kind": "witness", "statement": "seen", "sha256": "abc"}, "evidence-sha256"),
    ],
)
def test_wrong_evidence_is_refused_at_its_field(awarded: World, stated: dict[str, str], field: str) -> None:
    answer = send(operator(awarded), path_of(awarded, "held"), "evidence", stated)
    assert answer.status == 422
    assert error_at(answer.text, field)
    assert awarded.get("/v1/tables/T1/rounds/held/evidence").ok()["recorded"] == []


# Payments.


def test_an_award_is_paid_in_parts_and_then_as_a_whole(awarded: World) -> None:
    awarded.clock.advance(timedelta(hours=1))
    visitor, path = operator(awarded), path_of(awarded, "payable")
    stated = {"channel": "cage", "payer": "Cora", "paid_at": "2026-11-20T09:30"}
    done(send(visitor, path, "payment", SLIP | stated), path, "paid")
    award = award_of(awarded, "payable")
    assert (award["state"], award["paid_minor"]) == ("part-paid", 1_000)
    payment = award["payments"][0]
    assert (payment["channel"], payment["payer"], payment["paid_at"]) == ("cage", "Cora", "2026-11-20T09:30:00.000000Z")
    page = visitor.open(path).text
    assert 'name="amount" type="text" value="15.00"' in page
    done(send(visitor, path, "payment", {"amount": "15.00", "reference": "slip 2"}), path, "paid")
    assert award_of(awarded, "payable")["state"] == "paid"
    assert "payment" not in forms_on(visitor.open(path).text)


def test_finance_of_a_casino_pays_its_own_and_reads_nothing_of_others(awarded: World) -> None:
    visitor = casino_finance(awarded, "c2")
    own, foreign = path_of(awarded, "other"), path_of(awarded, "payable")
    page = visitor.open(own).text
    for act in ("payment", "stop", "slip"):
        answer = visitor.post(f"{foreign}/{act}", {**hidden_in(page, act), **SLIP, "reason": "r"})
        assert answer.status == 404
        assert "player-of" not in answer.text
    answer = visitor.post(f"{foreign}/evidence", {**hidden_in(page, "stop"), "kind": "witness", "statement": "s"})
    assert answer.status == 404
    done(send(visitor, own, "payment", SLIP), own, "paid")
    assert award_of(awarded, "payable")["state"] == "payable"


def test_finance_of_the_house_pays_nothing(awarded: World) -> None:
    path, visitor = path_of(awarded, "payable"), Visitor(awarded).sign_in(Role.FINANCE)
    page = visitor.open(path).text
    assert "payment" not in forms_on(page)
    answer = visitor.post(f"{path}/payment", {**hidden_in(page, "stop"), **SLIP})
    assert answer.status == 403
    assert "belongs to no casino records no payment" in content_of(answer.text)


@pytest.mark.parametrize(
    ("stated", "status", "field", "words"),
    [
        ({"amount": ""}, 422, "amount", "must be an amount in EUR with at most 2 decimals"),
        ({"amount": "ten"}, 422, "amount", "must be an amount in EUR"),
        ({"amount": "1.001"}, 422, "amount", "must be an amount in EUR"),
        ({"amount": "-1"}, 422, "amount", "must not be below 0"),
        ({"amount": "0"}, 422, "amount", "must not be 0"),
        ({"amount": "12,50"}, 422, "amount", "must be an amount in EUR"),
        ({"amount": "9" * 24}, 422, "amount", "must be at most EUR\N{NO-BREAK SPACE}10,000,000,000,000.00"),
        ({"amount": "25.01"}, 409, "amount", "EUR\N{NO-BREAK SPACE}25.00 of the award is unpaid, not more."),
        ({"reference": ""}, 422, "reference", "500"),
        ({"channel": "pigeon"}, 422, "channel", "must be one of"),
        ({"paid_at": "2026-11-20T10:00"}, 422, "paid_at", "lies ahead of the ledger's clock."),
        ({"paid_at": "2026-11-19T10:00:00"}, 422, "paid_at", "when the award became payable."),
        ({"paid_at": "yesterday"}, 422, "paid_at", "must be a time such as"),
        ({"payer": "x" * 501}, 422, "payer", "500"),
        ({"withheld": "11"}, 422, "withheld", "EUR\N{NO-BREAK SPACE}10.00 is paid: no more can be withheld."),
        ({"withheld": "1"}, 409, "withheld", "EUR\N{NO-BREAK SPACE}0.00 of the award is due for withholding"),
    ],
)
def test_a_wrong_payment_is_refused_at_its_field_and_what_was_typed_stays(
    awarded: World, stated: dict[str, str], status: int, field: str, words: str
) -> None:
    answer = send(operator(awarded), path_of(awarded, "payable"), "payment", {**SLIP, "payer": "Cora", **stated})
    assert answer.status == status, content_of(answer.text)
    assert words in error_at(answer.text, f"payment-{field}")
    if field != "payer":
        assert 'value="Cora"' in answer.text
    assert award_of(awarded, "payable")["paid_minor"] == 0


def test_a_reference_that_names_another_payment_is_refused_at_its_field(awarded: World) -> None:
    pay(awarded, "payable", "slip 1", 500)
    answer = send(operator(awarded), path_of(awarded, "payable"), "payment", SLIP)
    assert answer.status == 409
    assert "another payment under the reference slip 1" in error_at(answer.text, "payment-reference")


def test_a_yen_has_no_decimals(awarded: World) -> None:
    win(awarded, "yen", currency="JPY")
    visitor, path = operator(awarded), path_of(awarded, "yen")
    answer = send(visitor, path, "payment", {"amount": "1.5", "reference": "slip"})
    assert error_at(answer.text, "payment-amount").endswith("must be a whole amount in JPY, such as 1250")
    done(send(visitor, path, "payment", {"amount": "1,000", "reference": "slip"}), path, "paid")
    assert award_of(awarded, "yen")["paid_minor"] == 1_000


def test_what_is_due_for_withholding_is_filled_in(world: World) -> None:
    world.open(base_amount="1000")
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 1, "withhold_at_minor": 1, "percent": "24"}
    world.change("casino-withholding", rule, request_id="rule")
    world.clock.advance(timedelta(minutes=1))
    win(world, "taxed")
    visitor, path = operator(world), path_of(world, "taxed")
    assert 'name="withheld" type="text" value="6.00"' in visitor.open(path).text
    done(send(visitor, path, "payment", {"amount": "25.00", "reference": "s", "withheld": "6.00"}), path, "paid")
    assert award_of(world, "taxed")["withheld_minor"] == 600


def test_a_payment_asks_for_the_key_again_after_a_quarter_of_an_hour(awarded: World) -> None:
    visitor, path = operator(awarded), path_of(awarded, "payable")
    page = visitor.open(path).text
    awarded.clock.advance(timedelta(minutes=16))
    answer = send(visitor, path, "payment", SLIP, page=page)
    assert (answer.status, answer.headers["Location"].partition("?")[0]) == (303, "/sign-in/again")
    assert award_of(awarded, "payable")["paid_minor"] == 0
    done(send(visitor, path, "stop", {"reason": "a stop needs no key"}), path, "stopped")


@pytest.mark.parametrize("act", ["stop", "evidence", "payment"])
def test_the_way_back_to_a_refused_form_leads_to_its_award(awarded: World, act: str) -> None:
    visitor, path = operator(awarded), path_of(awarded, "payable")
    answer = visitor.open(f"{path}/{act}")
    assert (answer.status, answer.headers["Location"]) == (303, path)


def test_a_double_click_is_a_replay(awarded: World) -> None:
    visitor, path = operator(awarded), path_of(awarded, "payable")
    page = visitor.open(path).text
    for _ in range(2):
        done(send(visitor, path, "payment", SLIP, page=page), path, "paid")
    assert award_of(awarded, "payable")["paid_minor"] == 1_000
    for _ in range(2):
        done(send(visitor, path, "stop", {"reason": "a doubt"}, page=page), path, "stopped")
    held = path_of(awarded, "held")
    page, stated = visitor.open(held).text, {"kind": "surveillance", "statement": "camera 12"}
    for _ in range(2):
        done(send(visitor, held, "evidence", stated, page=page), held, "evidence")
    assert len(awarded.get("/v1/tables/T1/rounds/held/evidence").ok()["recorded"]) == 1


def test_two_payments_at_once_come_to_no_more_than_the_award(awarded: World) -> None:
    path = path_of(awarded, "payable")
    visitors = [operator(awarded), casino_finance(awarded, "c1")]
    pages = [visitor.open(path).text for visitor in visitors]
    stated = [{"amount": "25.00", "reference": f"slip {number}"} for number in range(2)]
    answers = [
        send(visitor, path, "payment", fields, page=page)
        for visitor, page, fields in zip(visitors, pages, stated, strict=True)
    ]
    assert [answer.status for answer in answers] == [303, 409]
    assert "is paid: nothing of it is to be paid." in content_of(answers[1].text)
    assert award_of(awarded, "payable")["paid_minor"] == 2_500


def test_a_payment_of_what_was_stopped_meanwhile_is_refused_in_words(awarded: World) -> None:
    visitor, path = operator(awarded), path_of(awarded, "payable")
    page = visitor.open(path).text
    stop(awarded, "payable")
    answer = send(visitor, path, "payment", SLIP, page=page)
    assert answer.status == 409
    assert "is stopped: nothing of it is to be paid." in content_of(answer.text)


@pytest.mark.parametrize("act", ["payment", "stop", "evidence", "slip"])
def test_a_form_without_an_id_does_nothing(awarded: World, act: str) -> None:
    path = path_of(awarded, "held" if act == "evidence" else "payable")
    visitor = operator(awarded)
    hidden = {**hidden_in(visitor.open(path).text, act), "request_id": ""}
    stated = {**SLIP, "reason": "r", "kind": "witness", "statement": "s"}
    answer = visitor.post(f"{path}/{act}", {**hidden, **stated})
    assert answer.status == 422
    assert "This form has no id." in content_of(answer.text)


@pytest.mark.parametrize("act", ["payment", "stop", "evidence", "slip"])
def test_people_of_rates_do_nothing(awarded: World, act: str) -> None:
    visitor = Visitor(awarded).sign_in(Role.RATES)
    assert visitor.submit(f"{path_of(awarded, 'payable')}/{act}", SLIP, page="/account").status == 404


@pytest.mark.parametrize("act", ["payment", "slip"])
def test_an_auditor_neither_pays_nor_prints(awarded: World, act: str) -> None:
    visitor = Visitor(awarded).sign_in(Role.AUDITOR)
    assert visitor.submit(f"{path_of(awarded, 'payable')}/{act}", SLIP, page="/account").status == 404


# Slips.


@pytest.mark.parametrize("of_house", [True, False])
def test_the_first_print_is_the_original_and_each_further_one_a_duplicate(awarded: World, *, of_house: bool) -> None:
    visitor = operator(awarded) if of_house else casino_finance(awarded, "c1")
    path = path_of(awarded, "payable")
    page = visitor.open(path).text
    first = send(visitor, path, "slip", {}, page=page)
    assert first.status == 200
    assert "Slip 1 of casino c1" in first.text
    assert "DUPLICATE" not in first.text
    assert "Payable, rounded down" in first.text
    assert "script" not in first.headers["Content-Security-Policy"]
    assert first.headers["Cache-Control"] == "private, no-store"
    assert "DUPLICATE" not in send(visitor, path, "slip", {}, page=page).text, "the same form again is the same print"
    assert "DUPLICATE, copy 2" in send(visitor, path, "slip", {}).text
    shown = content_of(visitor.open(path).text)
    assert "Slip 1, the original" in shown
    assert "Duplicate, copy 2" in shown
    assert ("an operator" in shown or "a operator" in shown) is of_house
    for reader in (visitor, Visitor(awarded).sign_in(Role.AUDITOR)):
        assert "DUPLICATE" in reader.open(f"{path}/slip").text


def test_a_slip_that_was_never_printed_or_cannot_be_is_none(awarded: World) -> None:
    visitor = operator(awarded)
    held, payable = path_of(awarded, "held"), path_of(awarded, "payable")
    assert visitor.open(f"{payable}/slip").status == 404
    page = visitor.open(payable).text
    answer = visitor.post(f"{held}/slip", hidden_in(page, "slip"))
    assert answer.status == 409
    assert "is held: it has no slip to print." in content_of(answer.text)


# Names that somebody chose.


def test_hostile_words_are_written_as_they_are(awarded: World) -> None:
    visitor = operator(awarded)
    held, payable = path_of(awarded, "held"), path_of(awarded, "payable")
    done(send(visitor, held, "evidence", {"kind": "surveillance", "statement": HOSTILE}), held, "evidence")
    stated = {**SLIP, "reference": HOSTILE, "payer": HOSTILE}
    done(send(visitor, payable, "payment", stated), payable, "paid")
    refused = send(visitor, payable, "payment", {**stated, "amount": HOSTILE})
    done(send(visitor, payable, "stop", {"reason": HOSTILE}), payable, "stopped")
    for page in (visitor.open(held).text, visitor.open(payable).text, refused.text):
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
    assert HOSTILE in content_of(visitor.open(payable).text)


def test_names_as_long_as_they_may_be_are_shown_whole(world: World) -> None:
    name = "w" * 64
    world.open(base_amount="1000")
    award_id = win(world, name)
    visitor = operator(world)
    assert name in content_of(visitor.open("/awards").text)
    assert name in content_of(visitor.open(f"/awards/{award_id}").text)


def test_an_approved_award_is_paid_by_a_casino_after_people_released_it(awarded: World) -> None:
    record_surveillance(awarded)
    decide(awarded, "approve")
    carl = Visitor(awarded).sign_in(key=awarded.key_of(Principal("Carl", Role.FINANCE, "c1")))
    path = path_of(awarded, "held")
    done(send(carl, path, "payment", {"amount": "250.00", "reference": "wire"}), path, "paid")
    assert award_of(awarded, "held")["state"] == "paid"
