"""The version after this one, made from this one: the same code, with revisions of the schema more."""

import re
import shutil
from io import StringIO
from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory

import jackpot_service
from jackpot_service.schema import migrate

REVISION = '''
"""A revision of a version to come."""

from alembic import op

revision: str = "{number}"
down_revision: str | None = "{before}"
{compatible_from}

def upgrade() -> None:
    op.execute("""{up}""")


def downgrade() -> None:
    op.execute("""{down}""")
'''

ADDS = "ALTER TABLE bets ADD COLUMN remark TEXT; CREATE TABLE remarks (remark TEXT PRIMARY KEY)"
TAKES_BACK = "DROP TABLE remarks; ALTER TABLE bets DROP COLUMN remark"

THIS = ScriptDirectory(str(migrate.SCRIPTS)).get_current_head() or ""


def add_revision(
    scripts: Path, number: str, *, before: str = THIS, since: str | None = THIS, up: str = ADDS, down: str = TAKES_BACK
) -> None:
    """Add a revision to a directory of them; it is compatible with services of `since`, or says nothing of that."""
    compatible_from = "" if since is None else f'compatible_from: str = "{since}"'
    text = REVISION.format(number=number, before=before, compatible_from=compatible_from, up=up, down=down)
    (scripts / "versions" / f"{number}_of_a_test.py").write_text(text)


def scripts_in(place: Path) -> Path:
    """Copy the revisions of this version."""
    return Path(shutil.copytree(migrate.SCRIPTS, place / "migrations", ignore=shutil.ignore_patterns("__pycache__")))


def package_in(place: Path) -> Path:
    """Copy the package as a wheel has it, with one revision more; run it by `python -m` in the returned directory."""
    source = Path(next(iter(jackpot_service.__path__)))
    copy = shutil.copytree(source, place / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    add_revision(scripts_in(copy), "9001")
    return place


def statements_up(script: Script) -> str:
    """Return the SQL that a revision's upgrade() executes, without its comments."""
    written = StringIO()
    options = {"as_sql": True, "output_buffer": written}
    with Operations.context(MigrationContext.configure(dialect_name="postgresql", opts=options)):
        script.module.upgrade()
    return re.sub(r"--.*", "", written.getvalue())
