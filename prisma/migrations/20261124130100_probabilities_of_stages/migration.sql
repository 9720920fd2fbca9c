-- Which probabilities are those of their stages, as far as can be told. By itself: the column before is added while nobody else gets at
-- the table, and here only the rows that change are locked.
UPDATE deals d SET probability_from_stage = true FROM stages s
WHERE s.account_id = d.account_id AND s.id = d.stage_id AND NOT d.probability_from_stage AND d.probability IS NOT DISTINCT FROM s.probability;
