-- Whether a call is in the log already. Who asks is alone with the call to the end of the transaction: the report of its end may come
-- while its beginning is being written, and one of the two has to see the other. Each statement of the function sees what was
-- committed while it waited.
CREATE FUNCTION call_is_over(account uuid, sid text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(account::text || 'call' || sid, 0));
  RETURN EXISTS (SELECT FROM calls c WHERE c.account_id = account AND c.provider_id = sid);
END
$$;
