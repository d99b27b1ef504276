"""
Statements that break a rule of distribution, each with the reason why it may.

Before the tables are distributed each of these is split, or asked of each jackpot by itself, or planned for by whoever
distributes them. A statement of the write path may not stand here.
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


_FEED: Final = (
    "The feed has one order over all jackpots: a page holds entries of several, and each question about them names all "
    "of them at once. Asked of each jackpot by itself, a page would be several questions, in one round trip."
)
_ALL_JACKPOTS: Final = "It is about all jackpots on purpose: each machine answers for its own, and no bet waits for it."
_LIST: Final = (
    "A list for people, over all jackpots unless one is asked for. It follows an award, or a round, from table to "
    "table; where a jackpot is named at its first level, the others take it from there."
)
_REPORT: Final = (
    "A report of one jackpot, which names it where it begins to read, and follows rows from table to table by their "
    "columns. A planner that knows of the distribution sees that these are equal; no bet waits for a report."
)
_PROOF: Final = "The proof reads whatever rows there are, also of jackpots that nobody opened. No bet waits for it."
_TWO_BOOKS: Final = (
    "It holds a jackpot's rows against acts, which are entries of the reference book. It is to be split in two, or to "
    "read copies of those entries, before they are distributed."
)
_KEYS: Final = (
    "Who made a key, and when, is an entry of the reference book. Keys are few, and asked about by administrators and "
    "by the proof; whoever sends a bet is found without that entry."
)

VIEWS: Final[Mapping[str, str]] = {
    "award_records": _LIST,
    "verdict_days": _TWO_BOOKS,
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
    "require_checker": "rounds",
}
"""Functions in PL/pgSQL that name distributed tables, which the checker does not read, each with a reason."""

EXEMPTIONS: Final = (
    # The feed of events.
    Exemption(
        "array_agg(seq ORDER BY stripe_no), pg_is_in_recovery() FROM stripes",
        _FEED,
        {Rule.UNRESTRICTED: "stripes"},
    ),
    Exemption(
        "AS w (book, stripe_no, after, upto) CROSS JOIN LATERAL",
        _FEED,
        {Rule.UNRESTRICTED: "entries rounds"},
    ),
    Exemption(
        "AS k (book, round_key",
        _FEED,
        {Rule.UNRESTRICTED: "award_steps awards bets rounds"},
    ),
    Exemption(
        "AS k (book, stripe_no, seq) CROSS JOIN LATERAL",
        _FEED,
        {Rule.UNRESTRICTED: "cycles entries"},
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
    Exemption(
        "WITH open AS MATERIALIZED (SELECT open_awards.jackpot_id",
        _LIST,
        {Rule.UNRESTRICTED: "award_records open_awards"},
    ),
    # What there is to do, over all jackpots unless one is asked for.
    Exemption(
        "FROM passkeys JOIN entries",
        "A person has few passkeys. When each was used last is of this machine, and is to be asked by itself.",
        {Rule.MIXED: "passkey_uses"},
    ),
    Exemption("FROM open_awards", _LIST, {Rule.UNRESTRICTED: "open_awards"}),
    Exemption(
        "SELECT found.*, entry.received_at, entry.booked_at, void.bet_id IS NOT NULL",
        _LIST,
        {Rule.UNRESTRICTED: "bets entries rounds voids"},
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
        "FROM jackpots JOIN cycles ON cycles.jackpot_id = jackpots.jackpot_id AND cycles.cycle = (SELECT max(",
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
        "FROM jackpots LEFT JOIN LATERAL ( SELECT day, eighth, ends FROM reconciled_days",
        _ALL_JACKPOTS,
        {Rule.UNRESTRICTED: "entries reconciled_days stripes"},
    ),
    # The proof.
    Exemption(
        "WITH RECURSIVE different_stripes(value) AS",
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
    Exemption(
        "WITH due AS ( SELECT s.act_seq AS seq, r.casino_id, r.table_id",
        _TWO_BOOKS,
        {Rule.UNRESTRICTED: "awards rounds verdict_days", Rule.ONE_JACKPOT: "2 jackpots"},
    ),
    # Payments and decisions: on which day an award was made.
    Exemption(
        "SELECT 0, (e.booked_at AT TIME ZONE 'UTC')::date FROM entries e",
        _TWO_BOOKS,
        {Rule.ONE_JACKPOT: "2 jackpots"},
    ),
    # Reports.
    Exemption(
        "effects_of_acts(",
        _REPORT,
        {Rule.UNRESTRICTED: "award_steps awards cycles entries rounds"},
    ),
    Exemption(
        "SELECT v.version, e.booked_at, request.maker AS requested_by",
        _REPORT,
        {Rule.UNRESTRICTED: "cycles entries"},
    ),
    Exemption(
        "s.cycle, e.stripe_no, e.seq, c.cut, e.received_at",
        _REPORT,
        {Rule.UNRESTRICTED: "awards cycles entries rounds settlements"},
    ),
    Exemption(
        "SELECT a.bet_id, b.player_id, b.hand, array_to_string(h.cards, ' ')",
        _REPORT,
        {Rule.UNRESTRICTED: "bets hands"},
    ),
    Exemption(
        "WITH held AS MATERIALIZED ( SELECT * FROM award_steps",
        _REPORT,
        {Rule.UNRESTRICTED: "award_steps awards entries rounds"},
    ),
    Exemption(
        "SELECT rules_version, casino_id, currency, sum(stakes), sum(stakes * rate) FROM",
        _REPORT,
        {Rule.UNRESTRICTED: "bets rounds"},
    ),
    Exemption(
        "SELECT r.casino_id, a.currency, a.funded_by, t.step, sum(",
        _REPORT,
        {Rule.UNRESTRICTED: "award_steps awards rounds"},
    ),
    Exemption(
        "WITH long_lived AS MATERIALIZED ( SELECT jackpot_id, round_key, stripe_no, seq FROM",
        _TWO_BOOKS,
        {Rule.UNRESTRICTED: "bets entries voids", Rule.ONE_JACKPOT: "2 jackpots"},
    ),
    Exemption(
        "WITH made AS MATERIALIZED ( SELECT * FROM verdicts_between(",
        _TWO_BOOKS,
        {Rule.UNRESTRICTED: "bets rounds", Rule.ONE_JACKPOT: "2 jackpots"},
    ),
)
