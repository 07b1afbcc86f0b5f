/** SQL expression for the snapshot that contains the newest commit of a Capsule's lane. */
const newestOfLane = `(SELECT s.id FROM source_snapshots s WHERE s.source_id = capsules.source_id
  AND s.ref = capsules.adopted_ref AND s.path = capsules.adopted_path ORDER BY s.created_at DESC, s.id DESC LIMIT 1)`

/** SQL expression for the name that the producer uses for the Output of a dependency. A share may rename the Output. */
const ownName = `CASE WHEN producer.workspace_id = d.workspace_id THEN json_extract(e.value, '$.from') ELSE
  (SELECT json_extract(o.value, '$.name') FROM output_shares s, json_each(s.outputs) o
    WHERE s.producer_capsule_id = producer.id AND s.to_workspace_id = d.workspace_id AND s.status = 'active'
      AND COALESCE(json_extract(o.value, '$.alias'), json_extract(o.value, '$.name')) = json_extract(e.value, '$.from')
    ORDER BY s.created_at DESC, s.id DESC LIMIT 1) END`

const consumedOutput = `json_extract(e.value, '$.from')`
const filledInput = `json_extract(e.value, '$.to')`

/** For applies made before svc recorded inputs: derives the inputs of each consumer's last apply by comparing times. */
const earlierInputs = (input: string, output: string, name: string, from: string, mode: string) => `
  INSERT INTO consumed_inputs (capsule_id, dependency_id, input, producer_capsule_id, output, name, state_version_id)
  SELECT d.consumer_capsule_id, d.id, ${input}, d.producer_capsule_id, ${output}, ${name}, given.id
  FROM ${from}
  JOIN capsules producer ON producer.id = d.producer_capsule_id
  JOIN capsules consumer ON consumer.id = d.consumer_capsule_id
  JOIN state_versions left_state ON left_state.id = consumer.current_state_version_id
  JOIN runs applied ON applied.id = left_state.created_by_run_id
  JOIN runs planned ON planned.id = applied.plan_run_id AND d.created_at <= planned.started_at
  JOIN state_versions given ON given.id = (SELECT v.id FROM state_versions v WHERE v.capsule_id = producer.id
    AND v.created_at <= planned.started_at ORDER BY v.generation DESC LIMIT 1)
  WHERE d.mode ${mode} 'remote_state' AND ${name} IS NOT NULL`

/**
 * The reasons why a Capsule is stale, as JSON, and the inputs of its last apply: the producer's StateVersion for each input.
 * `inputs_compared` is 0 until svc has compared the inputs of applies made before this column existed.
 */
export const staleTables: ReadonlyArray<string> = [
  `ALTER TABLE capsules ADD COLUMN stale_reasons TEXT NOT NULL DEFAULT '[]'`,
  `ALTER TABLE capsules ADD COLUMN inputs_compared INTEGER NOT NULL DEFAULT 0`,
  // `input`, `output` and `name` are empty for `remote_state`, which can read every Output.
  `CREATE TABLE consumed_inputs (
    capsule_id TEXT NOT NULL REFERENCES capsules (id),
    dependency_id TEXT NOT NULL,
    input TEXT NOT NULL,
    producer_capsule_id TEXT NOT NULL,
    output TEXT NOT NULL,
    name TEXT NOT NULL,
    state_version_id TEXT NOT NULL REFERENCES state_versions (id),
    PRIMARY KEY (capsule_id, dependency_id, input)
  )`,
  `CREATE INDEX consumed_inputs_by_producer ON consumed_inputs (producer_capsule_id)`,
  `UPDATE capsules SET stale_reasons = CASE WHEN ${newestOfLane} IS NULL THEN '[{"kind":"commit"}]'
    ELSE json_array(json_object('kind', 'commit', 'sourceSnapshotId', ${newestOfLane})) END WHERE status = 'stale'`,
  earlierInputs(filledInput, consumedOutput, ownName, "dependencies d, json_each(d.outputs) e", "<>"),
  earlierInputs("''", "''", "''", "dependencies d", "=")
]
