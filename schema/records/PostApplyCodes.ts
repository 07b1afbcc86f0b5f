/** Error codes of an apply that failed a check after its tool had succeeded. */
const codes: ReadonlySet<string> = new Set(["lifecycle_failed", "lifecycle_interrupted"])

/** Returns true if this error code means that a check failed after the state and Outputs were committed. */
export const isPostApplyCode = (code: string | null | undefined): boolean =>
  code !== null && code !== undefined && codes.has(code)
