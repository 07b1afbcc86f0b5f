import type { Run } from "../../schema/records/Run.ts"

/** What a release came to: a Run that had changed nothing begins again, an apply has failed. */
export const releasedText = ({ runId, status }: { readonly runId: string; readonly status: Run["status"] }): string =>
  status === "queued"
    ? `The Run ${runId} changed nothing, and is queued again.`
    : `The Run ${runId} is ${status}. Check what it may have created, then plan again.`
