"""Casinos, tables, jackpots and keys: added once, bound for ever, refused where they could not be."""

from decimal import Decimal
from functools import partial
from typing import Final

import pytest

from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.currencies import UnknownCurrency
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.payout_tiers import Evidence, PayoutTier
from jackpot_service.domain.principals import BadPrincipal, KeyLimitReached, Principal, Role
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rulebooks import UnknownRulebook
from jackpot_service.domain.rules import BadRules
from jackpot_service.domain.settings import Setting, UnknownSetting
from jackpot_service.records.immutable import Table, UnknownTable
from jackpot_service.records.references import UnknownCasino
from jackpot_service.records.settings_in_force import UnknownJackpot
from jackpot_service.usecases.acts import AlreadyExists
from jackpot_service.usecases.casinos import BadGame, UnknownZone, add_casino, add_table
from jackpot_service.usecases.keys import create_key, hash_of
from tests.support.payouts import held_from
from tests.support.world import CYBER, LIVE, SENECA, World

pytestmark = pytest.mark.slow


def test_a_casino_is_added_once(world: World) -> None:
    before = world.books.counts()

    assert world.transact(lambda s: add_casino(s, world.act(), casino_id="c1", name="Casino c1")) is False
    with pytest.raises(AlreadyExists):
        world.transact(lambda s: add_casino(s, world.act(), casino_id="c1", name="Another"))

    assert world.books.counts() == before


def test_a_casino_keeps_its_gaming_days(world: World) -> None:
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    before = world.books.counts()

    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    for zone, day_starts in (("Europe/Riga", "00:00"), ("UTC", "06:00"), ("Europe/Vilnius", "06:00")):
        with pytest.raises(AlreadyExists):
            world.add_casino("riga", zone=zone, day_starts=day_starts)

    assert world.books.counts() == before
    row = world.books.rows("SELECT zone, day_starts::text FROM casinos WHERE casino_id = 'riga'")
    assert row == [{"zone": "Europe/Riga", "day_starts": "06:00:00"}]


def test_gaming_days_are_in_the_audit_trail_where_a_casino_has_its_own(world: World) -> None:
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")

    shown = {row["after"]["casino_id"]: row["after"] for row in world.books.rows(_CASINOS_ADDED)}
    assert shown == {
        "c1": {"casino_id": "c1", "name": "Casino c1"},
        "riga": {"casino_id": "riga", "name": "Casino riga", "zone": "Europe/Riga", "day_starts": "06:00"},
    }


_CASINOS_ADDED = "SELECT after FROM acts WHERE subject LIKE 'casino %'"


NO_ZONES: Final[tuple[str, ...]] = (
    "",
    "Riga",
    "europe/riga",
    "Europe",
    "Europe/../Europe/Riga",
    "/etc/localtime",
    "localtime",
    "posix/Europe/Riga",
    "EST5EDT,M3.2.0,M11.1.0",
    "UTC+3",
    "<x>3",
    "+03:00",
    "Europe/Riga\x00",
    "\ud800",
    "x" * 10_000,
)


def test_a_zone_that_is_not_the_ianas_is_refused(world: World, subtests: pytest.Subtests) -> None:
    for number, zone in enumerate(NO_ZONES):
        with subtests.test(zone=zone):
            before = world.books.counts()

            with pytest.raises(UnknownZone):
                world.add_casino(f"z{number}", zone=zone)

            assert world.books.counts() == before


def test_a_table_is_added_once_and_never_moves(world: World) -> None:
    world.open()
    world.add_casino("c2")
    same = Table("T1", "c1", "caribbean-stud", "j1")
    before = world.books.counts()

    assert world.transact(lambda s: add_table(s, world.act(), same)) is False
    for moved in (
        Table("T1", "c2", "caribbean-stud", "j1"),
        Table("T1", "c1", "casino-holdem-2-hand", None),
        Table("T1", "c1", "caribbean-stud", None),
    ):
        with pytest.raises(AlreadyExists):
            world.transact(lambda s, moved=moved: add_table(s, world.act(), moved))  # type: ignore[misc]

    assert world.books.counts() == before


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (Table("T9", "c9", "caribbean-stud", None), UnknownCasino),
        (Table("T9", "c1", "caribbean-stud", "j9"), UnknownJackpot),
        (Table("T9", "c1", "baccarat", None), BadGame),
        (Table("T9", "c1", "casino-holdem-2-hand", "j1"), BadGame),
    ],
)
def test_a_table_that_could_not_be_is_refused(world: World, new: Table, error: type[LedgerError]) -> None:
    world.open()
    before = world.books.counts()

    with pytest.raises(error):
        world.transact(lambda s: add_table(s, world.act(), new))

    assert world.books.counts() == before


def test_a_jackpot_starts_with_its_base_amount_of_the_houses_money(world: World) -> None:
    world.open(base_amount="123.456789012345678901")

    assert world.books.pools("j1") == Pools(meter_house=Decimal("123.456789012345678901"))
    assert world.books.balance("j1", "house:seed") == -Decimal("123.456789012345678901")
    assert world.meter()["amount"] == "123.45"


@pytest.mark.parametrize(("rulebook", "amount"), [(LIVE, "0.00"), (CYBER, "10000.00"), (SENECA, "10000.00")])
def test_a_jackpot_starts_with_its_reset_amount_unless_told_otherwise(world: World, rulebook: str, amount: str) -> None:
    world.open(rulebook)

    assert world.meter()["amount"] == amount


def test_a_jackpot_is_opened_once(world: World) -> None:
    world.open()
    before = world.books.counts()

    with pytest.raises(AlreadyExists):
        world.open(tables=())

    assert world.books.counts() == before


NO_JACKPOTS: tuple[tuple[str, str, str | None, dict[str, Setting], type[Exception]], ...] = (
    ("bingo", "EUR", None, {}, UnknownRulebook),
    (LIVE, "XXX", None, {"largest_stake": "1"}, UnknownCurrency),
    (LIVE, "HRK", None, {"largest_stake": "1"}, UnknownCurrency),
    (LIVE, "SEK", None, {}, BadRules),
    (LIVE, "EUR", "-1", {}, BadRules),
    (LIVE, "EUR", "NaN", {}, BadRules),
    (LIVE, "EUR", "1000000000000000", {}, BadRules),
    (LIVE, "EUR", "0.0000000000000000001", {}, BadRules),
    (LIVE, "EUR", "1001", {"limit": "1000"}, BadRules),
    (LIVE, "EUR", None, {"limit": "0"}, BadRules),
    (LIVE, "EUR", None, {"limit": "1e3"}, BadRules),
    (LIVE, "EUR", None, {"reset_amount": "-1"}, BadRules),
    (LIVE, "EUR", None, {"reset_amount": "2", "limit": "1"}, BadRules),
    (LIVE, "EUR", None, {"split.meter": "0.9"}, BadRules),
    (LIVE, "EUR", None, {"split.meter": "0.45001"}, BadRules),
    (LIVE, "EUR", None, {"policy": "minor_first"}, BadRules),
    (LIVE, "EUR", None, {"token": "1"}, BadRules),
    (LIVE, "EUR", None, {"largest_stake.GBP": "1.005"}, BadRules),
    (LIVE, "EUR", None, {"largest_stake.JPY": "1.5"}, BadRules),
    (LIVE, "EUR", None, {"largest_stake.GBP": "0"}, BadRules),
    (LIVE, "EUR", None, {"largest_stake.XXX": "1"}, UnknownCurrency),
    (LIVE, "EUR", None, {"largest_stake.gbp": "1"}, UnknownSetting),
    (LIVE, "EUR", None, {"least_stake": "0"}, BadRules),
    (LIVE, "EUR", None, {"least_stake": "100.01"}, BadRules),
    (CYBER, "EUR", None, {"least_stake": "0.50"}, BadRules),
    (CYBER, "EUR", None, {"largest_stake.GBP": "1"}, BadRules),
    (LIVE, "EUR", None, {"colour": "red"}, UnknownSetting),
    (CYBER, "EUR", None, {"policy": "shared_by_stake"}, BadRules),
    (CYBER, "EUR", None, {"split.prize_fund": "0.1"}, BadRules),
    (CYBER, "EUR", None, {"token": "0.005"}, BadRules),
    (CYBER, "JPY", None, {"token": "1.5"}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": "1000"}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": None}, BadRules),
    (CYBER, "EUR", None, {"limit": held_from("0")}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": held_from("-1")}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": held_from("0.0000000000000000001")}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": held_from("0", approvals=0)}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": held_from("0", approvals=4)}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": held_from("0", Evidence.WITNESS, Evidence.WITNESS)}, BadRules),
    (CYBER, "EUR", None, {"payout_tiers": (PayoutTier(Decimal(0), prizes=(Tier.STRAIGHT,)),)}, BadRules),
)


def test_a_jackpot_that_could_not_run_is_refused(world: World, subtests: pytest.Subtests) -> None:
    for number, (rulebook, base, base_amount, settings, error) in enumerate(NO_JACKPOTS):
        jackpot_id, amount = f"j{number}", base_amount
        with subtests.test(rulebook=rulebook, base=base, amount=amount, settings=settings):
            before = world.books.counts()

            with pytest.raises(error):
                world.open(rulebook, jackpot_id=jackpot_id, base=base, base_amount=amount, settings=settings, tables=())

            assert world.books.counts() == before


def test_of_a_key_only_the_hash_of_its_secret_is_kept(world: World) -> None:
    key = world.key(Role.OPERATOR)
    prefix, key_id, secret = key.split("_", 2)

    (row,) = world.books.rows("SELECT * FROM keys WHERE key_id = :key_id", key_id=key_id)

    assert prefix == "jk"
    assert bytes(row["secret_hash"]) == hash_of(secret)
    assert secret not in str(row)
    assert len(secret) >= 43


def test_every_key_is_another_even_for_the_same_principal(world: World) -> None:
    principal = Principal("server", Role.TABLE, "c1")

    keys = {world.transact(lambda s: create_key(s, world.act(), principal)).whole for _ in range(2)}

    assert len(keys) == len({key.split("_")[1] for key in keys}) == 2
    with pytest.raises(KeyLimitReached):
        world.transact(lambda s: create_key(s, world.act(), principal))
    assert all(world.get("/v1/jackpots", key=key).status == 200 for key in keys)


NO_PRINCIPALS: Final[tuple[tuple[Principal, type[LedgerError]], ...]] = (
    (Principal("p", Role.TABLE), BadPrincipal),
    (Principal("p", Role.OPERATOR, "c1"), BadPrincipal),
    (Principal("p", Role.RATES, "c1"), BadPrincipal),
    (Principal("p", Role.AUDITOR, "c1"), BadPrincipal),
    (Principal("p", Role.FINANCE, "c1", frozenset({"T1"})), BadPrincipal),
    (Principal("p", Role.TABLE, "c9"), UnknownCasino),
    (Principal("p", Role.TABLE, "c1", frozenset({"T9"})), UnknownTable),
    (Principal("p", Role.TABLE, "c2", frozenset({"T1"})), UnknownTable),
)


def test_a_key_that_no_principal_could_use_is_refused(world: World, subtests: pytest.Subtests) -> None:
    world.open()
    world.add_casino("c2")

    for principal, error in NO_PRINCIPALS:
        with subtests.test(principal=principal):
            before = world.books.counts()

            with pytest.raises(error):
                world.transact(partial(create_key, act=world.act(), principal=principal))

            assert world.books.counts() == before


def test_what_an_operator_does_is_in_the_reference_book(world: World) -> None:
    world.open()

    kinds = [row["kind"] for row in world.books.rows("SELECT kind FROM entries WHERE jackpot_id = '-' ORDER BY seq")]

    assert kinds == [
        "casino_added",
        "rates_published",
        "principal_added",
        "key_created",
        "principal_added",
        "key_created",
        "jackpot_opened",
        "table_added",
    ]
