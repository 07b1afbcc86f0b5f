import type { Finding } from "./DoctorReport.ts"

/** Who runs the checks: `svc doctor`, or a server that is starting while people wait for it. */
export type CheckCaller = "doctor" | "start"

/** What an operator needs to know about a check. */
export interface CheckFacts {
  readonly name: Finding["check"]
  readonly looksAt: string
  /**
   * When startup runs the check: `before` anything is opened; while `opening` what is checked, in the code that opens it; once it
   * is `ready`; or `never`.
   */
  readonly atStart: "before" | "opening" | "ready" | "never"
  /**
   * Whether an error prevents a server from starting, or is only logged, since stopping would do more harm to Runs in progress.
   */
  readonly onError: "refuses" | "warns"
  /** What startup leaves out compared with `svc doctor`, or why it omits the check. Absent if both do the same. */
  readonly less?: string
}
