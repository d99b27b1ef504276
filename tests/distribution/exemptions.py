"""
Statements that break a rule of distribution, each with the reason why it may.

Each was answered by Citus too, in the story that is told here: it goes to every machine, or in parts to several. A
statement of the write path may not stand here, and one of a report is about one jackpot, or in parts that are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.support.distributable import Breach, Rule


@dataclass(frozen=True, slots=True)
class Exemption:
    """
    What some statements may break: those whose text holds these words, with one space wherever there is any.

    `breaks` names, for each rule, what it is broken by: tables, or how many jackpots.
    """

    words: str
    why: str
    breaks: Mapping[Rule, str]

    def covers(self, text: str, breach: Breach) -> bool:
        """Whether a statement may break a rule so."""
        return self.words in flat(text) and breach in self.breaches

    @property
    def breaches(self) -> frozenset[Breach]:
        return frozenset(
            Breach(rule, what)
            for rule, listed in self.breaks.items()
            for what in ([listed] if rule is Rule.ONE_JACKPOT else listed.split())
        )


def flat(text: str) -> str:
    """The text with one space wherever there is any."""
    return " ".join(text.split())


_FEED: Final = "The feed has one order over all jackpots: how far each goes is read of all at one instant."
_ALL_JACKPOTS: Final = "It is about all jackpots on purpose: each machine answers for its own, and no bet waits for it."
_LIST: Final = (
    "A list for people, over all jackpots unless one is asked for. It follows an award, or a round, from table to "
    "table; where a jackpot is named at its first level, the others take it from there."
)
_PROOF: Final = "The proof reads whatever rows there are, also of jackpots that nobody opened. No bet waits for it."
_IN_PARTS: Final = (
    "It holds a jackpot's rows against acts, which are entries of the reference book. Each part that reads one of the "
    "two is MATERIALIZED, and answered by itself."
)
_VERDICTS: Final = "A caller names the jackpot. Its results and corrections stand together, and take it from there."
_KEYS: Final = (
    "Who made a key, and when, is an entry of the reference book. Keys are few, and asked about by administrators and "
    "by the proof; whoever sends a bet is found without that entry."
)

VIEWS: Final[Mapping[str, str]] = {
    "award_records": _LIST,
    "verdict_days": _VERDICTS,
}
"""Views that follow a row from one distributed table to another, each with a reason."""

FUNCTIONS: Final[Mapping[str, Mapping[Rule, str]]] = {
    # Keys of a round are held against the acts that made them, which are entries of the reference book.
    "is_key_maker_on_both_sides": {Rule.ONE_JACKPOT: "2 jackpots", Rule.MIXED: "keys"},
}
"""Functions in SQL whose bodies break a rule, each with a reason."""

PROCEDURES: Final[Mapping[str, str]] = {
    # Acts are rows of every machine; their entries are those of the reference book.
    "require_actor": "entries",
    "require_own_passkey": "entries",
    "require_payer": "entries",
    "require_revoker": "entries",
    # An award with its round and its bet, its steps and its payments, by the jackpot of the new row.
    "keep_open_award": "award_steps awards open_awards payments rounds",
    "open_new_awards": "awards open_awards rounds",
    "require_no_payment": "payments",
    "require_unpaid": "award_steps awards bets payments rounds",
    # A change request and its approval are rows of every machine; the round is found by its ids.
    "require_no_key_maker": "rounds",
}
"""Functions in PL/pgSQL that name distributed tables, which the checker does not read, each with a reason."""

EXEMPTIONS: Final = (
    # The feed of events.
    Exemption(
        "array_agg(seq ORDER BY stripe_no), pg_is_in_recovery() FROM stripes",
        _FEED,
        {Rule.UNRESTRICTED: "stripes"},
    ),
    # Lists.
    Exemption(
        "SELECT award_records.jackpot_id, award_records.round_key",
        _LIST,
        {Rule.UNRESTRICTED: "award_records"},
    ),
    Exemption(
        "WITH taken AS MATERIALIZED (SELECT award_steps.jackpot_id",
        _LIST,
        {Rule.UNRESTRICTED: "award_steps"},
    ),
    # What there is to do, over all jackpots unless one is asked for.
    Exemption(
        "FROM passkeys JOIN entries",
        "A person has few passkeys. When each was used last is of this machine, and is to be asked by itself.",
        {Rule.MIXED: "passkey_uses"},
    ),
    Exemption("FROM open_awards", _LIST, {Rule.UNRESTRICTED: "open_awards"}),
    Exemption(
        "SELECT b.jackpot_id, b.round_key, b.bet_id, b.step, b.player_id, b.hand",
        _LIST,
        {Rule.UNRESTRICTED: "bets rounds"},
    ),
    Exemption(
        "SELECT DISTINCT b.round_key, b.jackpot_id FROM bets b",
        _LIST,
        {Rule.UNRESTRICTED: "bets rounds"},
    ),
    Exemption(
        "WITH played AS MATERIALIZED (SELECT bets.jackpot_id",
        _LIST,
        {Rule.UNRESTRICTED: "bets"},
    ),
    Exemption(
        "FROM rounds WHERE rounds.state IN ('open', 'closed') AND rounds.round_key <",
        _LIST,
        {Rule.UNRESTRICTED: "rounds"},
    ),
    Exemption("FROM keys JOIN principals ON", _KEYS, {Rule.MIXED: "keys"}),
    Exemption(
        "SELECT keys.principal, entries.principal AS principal_1, entries.received_at",
        _KEYS,
        {Rule.MIXED: "keys"},
    ),
    # What watches over all jackpots.
    Exemption(
        "FROM jackpots JOIN (SELECT cycles.jackpot_id AS jackpot_id, max(cycles.cycle) AS cycle",
        _ALL_JACKPOTS,
        {Rule.UNRESTRICTED: "cycles"},
    ),
    Exemption(
        "SELECT stripes.jackpot_id, stripes.stripe_no, stripes.seq",
        _ALL_JACKPOTS,
        {Rule.UNRESTRICTED: "stripes"},
    ),
    Exemption(
        "SELECT stripes.jackpot_id, min(stripes.booked_at)",
        _ALL_JACKPOTS,
        {Rule.UNRESTRICTED: "stripes"},
    ),
    Exemption(
        "sum(stripes.meter_players + stripes.meter_house)",
        _ALL_JACKPOTS,
        {Rule.UNRESTRICTED: "stripes"},
    ),
    Exemption(
        "FROM stripes LEFT JOIN LATERAL ( SELECT day, eighth, ends FROM reconciled_days",
        _ALL_JACKPOTS,
        {Rule.UNRESTRICTED: "entries reconciled_days stripes"},
    ),
    # The proof.
    Exemption(
        "AS name, min(stripes.jackpot_id) AS book FROM stripes",
        _PROOF,
        {
            Rule.UNRESTRICTED: "award_steps awards bets compensations corrections cycles days entries "
            "past_days payments reconciled_days rounds statement_settlements stripes voids"
        },
    ),
    Exemption("SELECT sealed.number, s.seq, e.head", _PROOF, {Rule.UNRESTRICTED: "entries stripes"}),
    Exemption(
        "FROM jsonb_path_query(entries.facts, CAST(",
        _PROOF,
        {Rule.UNRESTRICTED: "awards"},
    ),
    # Payments come to their awards.
    Exemption(
        "WITH due AS ( SELECT s.act_seq AS seq, r.casino_id, r.table_id", _IN_PARTS, {Rule.ONE_JACKPOT: "2 jackpots"}
    ),
    # Reports.
    Exemption(
        "WITH long_lived AS MATERIALIZED ( SELECT jackpot_id, round_key, stripe_no, seq FROM",
        _IN_PARTS,
        {Rule.UNRESTRICTED: "entries", Rule.ONE_JACKPOT: "2 jackpots"},
    ),
    Exemption(
        "WITH made AS MATERIALIZED ( SELECT * FROM verdicts_between(",
        _IN_PARTS,
        {Rule.ONE_JACKPOT: "2 jackpots"},
    ),
)
