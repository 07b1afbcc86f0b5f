import type { RunType } from "../../../schema/records/Run.ts"

/** Whether a Run of this kind changes infrastructure, so that it is never executed twice. */
export const isApply = (type: RunType): boolean => type === "apply" || type === "destroy_apply"
