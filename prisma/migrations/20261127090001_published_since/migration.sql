-- Of flows that are published by now the latest publication is all that is known: later ones must not move it.
UPDATE call_flows SET published_since = published_at WHERE published_version IS NOT NULL AND published_since IS NULL;
