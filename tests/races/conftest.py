from collections.abc import Iterator

import pytest
import sqlalchemy

from jackpot_service.database.connections import create_engine
from tests.races import scene
from tests.races.processes import CONFIG


@pytest.fixture
def soak_seconds(request: pytest.FixtureRequest) -> float:
    """How long those who can go on shall; 0 is as long as a test needs."""
    minutes: float = request.config.getoption("--soak-minutes")
    return 60 * minutes


@pytest.fixture
def engine(database_url: str) -> Iterator[sqlalchemy.Engine]:
    """Give the test an engine of its own, on a database with the casino and its first rate sheet."""
    engine = create_engine(CONFIG, database_url)
    try:
        scene.open_house(engine)
        yield engine
    finally:
        engine.dispose()
