"""Groups whose commands are imported when one of them is run, so that none waits for what others need."""

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

C = TypeVar("C", bound=click.Command)


@dataclass(frozen=True, slots=True)
class Lazy:
    """
    A command that is imported when it is run: `place` is `module:attribute` below `jackpot_service.cli`.

    `help` is its help in a line, where it is listed, and `section` the heading that it stands under.
    """

    place: str
    help: str
    section: str = "Commands"


LONGEST_SENTENCE: Final = 1000


class Group(click.Group):
    """A group that lists its commands by the first sentences of their helps, none of them cut."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, command.get_short_help_str(LONGEST_SENTENCE)) for name, command in commands.items() if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class LazyGroup(click.Group):
    """A group that lists its commands by a table, and imports the one that is asked for."""

    def __init__(self, *args: Any, lazily: Mapping[str, Lazy], **kwargs: Any) -> None:  # noqa: ANN401  click's
        super().__init__(*args, **kwargs)
        self.lazily = lazily

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's
        """Name every command, in the order of the table."""
        return list(self.lazily)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's
        """Import a command; None if there is no such."""
        if cmd_name not in self.lazily:
            return None
        module, _, attribute = self.lazily[cmd_name].place.partition(":")
        gc.disable()  # Imports stay: to look through it again and again would take a fifth of the time.
        try:
            command: click.Command = getattr(import_module(f"jackpot_service.cli.{module}"), attribute)
        finally:
            gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  click's
        """List the commands by section, without importing one."""
        for section, rows in self._sections():
            with formatter.section(section):
                formatter.write_dl(rows)

    def _sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        for section, commands in groupby(self.lazily.items(), key=lambda item: item[1].section):
            yield section, [(name, lazy.help) for name, lazy in commands]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command by the table, or else an option."""
        named = [
            CompletionItem(name, help=lazy.help) for name, lazy in self.lazily.items() if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]


def example(*lines: str) -> Callable[[C], C]:
    """Show examples at the end of a command's help."""

    def show(command: C) -> C:
        command.epilog = "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
        return command

    return show
