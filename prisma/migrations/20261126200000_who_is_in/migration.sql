-- Asked by the statement that holds the contacts, once it holds them: a merge that it waited for is seen, which has handed runs on to one
-- of them. What the statement itself reads is of the moment at which it began. So they are volatile.
CREATE FUNCTION contacts_in_automation(account uuid, automation uuid, contacts uuid[]) RETURNS SETOF uuid LANGUAGE sql VOLATILE AS
'SELECT r.contact_id FROM automation_runs r WHERE r.account_id = account AND r.automation_id = automation AND r.contact_id = ANY (contacts)
  AND r.status IN (''running'', ''waiting'')';

-- Of runs that are complete those count that began lately.
CREATE FUNCTION contacts_in_sequence(account uuid, sequence uuid, contacts uuid[], since timestamptz) RETURNS SETOF uuid LANGUAGE sql VOLATILE AS
'SELECT DISTINCT e.contact_id FROM enrollments e WHERE e.account_id = account AND e.sequence_id = sequence AND e.contact_id = ANY (contacts)
  AND (e.status IN (''active'', ''paused'') OR e.status = ''completed'' AND e.enrolled_at > since)';
