"""An award as one reads it: its calculation, what it waits for, its history, its payments, and what one may do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.request_context import look, now, principal
from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import Change
from jackpot_service.domain.payments import Channel
from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.pages.access import people
from jackpot_service.pages.award_history import history_of
from jackpot_service.pages.award_rights import rights_of
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.cards import shown_cards
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.inbox import READERS
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.pages.shown_awards import ShownAward, calculation, how_winners_share
from jackpot_service.records import acts, awards, change_inbox, slips
from jackpot_service.records.acts import RecordedAct
from jackpot_service.records.awards import AwardRecord
from jackpot_service.reports.award_basis import basis_of
from jackpot_service.usecases.changes.held_awards import DecideAwards
from jackpot_service.usecases.record_evidence import evidence_of

DONE: Final[Mapping[str, str]] = {
    "stopped": "The payment is stopped. Two people release it.",
    "evidence": "The evidence is recorded.",
    "paid": "The payment is recorded.",
}
"""The sentence after an act, by the word in the address."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A form of the page that was refused: which, as it was typed, what is wrong at which field, and in a sentence."""

    form: str
    typed: Mapping[str, str]
    errors: Mapping[str, str] = field(default_factory=dict)
    alert: str = ""
    status: int = HTTPStatus.UNPROCESSABLE_ENTITY


@blueprint.route("/awards/<id:award_id>", methods=["GET"])
@people(*WATCHERS)
def show_award(award_id: str) -> Response:
    """Show an award. Raises: UnknownAward, also for another casino's."""
    return award_page(award_id)


def award_page(award_id: str, refusal: Refusal | None = None) -> Response:
    """Make the page of an award, with a form that was refused as it was typed. Raises: UnknownAward."""
    html = flask.render_template(
        "award.html",
        **look(lambda session: _values(session, award_id)),
        refusal=refusal,
        done=DONE.get(flask.request.args.get("done", ""), "") if refusal is None else "",
        request_id=new_request_id(),
        channels=[channel.value for channel in Channel],
        kinds_of_evidence=[kind.value for kind in Evidence],
    )
    return flask.Response(html, HTTPStatus.OK if refusal is None else refusal.status)


def _values(session: Session, award_id: str) -> Mapping[str, Any]:
    at, person = now(), principal()
    record = awards.visible(session, person, award_id)
    made_of = basis_of(session, record)
    evidence = evidence_of(session, person, record.table_id, record.round_id)
    of_house = person.casino_id is None
    acts_by_seq = _acts(session, record)
    return {
        "shown": ShownAward(record, at),
        "record": record,
        "award": record.award,
        "at": at,
        "made_of": made_of,
        "rate": made_of.rate,
        "base": made_of.base,
        "cards_of_hand": shown_cards(made_of.cards),
        "calculation": list(calculation(record, made_of)),
        "how_winners_share": how_winners_share(made_of),
        "evidence": evidence,
        "rights": rights_of(session, record, evidence, person, is_tier_reached=made_of.is_tier_reached, at=at),
        "acts": acts_by_seq,
        "history": history_of(record, acts_by_seq),
        "prints": slips.prints_of(session, record),
        "requests": _requests(session, record) if of_house and person.role in READERS else (),
        "knows_people": of_house,
    }


def _acts(session: Session, record: AwardRecord) -> Mapping[int, RecordedAct]:
    """The acts by which the award took its steps, was paid, or a payment of it was reversed, by seq."""
    seqs = {step.act_seq for step in record.steps} | {payment.act_seq for payment in record.payments}
    seqs |= {payment.reversed_by for payment in record.payments}
    return {act.seq: act for act in acts.acts_of(session, sorted(seq for seq in seqs if seq is not None))}


def _requests(session: Session, record: AwardRecord) -> Sequence[Change]:
    """The changes of awards of the round that wait for people."""
    return change_inbox.pending_of_round(
        session,
        DecideAwards.name,
        jackpot_id=record.jackpot_id,
        table_id=record.table_id,
        round_id=record.round_id,
        at=now(),
    )
