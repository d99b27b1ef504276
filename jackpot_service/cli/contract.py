"""`jackpot openapi`: the contract, and the pages of errors and of mismatches, as files of the checkout."""

from pathlib import Path
from typing import Final

import click

from jackpot_service.api.problem_catalogue import text
from jackpot_service.app import create_app, openapi_text
from jackpot_service.cli import mismatch_page, problem_rows
from jackpot_service.cli.lazy import example
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine

OPENAPI_FILE: Final = Path("openapi.yaml")
ERRORS_FILE: Final = Path("docs", "errors.md")
MISMATCHES_FILE: Final = Path("docs", "mismatches.md")


@example("jackpot openapi", "jackpot openapi --check")
@click.command("openapi")
@click.option("--check", is_flag=True, help="Only check that the files are what the service would write.")
def openapi(*, check: bool) -> None:
    """Write openapi.yaml, docs/errors.md and docs/mismatches.md from the schemas and catalogues of the service."""
    config = Config()
    written = {
        OPENAPI_FILE: openapi_text(create_app(config, create_engine(config, "postgresql+psycopg://"))),
        ERRORS_FILE: text.page(problem_rows.ROWS),
        MISMATCHES_FILE: mismatch_page.page(),
    }
    for file, content in written.items():
        if not check:
            file.write_text(content, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != content:
            message = f"{file} is not what the service would write; run: jackpot openapi"
            raise click.ClickException(message)
