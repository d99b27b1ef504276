"""`jackpot login|logout|completion`: signing in, and completing commands in a shell."""

import click

from jackpot_service.cli import address, sign_in
from jackpot_service.cli.lazy import example
from jackpot_service.cli.service_api import at, called, printable

SHELLS = ("bash", "zsh", "fish")

VARIABLE = "_JACKPOT_COMPLETE"


@example("JACKPOT_URL=https://ledger.example jackpot login")
@click.command("login")
def login() -> None:
    """
    Sign in with the issuer of the service: confirm a code in a browser, on any machine.

    The token is kept for you alone, for this address of the service, and renewed while the issuer allows it.
    While JACKPOT_KEY is set, the key is used instead.
    """
    url = address.service_url()
    about = called(url, None).get(at("service"))
    signed_in = sign_in.sign_in(url, about, lambda message: click.echo(printable(message), err=True))
    name = called(url, signed_in.token).get(at("me"))["principal"]
    sign_in.keep(url, signed_in)
    click.echo(printable(f"Signed in at {url} as {name}."), err=True)
    if address.own_key() is not None:
        click.echo(f"{address.KEY_VARIABLE} is set, and is used instead: unset it.", err=True)


@example("jackpot logout")
@click.command("logout")
def logout() -> None:
    """Forget your sign-in at the service."""
    url = address.service_url()
    click.echo(f"Signed out of {url}." if sign_in.sign_out(url) else f"You were not signed in at {url}.", err=True)


@example(
    'eval "$(jackpot completion bash)"                        # in ~/.bashrc',
    'jackpot completion zsh > "${fpath[1]}/_jackpot"',
    "jackpot completion fish > ~/.config/fish/completions/jackpot.fish",
)
@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script by which a shell completes commands and options."""
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    of_shell = get_completion_class(shell)
    root = context.find_root()
    assert of_shell is not None  # noqa: S101  one of click's own
    click.echo(of_shell(root.command, {}, root.info_name or "jackpot", VARIABLE).source())
