"""
`jackpot keys|people|users …`: the keys of people and service accounts, and users who show tokens.

A key that could request or approve changes is made by its owner, who rotates it, or by the owner of the database
(`jackpot db key`).
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import click

from jackpot_service.cli import words
from jackpot_service.cli.lazy import Group, example
from jackpot_service.cli.options import (
    Identifier,
    casino_option,
    department_option,
    form_options,
    json_option,
    list_options,
    reason_option,
    request_id_option,
)
from jackpot_service.cli.printing import (
    Column,
    Form,
    count,
    fields,
    moment,
    print_items,
    print_list,
    print_one,
    second,
    table,
    text,
    titled,
)
from jackpot_service.cli.service_api import Item, Service, ServiceError, at, configured


def _kind(key: Item) -> str:
    return "service account" if key["is_service_account"] else "user"


def _end(key: Item) -> str:
    return f"revoked {second(key['revoked_at'])}" if key["revoked_at"] else "live"


OWNER = (
    text("name", "principal"),
    text("role", "role"),
    Column("kind", _kind),
    text("department", "department"),
    text("casino", "casino_id"),
)

KEYS = (
    text("key", "key_id"),
    *OWNER,
    text("tables", "table_ids"),
    moment("since", "created_at"),
    moment("last used", "last_used_at"),
    Column("state", _end),
    text("subject", "subject"),
)

OF_ONE = (
    text("key", "key_id"),
    text("tables", "table_ids"),
    moment("since", "created_at"),
    moment("last used", "last_used_at"),
    Column("state", _end),
    text("subject", "subject"),
)

ME = tuple(
    text(name.replace("_", " "), name)
    for name in (
        *("principal", "role", "casino_id", "department"),
        *("table_ids", "is_service_account", "requests", "decides"),
    )
)

PEOPLE = (*OWNER, count("live keys", "live_keys"), moment("since", "created_at"), moment("last used", "last_used_at"))


@click.group("keys", cls=Group)
def keys() -> None:
    """Keys of people and service accounts."""


@example('jackpot keys create --role table --casino riga --name "table server" --reason opening')
@keys.command("create")
@click.option("--role", type=click.Choice(words.ROLES), required=True)
@casino_option
@department_option
@click.option("--table", "table_ids", type=Identifier(), multiple=True, help="Bind a table server's key to tables.")
@click.option(
    "--name",
    "principal",
    required=True,
    help="The owner: one name, one user or service account, at most two live keys.",
)
@click.option("--service-account", is_flag=True, help="No user stands behind it: it approves nothing.")
@reason_option
@request_id_option
def create_key(table_ids: tuple[str, ...], **stated: Any) -> None:  # noqa: ANN401  as click passes them
    """
    Create a key. It alone is printed, on standard output, and never again.

    The owner of the database makes the keys of others who request or approve changes: jackpot db key.
    """
    body = {name: value for name, value in stated.items() if value is not None}
    created = configured().post(at("keys"), {**body, "table_ids": table_ids})
    if created["key"] is None:
        key_id = created["key_id"]
        click.echo(f"Key {key_id} was created by this request before.", err=True)
        click.echo(f"If you did not see it, revoke it: jackpot keys revoke {key_id} --reason …", err=True)
        return
    click.echo(f"A key of role {created['role']} for {created['principal']}. It is shown once: keep it.", err=True)
    click.echo(created["key"])


@example("jackpot keys list")
@keys.command("list")
@list_options
def list_keys(limit: int | None, form: Form | None) -> None:
    """List all keys by name, revoked ones too. No secret is shown."""
    print_list(configured(), at("keys"), {}, KEYS, form=form, limit=limit)


@example('jackpot keys revoke 0123456789abcdef --reason "it was lost"')
@keys.command("revoke")
@click.argument("key_id", type=Identifier())
@reason_option
@request_id_option
def revoke_key(key_id: str, reason: str, request_id: str) -> None:
    """Revoke a key, for good: every process refuses it within 15 seconds."""
    done = configured().post(at("keys", key_id, "revocation"), {"reason": reason, "request_id": request_id})
    click.echo(f"Key {key_id} of {done['principal']} is revoked.", err=True)


@example('jackpot keys sign-out 0123456789abcdef --reason "a notebook was lost"')
@keys.command("sign-out")
@click.argument("key_id", type=Identifier())
@click.option("--reason", required=True, help="Why; it stands in the log.")
def sign_out_owner(key_id: str, reason: str) -> None:
    """
    Sign the owner of a key out of the pages everywhere, however they signed in. Their keys stay in force.

    They can sign in again; jackpot keys revoke keeps them out.
    """
    done = configured().post(at("keys", key_id, "sign-out"), {"reason": reason})
    click.echo(f"{done['principal']} is signed out of the pages; sessions ended: {done['sessions']:,}.", err=True)


@click.group("people", cls=Group)
def people() -> None:
    """People and service accounts: who there is, with which role and which keys."""


@example("jackpot people list")
@people.command("list")
@form_options
def list_people(form: Form | None) -> None:
    """List the people and service accounts, by name."""
    service = configured()
    answer = [person for person, _ in _people(service.items(at("keys")))]
    print_items(answer, PEOPLE, form=form)


@example("jackpot people show Ann")
@people.command("show")
@click.argument("name")
@json_option
def show_person(name: str, is_json: bool) -> None:  # noqa: FBT001
    """Show somebody with all their keys."""
    service = configured()
    answer = {person["principal"]: (person, own) for person, own in _people(service.items(at("keys")))}
    if name not in answer:
        raise ServiceError(f"key-unknown: there is nobody named {name} with a key")
    person, own = answer[name]
    print_one({**person, "keys": own}, lambda: _person(person, own), is_json=is_json)


def _person(person: Item, own: Iterable[Item]) -> Iterator[str]:
    yield from fields(titled(PEOPLE, person))
    yield ""
    yield from table(OF_ONE, own, indent="  ")


def _people(listed: Iterable[Item]) -> Iterator[tuple[Item, list[Item]]]:
    """Yield each principal with its keys, which are listed by name."""
    for name, of_one in groupby(
        sorted(listed, key=lambda key: str(key["principal"])), key=lambda key: key["principal"]
    ):
        own = list(of_one)
        used = [key["last_used_at"] for key in own if key["last_used_at"]]
        members = ("role", "is_service_account", "department", "casino_id")
        yield (
            {
                "principal": name,
                **{member: own[0][member] for member in members},
                "live_keys": sum(key["revoked_at"] is None for key in own),
                "created_at": min(key["created_at"] for key in own),
                "last_used_at": max(used, default=None),
            },
            own,
        )


@click.group("users", cls=Group)
def users() -> None:
    """Users who show tokens of an issuer (JACKPOT_OIDC_ISSUER) instead of keys."""


@example('jackpot users add "the inspector" --role auditor --oidc-subject 8c1d --reason inspection')
@users.command("add")
@click.argument("principal", metavar="NAME")
@click.option("--role", type=click.Choice(words.ROLES_OF_PEOPLE), required=True)
@casino_option
@department_option
@click.option("--oidc-subject", "subject", required=True, help="The `sub` of their tokens.")
@reason_option
@request_id_option
def add_user(**stated: Any) -> None:  # noqa: ANN401  as click passes them
    """
    Let somebody who signs in with the issuer act as NAME. They are listed among the keys, and revoked as a key is.

    The owner of the database adds those who request or approve changes: jackpot db user.
    """
    body = {name: value for name, value in stated.items() if value is not None}
    answer, done = configured().act("POST", at("users"), body)
    click.echo(f"{answer['principal']}: {done.added()}.", err=True)


@example("jackpot whoami")
@click.command("whoami")
@json_option
def whoami(is_json: bool) -> None:  # noqa: FBT001
    """Show who you are to the service: your name, role, and which changes you may request and decide."""
    service: Service = configured()
    answer = service.get(at("me"))
    lines = list(fields(titled(ME, answer)))  # Also before JSON: somebody else may have answered.
    print_one(answer, lambda: lines, is_json=is_json)
