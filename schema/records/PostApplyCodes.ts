/** The error codes of an apply whose tool succeeded but whose checks did not. */
const codes: ReadonlySet<string> = new Set(["lifecycle_failed", "lifecycle_interrupted"])

/** True if an apply with this error code failed a post-apply check after committing its state and Outputs. */
export const isPostApplyCode = (code: string | null | undefined): boolean =>
  code !== null && code !== undefined && codes.has(code)
