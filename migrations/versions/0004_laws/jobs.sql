-- Of a job only its progress changes. A chunk is written once, and removed with its file.

CREATE FUNCTION refuse_other_work() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: a file is not rewritten, and who asked for it stays known', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER no_delete BEFORE DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION refuse_other_work();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON jobs FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_work();
CREATE TRIGGER no_update BEFORE UPDATE ON job_chunks FOR EACH ROW EXECUTE FUNCTION refuse_other_work();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON job_chunks FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_work();
