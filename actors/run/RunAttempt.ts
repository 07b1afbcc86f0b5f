import type { RunType } from "../../schema/records/Run.ts"

/** Whether such a Run changes infrastructure, so that it is never executed twice. */
export const isApply = (type: RunType): boolean => type === "apply" || type === "destroy_apply"

/** A folder that nobody could read is set aside under this ending: no cleanup removes it. */
export const setAsideSuffix = ".unreadable"

/** Folder of one attempt of a Run, below the runs folder. */
export const runFolderName = (run: { readonly id: string; readonly attempt: number }): string =>
  `${run.id}-${run.attempt}`
