"""
No stripe's time moves more than two seconds ahead of the database's own clock, whoever moves it.

A stripe's time never falls: a service that booked once by a clock that is days ahead would move it there for good.
A stripe that is ahead already, because the database's clock was set back, goes on from where it stands.
"""

from collections.abc import Sequence

from alembic import op

revision: str = "0031"
down_revision: str | None = "0030"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# The condition stands in the triggers: where it does not hold, which is always, no function is called.
REFUSE_AHEAD = """
CREATE FUNCTION refuse_ahead() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'stripe % of % is not moved to %: that lies ahead', NEW.stripe_no, NEW.jackpot_id, NEW.booked_at
        USING ERRCODE = 'check_violation', TABLE = 'stripes', CONSTRAINT = 'booked_at_not_ahead',
              HINT = 'Compare the clocks of the service and of the database.';
END
$$
"""

NOT_AHEAD = """
CREATE TRIGGER not_ahead BEFORE UPDATE OF booked_at ON stripes FOR EACH ROW
    WHEN (NEW.booked_at > OLD.booked_at AND NEW.booked_at > clock_timestamp() + interval '2 seconds')
    EXECUTE FUNCTION refuse_ahead()
"""

NOT_ADDED_AHEAD = """
CREATE TRIGGER not_added_ahead BEFORE INSERT ON stripes FOR EACH ROW
    WHEN (NEW.booked_at > clock_timestamp() + interval '2 seconds')
    EXECUTE FUNCTION refuse_ahead()
"""


def upgrade() -> None:
    op.execute(REFUSE_AHEAD)
    op.execute(NOT_AHEAD)
    op.execute(NOT_ADDED_AHEAD)


def downgrade() -> None:
    op.execute("DROP TRIGGER not_added_ahead ON stripes")
    op.execute("DROP TRIGGER not_ahead ON stripes")
    op.execute("DROP FUNCTION refuse_ahead()")
