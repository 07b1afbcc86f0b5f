import type { Finding } from "./DoctorReport.ts"

/** Who looks: `svc doctor`, or a server that starts and that people wait for. */
export type Face = "doctor" | "start"

/** One check, as an operator has to know it. */
export interface CheckFacts {
  readonly name: Finding["check"]
  readonly looksAt: string
  /**
   * When the start makes it: `before` it opens anything; `opening` what is looked at, by the code that opens it; once it is
   * `ready`; or `never`.
   */
  readonly atStart: "before" | "opening" | "ready" | "never"
  /** Whether an error keeps a server from starting, or is only logged, because running Runs are better served than stopped. */
  readonly onError: "refuses" | "warns"
  /** How the start does less than `svc doctor`, or why it leaves the check out. Absent where both do the same. */
  readonly less?: string
}
