import type { Run } from "../api/Types.ts"

type Ended = Pick<Run, "type" | "error">

/**
 * Returns true if the tool itself reported the failure of an apply, so that the apply's result is known. After any other
 * failure, there is no evidence of the result.
 */
export const failedByTool = ({ error, type }: Ended): boolean =>
  (type === "apply" || type === "destroy_apply") && error?.code === "apply_failed"

/**
 * Like `failedByTool`, but for a whole Run: the Run's state was saved, and the results of all operations that the Run began
 * are known.
 */
export const leftKnownState = (run: Run): boolean =>
  failedByTool(run) && run.stateVersionId !== undefined && (run.possiblyCreated ?? []).length === 0
