-- Called by a write with the number of rows that it depends on and has locked. When they were deleted since they were read,
-- the write fails in the way that has its whole operation tried again, which then reads that they are gone.
CREATE FUNCTION still_there(n bigint) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  IF n = 0 THEN
    RAISE EXCEPTION 'what the write depends on is gone' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN '';
END
$$;
