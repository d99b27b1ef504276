"""The version after this one, made from this one: the same code, with revisions of the schema more."""

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

from alembic.script import ScriptDirectory

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
    """Copy the package, with one revision more; it is run by `python -m` in the directory that is returned."""
    source = Path(next(iter(jackpot_service.__path__)))
    copy = shutil.copytree(source, place / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    add_revision(copy / "migrations", "9001")
    return place


def statements_up(source: str) -> Iterator[str]:
    """Yield every text that a revision's upgrade() holds, or what it calls and names, down to the last constant."""
    named = _named(ast.parse(source))
    reached, to_read = set[str](), ["upgrade"]
    while to_read:
        name = to_read.pop()
        if name in reached or name not in named:
            continue
        reached.add(name)
        for part in ast.walk(named[name]):
            if isinstance(part, ast.Name):
                to_read.append(part.id)
            elif isinstance(part, ast.Attribute):
                yield part.attr.replace("_", " ")
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


def _named(module: ast.Module) -> dict[str, ast.AST]:
    """Return what the functions and the constants of a module are, by their names."""
    named: dict[str, ast.AST] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            named[node.name] = node
        elif isinstance(node, ast.Assign):
            named |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            named[node.target.id] = node.value
    return named
