/**
 * SQL over a row of `agent_runs`: true if the agent of an abandoned apply may have a state that exists nowhere else. `of` is the
 * row's alias with a dot. The agent's evidence for an earlier claim of the same Run proves nothing about this claim.
 */
export const mayOweEvidence = (of: string): string =>
  `(${of}kind = 'apply' AND ${of}accepted_at IS NOT NULL AND ${of}ended_at IS NOT NULL AND ${of}result IS NULL
    AND NOT EXISTS (SELECT 1 FROM agent_evidence e WHERE e.run_id = ${of}run_id AND e.agent_id = ${of}agent_id
      AND e.fence = ${of}fence))`

/**
 * Like `mayOweEvidence`, but also requires that the tool may have been started because the server had allowed it. A started Run
 * is never given to another agent, so this was its newest claim.
 */
export const owesEvidence = (of: string): string =>
  `(${mayOweEvidence(of)}
    AND EXISTS (SELECT 1 FROM runs s WHERE s.id = ${of}run_id AND s.start_acknowledged_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM agent_runs n WHERE n.run_id = ${of}run_id AND n.fence > ${of}fence))`
