"""`jackpot passkeys …`: the passkeys of people, listed and revoked. A browser registers them."""

import click

from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import Identifier, list_options, reason_option, request_id_option
from jackpot_service.cli.printing import Column, Form, moment, print_list, second, text
from jackpot_service.cli.service_api import at, configured

PASSKEYS = (
    text("passkey", "passkey_id"),
    text("person", "principal"),
    text("name", "name"),
    text("domain", "rp_id"),
    moment("registered at", "registered_at"),
    moment("last used", "last_used_at"),
    Column("state", lambda passkey: f"revoked {second(passkey['revoked_at'])}" if passkey["revoked_at"] else "live"),
)


@click.group("passkeys", cls=Group)
def passkeys() -> None:
    """Passkeys of people: list and revoke them."""


@example("jackpot passkeys list", "jackpot passkeys list --person Ann")
@passkeys.command("list")
@click.option("--person", "principal", help="Their name. Default: all people, or yourself where you see no others.")
@list_options
def list_passkeys(principal: str | None, limit: int | None, form: Form | None) -> None:
    """List passkeys, revoked ones too, the latest first."""
    print_list(configured(), at("passkeys"), {"principal": principal}, PASSKEYS, form=form, limit=limit)


@example('jackpot passkeys revoke defeff66d2cfc14d --reason "it was lost"')
@passkeys.command("revoke")
@click.argument("passkey_id", type=Identifier())
@reason_option
@request_id_option
def revoke_passkey(passkey_id: str, reason: str, request_id: str) -> None:
    """Revoke a passkey, for good: your own, or as an operator anybody's. An operator revokes somebody's last one."""
    path = at("passkeys", passkey_id, "revocation")
    passkey, done = configured().act("POST", path, {"reason": reason, "request_id": request_id})
    outcome = done.phrase(
        now="is revoked", before="was revoked before, by this request", unsure="is revoked, by this request"
    )
    click.echo(f"Passkey {passkey_id} of {passkey['principal']} {outcome}.", err=True)
