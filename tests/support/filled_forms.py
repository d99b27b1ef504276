"""Every kind of change as somebody fills in its form, in the world that `every_kind` plays."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer
from tests.support.every_kind import PAID, UNCLAIMED
from tests.support.hands import STRAIGHT
from tests.support.page_forms import PageForm, form_to
from tests.support.people import asker_of
from tests.support.visitor import Visitor
from tests.support.world import World

Values = Mapping[str, str | Sequence[str]]


class Filled(NamedTuple):
    """The query that says what a form is about, and the fields that somebody fills in."""

    query: str
    values: Values = MappingProxyType({})


FILLED: Final[Mapping[str, Filled]] = {
    "rules": Filled("jackpot=j1", {"settings/payout_tiers/0/from": "500"}),
    "table-limits": Filled("table=T1", {"largest_stake": "50"}),
    "retirement": Filled("jackpot=j2", {"to": "j1"}),
    "adjustment": Filled(
        "jackpot=j1", {"account": "reserve", "amount": "1", "document": "memo 1", "cause": "count-error"}
    ),
    "seed-recovery": Filled("jackpot=j1", {"amount": "1"}),
    "prize-fund-true-up": Filled("jackpot=j1"),
    "held-awards": Filled("table=T1&round=held", {"decision": "approve"}),
    "compensation": Filled("table=T1&round=cancelled", {"amount_minor": "1.00", "document": "minutes 1"}),
    "declined-compensation": Filled("table=T1&round=denied"),
    "round-correction": Filled("table=T1&round=lost", {"result/hands/1/cards": STRAIGHT}),
    "casino-claims": Filled("casino=c1", {"claim_days": "7"}),
    "award-forfeiture": Filled(f"award={UNCLAIMED}"),
    "payment-reversal": Filled(f"award={PAID}"),
    "statement-settlement": Filled(
        "casino_id=c1&jackpot_id=j1&currency=EUR&from=2026-10-01&to=2026-11-01T00:00:00Z&amount=1.00",
        {"reference": "2026-10"},
    ),
    "casino-withholding": Filled("casino=c1&currency=EUR", {"report_at_minor": "600"}),
    "change-policy": Filled("of=rules", {"kinds/rules/decided_by": ["operator"]}),
}
"""Each asks for the payload of `every_kind.PAYLOADS`: the rest is in the form already."""


def asker(world: World, kind: str) -> Visitor:
    """Somebody whom the shipped policy lets ask for a kind of change."""
    person = asker_of(kind)
    return Visitor(world).sign_in(key=world.person(person.name, person.role))


def somebody(world: World, name: str, role: Role) -> Visitor:
    """Somebody with a name, who has signed in."""
    return Visitor(world).sign_in(key=world.person(name, role))


def opened(visitor: Visitor, kind: str, query: str = "") -> PageForm:
    """Open a form, and follow to the address with its id."""
    path = f"/changes/new/{kind}"
    answer = visitor.open(f"{path}?{query}")
    if answer.status == 303:
        answer = visitor.open(answer.headers["Location"])
    assert answer.status == 200, answer.text
    return form_to(answer.text, path)


def sent(visitor: Visitor, form: PageForm, values: Values, *, reason: str = "as agreed", **more: str) -> Answer:
    """Send a form that somebody has filled in."""
    return visitor.post(form.action, [*form.filled({"reason": reason, **values}), *more.items()])
