-- The day of a casino: it begins by the wall's clock, also when the clocks change. Without a casino it is that of UTC.
CREATE FUNCTION gaming_day(at timestamptz, zone text, day_starts time) RETURNS date LANGUAGE sql STABLE
    RETURN coalesce((at AT TIME ZONE zone) - day_starts, at AT TIME ZONE 'UTC')::date;

-- One row a figure; every posting is one too, but those of bets: where bets go, their rules tell. Postings of acts are at
-- no table. Both parts have columns of the very same types, so that a question about one kind does not read the other.
CREATE VIEW figures AS
SELECT e.jackpot_id, e.stripe_no, e.seq, e.kind AS entry_kind, e.movements,
       (e.booked_at AT TIME ZONE 'UTC')::date AS day, gaming_day(e.booked_at, c.zone, c.day_starts) AS gaming_day,
       e.casino_id, e.table_id, e.rules_version, f.kind, coalesce(f.currency, '') AS currency,
       coalesce(f.account, '') AS account, coalesce(f.tier, '') AS tier, coalesce(f.detail, '') AS detail,
       coalesce(f.made_on, (e.booked_at AT TIME ZONE 'UTC')::date) AS made_on, f.number, f.minor, f.value
FROM entries e
LEFT JOIN casinos c ON c.casino_id = e.casino_id
CROSS JOIN LATERAL unnest(e.figures) AS f
UNION ALL
SELECT e.jackpot_id, e.stripe_no, e.seq, e.kind, e.movements,
       (e.booked_at AT TIME ZONE 'UTC')::date, gaming_day(e.booked_at, c.zone, c.day_starts),
       e.casino_id, CASE WHEN e.round_key IS NOT NULL THEN e.table_id ELSE '' END, e.rules_version,
       'postings'::text COLLATE "C", p.currency COLLATE "C",
       p.account COLLATE "C", ''::text COLLATE "C", p.movement COLLATE "C",
       (e.booked_at AT TIME ZONE 'UTC')::date, 1::bigint, 0::numeric, p.amount
FROM entries e
LEFT JOIN casinos c ON c.casino_id = e.casino_id
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements) AS p (account, currency, amount, movement)
WHERE e.kind <> 'bets';
