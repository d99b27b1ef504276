"""Rates of a central bank: a document becomes a change request, which another person decides."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api import change_refusals
from jackpot_service.api.changes import DECIDERS, ChangeSchema, DryRunQuerySchema, answered
from jackpot_service.api.ecb_service import fetch_document
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act_or_rehearse, context, signed
from jackpot_service.api.schemas import AnswerSchema, RequestSchema, SortedTexts
from jackpot_service.auth.authenticator import allow
from jackpot_service.usecases.ecb_documents import LARGEST_DOCUMENT, PIVOT
from jackpot_service.usecases.fields import Base64, CurrencyCode, Identifier, Text, Truth
from jackpot_service.usecases.import_rates import ImportRates, RatesImported, import_rates

blueprint = Blueprint(
    "rate-imports",
    __name__,
    url_prefix="/v1/rate-imports",
    description="The ECB's daily reference rates, requested as a change that another user decides.",
)


class RateImportSchema(RequestSchema):
    """The document of a day's reference rates, and the base currency whose sheet it shall change."""

    base = CurrencyCode(load_default=PIVOT)
    document = Base64(
        most=LARGEST_DOCUMENT,
        load_default=None,
        metadata={
            "description": "The bytes of the ECB's eurofxref-daily.xml. Without it the service fetches the document, "
            "if it has its address."
        },
    )
    all_currencies = Truth(
        load_default=False,
        metadata={
            "description": "Also currencies that the sheet in force does not have. A sheet opens each of its "
            "currencies to bets."
        },
    )
    request_id = Identifier(
        load_default=None,
        metadata={"description": "Without it `ecb-BASE-DAY`, so that a document is requested once."},
    )
    reason = Text(load_default=None, metadata={"description": "Without it the document and its day."})


class RateImportedSchema(AnswerSchema):
    """The change request of a document."""

    change = fields.Nested(ChangeSchema(), required=True)
    unquoted = SortedTexts(
        required=True,
        metadata={"description": "Currencies in force that the document does not quote. They keep their rates."},
    )


@blueprint.route("", methods=["POST"])
@allow(*DECIDERS)
@refused_with(
    *change_refusals.OF_REQUESTS,
    "document-dated-ahead",
    "document-invalid",
    "document-unavailable",
    "not-quoted",
    "nothing-to-propose",
)
@blueprint.arguments(DryRunQuerySchema(), location="query")
@blueprint.arguments(RateImportSchema())
@blueprint.response(201, RateImportedSchema(), description="It waits for another user.")
@blueprint.alt_response(
    200, schema=RateImportedSchema(), description="The document was brought before, by anybody, or this is a dry run."
)
def post_rate_import(query: Mapping[str, Any], body: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
    """
    Request the change of rates that the ECB's document of a day asks for. It puts nothing in force.

    A rate is the quotient of two quotes, rounded to 10 decimals, half to even. Currencies that the document does not
    quote keep their rates. The same document again changes nothing. Another document under the same id is 409
    `request-conflict`. With `dry_run=true` nothing is recorded, and the answer shows what approving it would do.
    """
    is_dry_run = query["dry_run"]
    imported = request_import(body, is_dry_run=is_dry_run)
    change = answered(imported.requested, is_dry_run=is_dry_run)
    is_new = not (is_dry_run or imported.requested.is_replay)
    return {"change": change, "unquoted": imported.unquoted}, 201 if is_new else 200


def request_import(body: Mapping[str, Any], *, is_dry_run: bool) -> RatesImported:
    """Do what a body asks for, as `RateImportSchema` reads it. Raises: as `import_rates`; DocumentUnavailable."""
    document = body["document"]
    if document is None:
        document = fetch_document(context().config.ecb_url)
    command = ImportRates(
        signed(body), body["base"], document, body["all_currencies"], rate_band=context().config.rate_band
    )
    return act_or_rehearse(lambda session: import_rates(session, command), dry_run=is_dry_run)
