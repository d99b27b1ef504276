"""Opening a jackpot from a published rulebook."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import currencies, facts, posting_rules
from jackpot_service.domain.catalog.jackpots import published_rules
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import plain
from jackpot_service.domain.rules import BadRules, JackpotRules, require_amount
from jackpot_service.domain.settings import require_payable_stakes
from jackpot_service.ledger import cycles, stripes
from jackpot_service.records import references as reference_records
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, AlreadyExists


@dataclass(frozen=True, slots=True)
class OpenJackpot:
    """
    What to open: a published rulebook in a base currency, with some parameters set otherwise.

    `base_amount` is what the first cycle starts with; None for the reset amount.
    """

    act: Act
    jackpot_id: str
    rulebook: str
    base: str
    base_amount: Decimal | None
    settings: Mapping[str, str]
    stripes: int


def open_jackpot(session: Session, command: OpenJackpot) -> JackpotRules:
    """
    Open a jackpot: its stripes, its first rules version, its first cycle, seeded by the house with the base amount.

    Raises: AlreadyExists, UnknownRulebook, UnknownSetting, BadRules, UnknownCurrency.
    """
    currency = currencies.tender(command.base, on=command.act.now.date())
    rules = published_rules(command.rulebook, base=command.base, settings=command.settings)
    if command.jackpot_id == REFERENCE_BOOK:
        message = f"{REFERENCE_BOOK} names the book of what belongs to no jackpot."
        raise BadRules(message)
    require_payable_stakes(rules, exponent=currency.exponent)
    base_amount = rules.reset_amount if command.base_amount is None else command.base_amount
    _require_base_amount(base_amount, rules)
    acts.lock(session)
    if reference_records.jackpot_base(session, command.jackpot_id) is not None:
        message = f"There is a jackpot {command.jackpot_id} already."
        raise AlreadyExists(message, jackpot_id=command.jackpot_id)
    reference_records.add_jackpot(session, command.jackpot_id, command.base)
    reference_records.add_rules(session, command.jackpot_id, 1, rules, entry_seq=1)
    recorded = facts.of_jackpot(command.jackpot_id, rules, base_amount=base_amount)
    act_seq = acts.next_seq(session)
    # Not before the act itself: of an instant whose reports were made without the jackpot, it must not become a part.
    booked_at = acts.booking_time(session, command.act)
    with pipelined(session) as pipe:
        stripes.add(pipe, command.jackpot_id, stripe_nos=range(command.stripes), now=booked_at, added_by=1)
        cycles.open_next(pipe, command.jackpot_id, cycle=1, rules_version=1, stripe_no=0, cut=(1,))
        cursor = acts.book_effect(
            pipe,
            command.act,
            act_seq=act_seq,
            not_before=booked_at,
            book=command.jackpot_id,
            kind=EntryKind.JACKPOT_OPENED,
            recorded=recorded,
            postings=posting_rules.for_seed(base_amount, base=command.base),
        )
    acts.post(
        session,
        command.act,
        EntryKind.JACKPOT_OPENED,
        subject=f"jackpot {command.jackpot_id}",
        after=recorded,
        jackpot_id=command.jackpot_id,
        effects=[acts.effect_of(cursor, book=command.jackpot_id, kind=EntryKind.JACKPOT_OPENED, recorded=recorded)],
    )
    return rules


def _require_base_amount(base_amount: Decimal, rules: JackpotRules) -> None:
    require_amount("base_amount", base_amount)
    if rules.limit is not None and base_amount > rules.limit:
        message = f"The base amount may not exceed the limit of {plain(rules.limit)}."
        raise BadRules(message)
