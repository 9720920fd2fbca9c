-- What starts an automation is shown as its fields and as `trigger`. Of those that were saved before, whose start alone says it, both say it
-- from now on as well: as the next change of each would have it.
UPDATE automations a SET
  trigger_event = said.event,
  trigger_conditions = said.conditions,
  trigger = jsonb_build_object('event', said.event) || CASE WHEN said.conditions IS NULL THEN '{}' ELSE jsonb_build_object('conditions', said.conditions) END
FROM (
  SELECT starts.account_id, starts.id,
    CASE WHEN jsonb_typeof(starts.config -> 'event') = 'string' AND length(starts.config ->> 'event') BETWEEN 1 AND 100
      THEN starts.config ->> 'event' END AS event,
    CASE WHEN jsonb_typeof(starts.config -> 'conditions') = 'object' THEN starts.config -> 'conditions' END AS conditions
  FROM (
    SELECT d.account_id, d.id, node.value -> 'config' AS config
    FROM (
      SELECT account_id, id,
        CASE WHEN jsonb_typeof(graph) = 'object' THEN graph -> 'nodes' ELSE nodes END AS nodes,
        CASE WHEN jsonb_typeof(graph -> 'startNodeId') = 'string' AND trim(graph ->> 'startNodeId') <> ''
          THEN graph ->> 'startNodeId' ELSE start_node_id END AS start
      FROM automations
      WHERE trigger_event IS NULL AND coalesce(trigger, 'null') = 'null' AND coalesce(trigger_conditions, 'null') = 'null'
    ) d
    CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(d.nodes) = 'array' THEN d.nodes ELSE '[]' END) node
    WHERE node.value ->> 'id' = d.start AND node.value ->> 'type' = 'trigger' AND jsonb_typeof(node.value -> 'config') = 'object'
  ) starts
) said
WHERE a.account_id = said.account_id AND a.id = said.id AND (said.event IS NOT NULL OR said.conditions IS NOT NULL);
