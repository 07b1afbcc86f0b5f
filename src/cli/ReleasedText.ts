import type { Run } from "../../schema/records/Run.ts"

/** Describes the effect of releasing a Run: if the Run has changed nothing, it starts again; if it is an apply, it fails. */
export const releasedText = ({ runId, status }: { readonly runId: string; readonly status: Run["status"] }): string =>
  status === "queued"
    ? `The Run ${runId} changed nothing, and is queued again.`
    : `The Run ${runId} is ${status}. Check what it may have created, then plan again.`
