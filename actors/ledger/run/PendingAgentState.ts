/**
 * Returns an SQL condition on a row of `agent_runs` that is true if the agent of an abandoned apply may hold a state that
 * exists nowhere else. `of` is the table alias with a trailing dot. Ignores evidence from an earlier claim of the Run,
 * because that evidence proves nothing about the current claim.
 */
export const mayOweEvidence = (of: string): string =>
  `(${of}kind = 'apply' AND ${of}accepted_at IS NOT NULL AND ${of}ended_at IS NOT NULL AND ${of}result IS NULL
    AND NOT EXISTS (SELECT 1 FROM agent_evidence e WHERE e.run_id = ${of}run_id AND e.agent_id = ${of}agent_id
      AND e.fence = ${of}fence))`

/**
 * Like `mayOweEvidence`, but also requires that the server allowed the tool to start. A started Run is never assigned to
 * another agent, so its current claim is the last one.
 */
export const owesEvidence = (of: string): string =>
  `(${mayOweEvidence(of)}
    AND EXISTS (SELECT 1 FROM runs s WHERE s.id = ${of}run_id AND s.start_acknowledged_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM agent_runs n WHERE n.run_id = ${of}run_id AND n.fence > ${of}fence))`
