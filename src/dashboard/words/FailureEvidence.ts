import type { Run } from "../api/Types.ts"

type Ended = Pick<Run, "type" | "error">

/**
 * Returns true if an apply failed in the ordinary way: the tool itself reported the failure, so the result is known. Any other
 * failure leaves no evidence of its result.
 */
export const failedByTool = ({ error, type }: Ended): boolean =>
  (type === "apply" || type === "destroy_apply") && error?.code === "apply_failed"

/** As above, for a whole Run: its state was saved, and nothing that it began is unaccounted for. */
export const leftKnownState = (run: Run): boolean =>
  failedByTool(run) && run.stateVersionId !== undefined && (run.possiblyCreated ?? []).length === 0
