"""Opening a jackpot, adding stripes to it, suspending and resuming it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import currencies, facts, posting_rules
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life, facts_of_life, require_not_retired
from jackpot_service.domain.money import plain
from jackpot_service.domain.principals import UserRequired
from jackpot_service.domain.rulebooks import published_rules
from jackpot_service.domain.rules import BadRules, JackpotRules, require_amount
from jackpot_service.domain.settings import Setting, require_payable_stakes
from jackpot_service.ledger import books, cycles, stripes
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.records import lives, references
from jackpot_service.usecases import acts, jackpot_acts
from jackpot_service.usecases.acts import Act, AlreadyExists, Done, Effect
from jackpot_service.usecases.setting_values import written


@dataclass(frozen=True, slots=True)
class OpenJackpot:
    """
    A jackpot to open: a published rulebook in a base currency, with some parameters set otherwise.

    `base_amount` is what the first cycle starts with; None for the reset amount.
    """

    act: Act
    jackpot_id: str
    rulebook: str
    base: str
    base_amount: Decimal | None
    settings: Mapping[str, Setting]
    stripes: int
    states_stripes: bool = False
    """Whether the request says how many stripes there are; the configuration does otherwise."""

    @property
    def content(self) -> Facts:
        """The content of the request, as far as it states it."""
        return {
            "jackpot_id": self.jackpot_id,
            "rulebook": self.rulebook,
            "base": self.base,
            "base_amount": None if self.base_amount is None else plain(self.base_amount),
            "settings": {name: written(value) for name, value in sorted(self.settings.items())},
            **({"stripes": self.stripes} if self.states_stripes else {}),
        }


@dataclass(frozen=True, slots=True)
class JackpotOpened:
    """The rules that a jackpot was opened with, and whether this call only repeats an earlier one."""

    rules: JackpotRules
    is_replay: bool


def open_jackpot(session: Session, command: OpenJackpot) -> JackpotOpened:
    """
    Open a jackpot: its stripes, its first rules version, its first cycle, seeded by the house with the base amount.

    Raises: AlreadyExists, UnknownRulebook, UnknownSetting, BadRules, UnknownCurrency, TooManyStripes, RequestConflict.
    """
    currency = currencies.tender(command.base, on=command.act.now.date())
    rules = published_rules(command.rulebook, base=command.base, settings=command.settings)
    if command.jackpot_id == REFERENCE_BOOK:
        message = f"{REFERENCE_BOOK} names the book of what belongs to no jackpot."
        raise BadRules(message)
    require_payable_stakes(rules, exponent=currency.exponent)
    base_amount = rules.reset_amount if command.base_amount is None else command.base_amount
    _require_base_amount(base_amount, rules)
    if not 1 <= command.stripes <= MOST_STRIPES:
        message = f"A jackpot has 1 to {MOST_STRIPES} stripes."
        raise TooManyStripes(message, stripes=command.stripes)
    acts.lock(session)
    if acts.is_replay(session, command.act, EntryKind.JACKPOT_OPENED, command.content):
        return JackpotOpened(rules, is_replay=True)
    if references.jackpot_base(session, command.jackpot_id) is not None:
        message = f"There is a jackpot {command.jackpot_id} already."
        raise AlreadyExists(message, jackpot_id=command.jackpot_id)
    references.add_jackpot(session, command.jackpot_id, command.base)
    references.add_rules(session, command.jackpot_id, 1, rules, entry_seq=1)
    done = Done(
        EntryKind.JACKPOT_OPENED,
        {},
        facts.facts_of_jackpot(command.jackpot_id, rules, base_amount=base_amount),
        posting_rules.for_seed(base_amount, base=command.base),
    )
    act_seq = acts.next_seq(session)
    # Not before the act itself: of an instant whose reports were made without the jackpot, it must not become a part.
    booked_at = acts.booking_time(session, command.act)
    with pipelined(session) as pipe:
        stripes.add(pipe, command.jackpot_id, stripe_nos=range(command.stripes), now=booked_at, added_by=1)
        cycles.open_next(pipe, command.jackpot_id, cycle=1, rules_version=1, stripe_no=0, cut=(1,))
        cursor = acts.book_effect(
            pipe, command.act, done, book=command.jackpot_id, act_seq=act_seq, not_before=booked_at
        )
    effect = acts.effect_of(cursor, done, book=command.jackpot_id)
    request = acts.request_of(command.act, command.content)
    _record(session, command.act, done, jackpot_id=command.jackpot_id, effects=[effect], request=request)
    return JackpotOpened(rules, is_replay=False)


def _record(
    session: Session,
    act: Act,
    done: Done,
    *,
    jackpot_id: str,
    effects: Sequence[Effect],
    request: Facts | None = None,
) -> None:
    subject = f"jackpot {jackpot_id}"
    acts.record_done(session, act, done, subject=subject, book=jackpot_id, effects=effects, request=request)


def _require_base_amount(base_amount: Decimal, rules: JackpotRules) -> None:
    require_amount("base_amount", base_amount)
    if rules.limit is not None and base_amount > rules.limit:
        message = f"The base amount may not exceed the limit of {plain(rules.limit)}."
        raise BadRules(message)


class TooManyStripes(Refused, code="stripes-out-of-range", title="The number of stripes is out of range"):
    """A jackpot's stripes can become more, up to a bound, and never fewer."""


@dataclass(frozen=True, slots=True)
class AddStripes:
    """Which jackpot shall have how many stripes."""

    act: Act
    jackpot_id: str
    stripes: int


def add_stripes(session: Session, command: AddStripes) -> int:
    """
    Add the stripes that a jackpot lacks; returns how many it had. The same again changes nothing, and returns as many.

    Bets go on meanwhile: of the jackpot it holds stripe 0 alone, which a hit takes first, so no hit misses a stripe.

    Raises: UnknownJackpot, JackpotRetired, TooManyStripes, RequestConflict.
    """
    references.require_base(session, command.jackpot_id)
    acts.lock(session)
    content = {"jackpot_id": command.jackpot_id, "stripes": command.stripes}
    if acts.is_replay(session, command.act, EntryKind.STRIPES_ADDED, content):
        return command.stripes
    with pipelined(session) as pipe:
        stripes.lock_one(pipe, command.jackpot_id, 0)
        cursor = books.send_read(pipe, command.jackpot_id)
    held = books.books_of(cursor)
    count = len(held.positions)
    if command.stripes == count:
        return count
    require_not_retired(command.jackpot_id, lives.life_of(session, command.jackpot_id, is_accepting=held.is_accepting))
    if not count < command.stripes <= MOST_STRIPES:
        message = f"Jackpot {command.jackpot_id} has {count} stripes; it may get more, up to {MOST_STRIPES}."
        raise TooManyStripes(message, stripes=count)
    added = range(count, command.stripes)
    done = Done(EntryKind.STRIPES_ADDED, {"stripes": count}, facts.facts_of_stripes(added))
    act_seq, not_before = acts.next_seq(session), max(held.booked_at, acts.booking_time(session, command.act))
    with pipelined(session) as pipe:
        stripes.add(
            pipe,
            command.jackpot_id,
            stripe_nos=added,
            now=not_before,
            added_by=held.positions[0] + 1,
            accepting=held.is_accepting,
            limits_version=held.limits_version,
        )
        cursor = acts.book_effect(
            pipe, command.act, done, book=command.jackpot_id, act_seq=act_seq, not_before=not_before
        )
    effect = acts.effect_of(cursor, done, book=command.jackpot_id)
    request = acts.request_of(command.act, content)
    _record(session, command.act, done, jackpot_id=command.jackpot_id, effects=[effect], request=request)
    return count


@dataclass(frozen=True, slots=True)
class ChangeSuspension:
    """A suspension or resumption of a jackpot; the act carries the request id and the reason."""

    act: Act
    jackpot_id: str


@dataclass(frozen=True, slots=True)
class SuspensionChanged:
    """How the jackpot stood after the act, and whether this call only repeats an earlier one."""

    jackpot_id: str
    life: Life
    is_replay: bool


def suspend_jackpot(session: Session, command: ChangeSuspension) -> SuspensionChanged:
    """
    Refuse a jackpot's bets from now on: once this is committed none is accepted. All else goes on.

    One operator does it, a service account too: it costs nobody money, and an alarm must not wait for a user. If the
    jackpot is suspended, the act is recorded and changes nothing.

    Raises: UnknownJackpot, JackpotRetired, RequestConflict.
    """
    return _set(session, command, EntryKind.JACKPOT_SUSPENDED, Life.SUSPENDED)


def resume_jackpot(session: Session, command: ChangeSuspension) -> SuspensionChanged:
    """
    Take a jackpot's bets again. One operator does it, and a user: why it was suspended is for somebody to judge.

    Raises: UserRequired, UnknownJackpot, JackpotRetired, RequestConflict.
    """
    if command.act.principal.is_service_account:
        message = f"{command.act.principal.name} is a service account: it may suspend a jackpot, and a user resumes it."
        raise UserRequired(message)
    return _set(session, command, EntryKind.JACKPOT_RESUMED, Life.OPEN)


def _set(session: Session, command: ChangeSuspension, kind: EntryKind, life: Life) -> SuspensionChanged:
    act, request = command.act, {"jackpot_id": command.jackpot_id, "reason": command.act.reason}
    acts.lock(session)
    if acts.find_replay(session, act, kind, request) is not None:
        return SuspensionChanged(command.jackpot_id, life, is_replay=True)
    jackpot = jackpot_acts.hold_unretired(session, command.jackpot_id)
    recorded = facts_of_life(life, positions=jackpot.books.positions)
    done = Done(kind, {"state": jackpot.life.value}, recorded)
    effects = []
    if jackpot.life is not life:
        act_seq, not_before = acts.next_seq(session), jackpot_acts.booking_time(session, act, [jackpot])
        is_open = life is Life.OPEN
        effects.append(
            jackpot_acts.book(session, act, jackpot, done, act_seq=act_seq, not_before=not_before, accepting=is_open)
        )
    _record(session, act, done, jackpot_id=command.jackpot_id, effects=effects, request=request)
    return SuspensionChanged(command.jackpot_id, life, is_replay=False)
