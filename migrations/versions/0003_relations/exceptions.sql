-- The id of an exception. Fifteen digits hold the microseconds of every year up to 9999: ids sort as their times do.
CREATE FUNCTION exception_id(since timestamptz, what text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT lpad(to_hex((extract(epoch FROM since) * 1000000)::bigint), 15, '0')
        || '-' || left(encode(sha256(convert_to(what, 'UTF8')), 'hex'), 16)
$$;
