import type { RunType } from "../../schema/records/Run.ts"

/** Whether such a Run changes infrastructure, so that it is never executed twice. */
export const isApply = (type: RunType): boolean => type === "apply" || type === "destroy_apply"

/** Folder of one attempt of a Run, below the runs folder. */
export const runFolderName = (run: { readonly id: string; readonly attempt: number }): string =>
  `${run.id}-${run.attempt}`
