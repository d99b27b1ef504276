"""What `transact` makes of BEGIN and COMMIT, sent by themselves or with an act's first and last statements."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from jackpot_service.database.failures import OutcomeUnknown
from jackpot_service.database.transactions import Session, committed, pipelined, transact
from jackpot_service.domain.errors import Refused
from tests.faults.scratch import CONFIG, Act, Database, nothing, pid_of
from tests.races import books, scene

pytestmark = pytest.mark.long

# --- BEGIN ----------------------------------------------------------------------------------------------------------


def test_an_act_that_begins_in_pipeline_is_taken_back_as_a_whole(database: Database) -> None:
    def refuse(session: Session) -> NoReturn:
        with pipelined(session) as pipe:
            pipe.send("INSERT INTO scratch VALUES (1)", {})
        session.execute(text("INSERT INTO scratch VALUES (2)"))
        message = "no"
        raise Refused(message)

    with pytest.raises(Refused):
        transact(database.engine(), refuse)
    assert database.ids() == []


def test_a_connection_that_ends_while_an_act_begins_is_replaced_and_the_act_done_once(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    with engine.connect() as session:
        pid = pid_of(session)
    database.terminate(pid)

    act = Act(1, nothing, begins_in_pipeline=True, commits_itself=True)
    assert act.done(engine) == "done"
    assert (act.calls, database.ids()) == (2, [1])


def test_who_takes_the_connection_of_an_act_that_began_itself_has_a_transaction(database: Database) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    assert Act(1, nothing, begins_in_pipeline=True, commits_itself=True).done(engine) == "done"

    with engine.connect() as session:
        session.execute(text("INSERT INTO scratch VALUES (2)"))
        session.rollback()
    assert database.ids() == [1]


# --- COMMIT ---------------------------------------------------------------------------------------------------------

HOW = pytest.mark.parametrize(
    "how",
    [{}, {"commits_itself": True}, {"begins_in_pipeline": True}, {"begins_in_pipeline": True, "commits_itself": True}],
    ids=["then committed", "committing itself", "beginning itself", "beginning and committing itself"],
)


@HOW
def test_a_connection_that_ends_in_commit_leaves_the_outcome_unknown_and_may_have_written_nothing(
    database: Database, how: Mapping[str, Any]
) -> None:
    engine = database.engine()
    ending = database.when_waiting("PgSleep", "pg_terminate_backend")
    act = Act(1, nothing, at_commit="sleep", **how)
    with pytest.raises(OutcomeUnknown):
        act.done(engine)
    ending.join()
    assert (act.calls, database.ids()) == (1, [])
    assert transact(engine, Act(1, nothing)) == "done"
    assert database.ids() == [1]


def wait_for_replica(session: Session) -> None:
    session.execute(text("SET LOCAL synchronous_commit = on"))


@HOW
def test_a_connection_that_ends_in_commit_leaves_the_outcome_unknown_and_may_have_written_all(
    waiting_database: Database, how: Mapping[str, Any]
) -> None:
    engine = waiting_database.engine()
    ending = waiting_database.when_waiting("SyncRep", "pg_terminate_backend")
    act = Act(1, wait_for_replica, **how)
    with pytest.raises(OutcomeUnknown):
        act.done(engine)
    ending.join()
    assert (act.calls, waiting_database.ids()) == (1, [1])
    assert transact(engine, Act(2, nothing)) == "done"


@HOW
def test_a_commit_that_no_replica_confirmed_is_no_acknowledgement(
    waiting_database: Database, how: Mapping[str, Any]
) -> None:
    engine = waiting_database.engine()
    ending = waiting_database.when_waiting("SyncRep", "pg_cancel_backend")
    act = Act(1, wait_for_replica, **how)
    with pytest.raises(OutcomeUnknown, match="warned"):
        act.done(engine)
    ending.join()
    assert (act.calls, waiting_database.ids()) == (1, [1])
    assert transact(engine, Act(2, nothing)) == "done"


@HOW
def test_a_warning_in_commit_is_no_acknowledgement_and_does_not_stick_to_the_connection(
    database: Database, how: Mapping[str, Any]
) -> None:
    engine = database.engine(replace(CONFIG, pool_size=1))
    with pytest.raises(OutcomeUnknown, match="not yet safe"):
        Act(1, nothing, at_commit="warn", **how).done(engine)
    assert transact(engine, Act(2, nothing)) == "done"
    assert database.ids() == [1, 2]


@HOW
def test_a_commit_is_not_cut_off_by_the_statement_timeout(database: Database, how: Mapping[str, Any]) -> None:
    engine = database.engine(replace(CONFIG, statement_timeout_ms=500))
    assert Act(1, nothing, at_commit="nap", **how).done(engine) == "done"
    assert database.ids() == [1]


@HOW
def test_a_constraint_that_fails_in_commit_is_a_definite_failure(database: Database, how: Mapping[str, Any]) -> None:
    act = Act(1, nothing, at_commit="refuse", **how)
    with pytest.raises((DBAPIError, psycopg.Error), match="check_violation"):
        act.done(database.engine())
    assert (act.calls, database.ids()) == (1, [])


def test_a_commit_that_is_answered_by_a_rollback_is_no_success(database: Database) -> None:
    def act(session: Session) -> None:
        with pipelined(session) as pipe:
            pipe.send("INSERT INTO scratch VALUES (1)", {})
        with pytest.raises(DBAPIError):
            session.execute(text("SELECT 1 / 0"))
        with committed(session):
            pass

    with pytest.raises(RuntimeError, match="nothing was written"):
        transact(database.engine(), act)
    assert database.ids() == []


def test_the_same_ids_after_a_broken_commit_are_booked_once(database: Database) -> None:
    engine = database.engine()
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"])
    database.owner.execute("CREATE TABLE held (id int)")
    database.owner.execute(
        """
        CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN IF EXISTS (SELECT FROM held) THEN PERFORM pg_sleep(60); END IF; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON bets DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION hold();
        INSERT INTO held VALUES (1);
        """
    )
    ending = database.when_waiting("PgSleep", "pg_terminate_backend")
    with pytest.raises(OutcomeUnknown):
        scene.bet(engine, "T1", "r1", scene.euro("b1"))
    ending.join()
    database.owner.execute("DELETE FROM held")
    assert scene.bet(engine, "T1", "r1", scene.euro("b1")).accepted == 1
    assert scene.bet(engine, "T1", "r1", scene.euro("b1")).replayed == 1
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(1,)]
    books.require_clean(engine)


# --- A connection whose place another has taken before the act ends ---------------------------------------------------


def lose_the_connection(database: Database, session: Session) -> None:
    """Lose the connection, and have somebody take its place in the pool; the act has not ended yet."""
    database.terminate(pid_of(session))
    with pytest.raises(psycopg.OperationalError), pipelined(session) as pipe:
        pipe.send("SELECT 1", {})
    assert session.invalidated
    assert transact(session.engine, Act(2, nothing)) == "done"


def test_an_act_that_has_committed_itself_stays_an_unknown_outcome_whoever_takes_its_connections_place(
    database: Database,
) -> None:
    def act(session: Session) -> NoReturn:
        with committed(session) as pipe:
            pipe.send("INSERT INTO scratch VALUES (1)", {})
        lose_the_connection(database, session)
        message = "lost afterwards"
        raise psycopg.OperationalError(message)

    with pytest.raises(OutcomeUnknown):
        transact(database.engine(replace(CONFIG, pool_size=1)), act)
    assert database.ids() == [1, 2]


def test_an_act_that_has_written_nothing_is_tried_again_whoever_takes_its_connections_place(database: Database) -> None:
    calls = 0

    def act(session: Session) -> str:
        nonlocal calls
        calls += 1
        if calls > 1:
            return "done"
        lose_the_connection(database, session)
        raise psycopg.OperationalError

    assert transact(database.engine(replace(CONFIG, pool_size=1)), act) == "done"
    assert (calls, database.ids()) == (2, [2])
