-- The totals of the log by what its entries tell of, of messages by channel and of appointments by calendar. Those of rows without a
-- value are kept as 'activities:'. The triggers of the log and of messages see what is added and removed only: no row is ever given
-- another type or channel.
CREATE OR REPLACE FUNCTION keep_count_by(kind TEXT, by TEXT, live TEXT) RETURNS VOID LANGUAGE plpgsql AS $outer$
BEGIN
  -- Nobody writes between the count and the trigger that goes on from it.
  EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', kind);
  EXECUTE format($sql$
    CREATE OR REPLACE FUNCTION count_%1$s() RETURNS TRIGGER LANGUAGE plpgsql AS $body$
    BEGIN
      IF tg_op = 'INSERT' THEN
        INSERT INTO counts AS c (account_id, kind, slot, n)
        SELECT account_id, k.kind, pg_backend_pid() %% 16, count(*) FROM new_rows
          CROSS JOIN LATERAL (VALUES (%1$L), (%1$L || ':' || coalesce(%2$I::text, ''))) k(kind)
        WHERE %3$s GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
      ELSIF tg_op = 'DELETE' THEN
        INSERT INTO counts AS c (account_id, kind, slot, n)
        SELECT account_id, k.kind, pg_backend_pid() %% 16, -count(*) FROM old_rows
          CROSS JOIN LATERAL (VALUES (%1$L), (%1$L || ':' || coalesce(%2$I::text, ''))) k(kind)
        WHERE %3$s GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
      ELSE
        INSERT INTO counts AS c (account_id, kind, slot, n)
        SELECT account_id, k.kind, pg_backend_pid() %% 16, sum(d) FROM (
          SELECT account_id, %2$I, 1 AS d FROM new_rows WHERE %3$s UNION ALL SELECT account_id, %2$I, -1 FROM old_rows WHERE %3$s
        ) AS changed CROSS JOIN LATERAL (VALUES (%1$L), (%1$L || ':' || coalesce(%2$I::text, ''))) k(kind)
        GROUP BY 1, 2 HAVING sum(d) <> 0 ORDER BY 1, 2
        ON CONFLICT (account_id, kind, slot) DO UPDATE SET n = c.n + excluded.n;
      END IF;
      RETURN NULL;
    END $body$;
  $sql$, kind, by, live);
  EXECUTE format($sql$
    INSERT INTO counts (account_id, kind, slot, n)
    SELECT account_id, %1$L || ':' || coalesce(%2$I::text, ''), 0, count(*) FROM %1$I WHERE %3$s GROUP BY 1, 2
  $sql$, kind, by, live);
END $outer$;

SELECT keep_count_by('activities', 'entity_type', 'true');
SELECT keep_count_by('messages', 'channel', 'true');
SELECT keep_count_by('appointments', 'calendar_id', 'deleted_at IS NULL');
