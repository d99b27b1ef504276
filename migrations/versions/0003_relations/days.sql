-- The day of a casino: it begins by the wall's clock, also when the clocks change. Without a casino it is that of UTC.
CREATE FUNCTION gaming_day(at timestamptz, zone text, day_starts time) RETURNS date LANGUAGE sql STABLE
    RETURN coalesce((at AT TIME ZONE zone) - day_starts, at AT TIME ZONE 'UTC')::date;

-- One row a figure; every posting is one too, but those of bets: where bets go, their rules tell.
CREATE VIEW figures AS
SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key,
       (e.booked_at AT TIME ZONE 'UTC')::date AS day, gaming_day(e.booked_at, c.zone, c.day_starts) AS gaming_day,
       e.casino_id, e.table_id, e.rules_version, f.kind, coalesce(f.currency, '') AS currency,
       coalesce(f.account, '') AS account, coalesce(f.tier, '') AS tier, coalesce(f.detail, '') AS detail,
       coalesce(f.made_on, (e.booked_at AT TIME ZONE 'UTC')::date) AS made_on, f.number, f.minor, f.value
FROM entries e
LEFT JOIN casinos c ON c.casino_id = e.casino_id
CROSS JOIN LATERAL unnest(e.figures) AS f
UNION ALL
SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key,
       (e.booked_at AT TIME ZONE 'UTC')::date, gaming_day(e.booked_at, c.zone, c.day_starts),
       e.casino_id, e.table_id, e.rules_version, 'postings' COLLATE "C", p.currency,
       p.account, '', p.movement, (e.booked_at AT TIME ZONE 'UTC')::date, 1, 0, p.amount
FROM entries e
LEFT JOIN casinos c ON c.casino_id = e.casino_id
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements) AS p (account, currency, amount, movement)
WHERE e.kind <> 'bets';
