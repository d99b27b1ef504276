-- The day of a casino: it begins by the wall's clock, also when the clocks change. Without a casino it is that of UTC.
CREATE FUNCTION gaming_day(at timestamptz, zone text, day_starts time) RETURNS date LANGUAGE sql STABLE
    RETURN coalesce((at AT TIME ZONE zone) - day_starts, at AT TIME ZONE 'UTC')::date;

-- One row a figure that an entry carries.
CREATE VIEW carried_figures AS
SELECT e.jackpot_id, e.stripe_no, e.seq, e.kind AS entry_kind, e.movements,
       (e.booked_at AT TIME ZONE 'UTC')::date AS day, gaming_day(e.booked_at, c.zone, c.day_starts) AS gaming_day,
       e.casino_id, e.table_id, e.rules_version, f.kind, coalesce(f.currency, '') AS currency,
       coalesce(f.account, '') AS account, coalesce(f.tier, '') AS tier, coalesce(f.detail, '') AS detail,
       coalesce(f.made_on, (e.booked_at AT TIME ZONE 'UTC')::date) AS made_on, f.number, f.minor, f.value
FROM entries e
LEFT JOIN casinos c ON c.casino_id = e.casino_id
CROSS JOIN LATERAL unnest(e.figures) AS f;

-- One row a posting but those of bets: rules say where bets go. Postings of acts are at no table.
CREATE VIEW posted_figures AS
SELECT e.jackpot_id, e.stripe_no, e.seq, e.kind AS entry_kind, e.movements,
       (e.booked_at AT TIME ZONE 'UTC')::date AS day, gaming_day(e.booked_at, c.zone, c.day_starts) AS gaming_day,
       e.casino_id, CASE WHEN e.round_key IS NOT NULL THEN e.table_id ELSE '' END AS table_id, e.rules_version,
       'postings'::text COLLATE "C" AS kind, p.currency COLLATE "C" AS currency, p.account COLLATE "C" AS account,
       ''::text COLLATE "C" AS tier, p.movement COLLATE "C" AS detail,
       (e.booked_at AT TIME ZONE 'UTC')::date AS made_on, 1::bigint AS number, 0::numeric AS minor, p.amount AS value
FROM entries e
LEFT JOIN casinos c ON c.casino_id = e.casino_id
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements) AS p (account, currency, amount, movement)
WHERE e.kind <> 'bets' AND e.movements <> '{}';

-- Both have columns of the very same types, so that a question about one kind does not read the other.
CREATE VIEW figures AS
SELECT * FROM carried_figures
UNION ALL
SELECT * FROM posted_figures;

-- Figures of some kinds of a jackpot: its past days, those since, and what is not yet in them, as rows of one form. An
-- entry is of the cycle of the last cut that it stands after: mostly of the newest, which is looked up once a stripe. The
-- opening stands after none, and is of the first; so is all of a book that has no cycle.
CREATE FUNCTION days_with_recent(of_jackpot text, of_kinds text[]) RETURNS SETOF days LANGUAGE sql STABLE AS $$
    SELECT jackpot_id, 0, day, cycle, gaming_day, kind, casino_id, table_id, rules_version, currency, account, tier,
           detail, made_on, number, minor, value
    FROM past_days
    WHERE jackpot_id = of_jackpot AND kind = ANY (of_kinds)
    UNION ALL
    SELECT *
    FROM days
    WHERE jackpot_id = of_jackpot AND kind = ANY (of_kinds)
      AND day > coalesce((SELECT max(past.day) FROM past_days AS past WHERE past.jackpot_id = of_jackpot), '-infinity')
    UNION ALL
    SELECT f.jackpot_id, f.stripe_no, f.day,
           CASE WHEN newest.cut < f.seq THEN newest.cycle
                ELSE coalesce((SELECT max(passed.cycle)
                               FROM cycles AS passed
                               WHERE passed.jackpot_id = of_jackpot
                                 AND coalesce(passed.cut[f.stripe_no + 1], 0) < f.seq), 1) END,
           f.gaming_day, f.kind, f.casino_id, f.table_id, f.rules_version, f.currency, f.account, f.tier, f.detail,
           f.made_on, f.number, f.minor, f.value
    FROM (SELECT stripe_no, summed_to FROM stripes WHERE jackpot_id = of_jackpot) AS stripe
    CROSS JOIN LATERAL (
        SELECT *
        FROM figures
        WHERE jackpot_id = of_jackpot AND stripe_no = stripe.stripe_no AND seq > stripe.summed_to
          AND kind = ANY (of_kinds)
        OFFSET 0  -- Each stripe by its seqs: no statistics say that few entries are behind.
    ) AS f
    LEFT JOIN LATERAL (
        SELECT cycle, coalesce(cut[stripe.stripe_no + 1], 0) AS cut
        FROM cycles
        WHERE jackpot_id = of_jackpot
        ORDER BY cycle DESC
        LIMIT 1
    ) AS newest ON true
$$;
