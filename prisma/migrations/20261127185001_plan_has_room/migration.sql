-- Whether an account has no more than so many records of a kind whose total is kept. Who asks is alone with the kind to the end of the
-- transaction: one after the other adds to it. A statement of its own sees what was committed while this one waited for its turn.
CREATE FUNCTION plan_has_room(account UUID, what TEXT, most BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text || 'plan ' || what, 0));
  RETURN most >= (SELECT coalesce(sum(c.n), 0) FROM counts c WHERE c.account_id = account AND c.kind = what);
END $body$;
