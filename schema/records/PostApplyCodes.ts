/** The codes with which an apply ends whose tool succeeded and whose checks did not. */
const codes: ReadonlySet<string> = new Set(["lifecycle_failed", "lifecycle_interrupted"])

/** Whether an apply with this code of error failed by a check after it, with its state and Outputs committed. */
export const isPostApplyCode = (code: string | null | undefined): boolean =>
  code !== null && code !== undefined && codes.has(code)
