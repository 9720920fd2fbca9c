-- An entry of the log names what its changes lead to, as it was called at the time: old and new stage, person, company.
ALTER TABLE "activities" ADD COLUMN "names" JSONB;

-- What a field of a record leads to, by its id; null for what is none.
CREATE FUNCTION name_of(account UUID, field TEXT, id TEXT) RETURNS TEXT LANGUAGE plpgsql STABLE AS $$
DECLARE its UUID;
BEGIN
  IF id IS NULL OR id !~ '^[0-9a-fA-F-]{36}$' THEN RETURN NULL; END IF;
  its := id::uuid;
  RETURN CASE field
    WHEN 'stageId' THEN (SELECT s.name FROM stages s WHERE s.account_id = account AND s.id = its)
    WHEN 'pipelineId' THEN (SELECT p.name FROM pipelines p WHERE p.account_id = account AND p.id = its)
    WHEN 'assignedTo' THEN (SELECT m.name FROM memberships m WHERE m.account_id = account AND m.user_id = its)
    WHEN 'ownerId' THEN (SELECT m.name FROM memberships m WHERE m.account_id = account AND m.user_id = its)
    WHEN 'companyId' THEN (SELECT f.name FROM companies f WHERE f.account_id = account AND f.id = its)
    WHEN 'parentCompanyId' THEN (SELECT f.name FROM companies f WHERE f.account_id = account AND f.id = its)
    WHEN 'dealId' THEN (SELECT d.title FROM deals d WHERE d.account_id = account AND d.id = its)
    ELSE (SELECT coalesce(nullif(concat_ws(' ', c.first_name, c.last_name), ''), c.email, c.phone)
      FROM contacts c WHERE c.account_id = account AND c.id = its)
  END;
END $$;

-- In the database, because the names would cost every change of a stage or an owner a statement more.
CREATE FUNCTION name_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE told TEXT;
BEGIN
  WITH fields (field, words, nth) AS (VALUES
    ('stageId', 'stage', 1), ('pipelineId', 'pipeline', 2), ('assignedTo', 'assigned to', 3), ('ownerId', 'owner', 4),
    ('contactId', 'contact', 5), ('companyId', 'company', 6), ('parentCompanyId', 'parent company', 7), ('dealId', 'deal', 8),
    ('mergedIntoId', 'merged into', 9)
  ), sides AS (
    SELECT f.*, new.changes -> f.field ->> 'from' AS was, new.changes -> f.field ->> 'to' AS is_now
    FROM fields f WHERE jsonb_typeof(new.changes -> f.field) = 'object'
  ), named AS (
    SELECT *, name_of(new.account_id, field, was) AS was_called, name_of(new.account_id, field, is_now) AS is_called FROM sides
  )
  SELECT (SELECT jsonb_object_agg(id, called) FROM (
      SELECT was AS id, was_called AS called FROM named UNION SELECT is_now, is_called FROM named) n WHERE id IS NOT NULL AND called IS NOT NULL),
    string_agg(words || ' ' || coalesce(was_called, 'none') || ' → ' || coalesce(is_called, 'none'), ', ' ORDER BY nth)
      FILTER (WHERE was_called IS NOT NULL OR is_called IS NOT NULL)
  INTO new.names, told FROM named;
  new.description := left(concat_ws(': ', new.description, told), 5000);
  RETURN new;
END $$;

CREATE TRIGGER name_changes BEFORE INSERT ON activities FOR EACH ROW
  WHEN (new.changes ?| ARRAY['stageId', 'pipelineId', 'assignedTo', 'ownerId', 'contactId', 'companyId', 'parentCompanyId', 'dealId', 'mergedIntoId'])
  EXECUTE FUNCTION name_changes();
