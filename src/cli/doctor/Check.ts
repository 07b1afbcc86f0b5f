import type { Finding } from "./DoctorReport.ts"

/** Who runs the checks: `svc doctor`, or a server that starts while people wait for it. */
export type Face = "doctor" | "start"

/** One check, as an operator has to know it. */
export interface CheckFacts {
  readonly name: Finding["check"]
  readonly looksAt: string
  /**
   * When the start runs it: `before` it opens anything; while `opening` what is checked, by the code that opens it;
   * once it is `ready`; or `never`.
   */
  readonly atStart: "before" | "opening" | "ready" | "never"
  /** Whether an error prevents a server from starting, or is only logged, since stopping would harm running Runs more. */
  readonly onError: "refuses" | "warns"
  /** How the start does less than `svc doctor`, or why it omits the check. Absent where both do the same. */
  readonly less?: string
}
