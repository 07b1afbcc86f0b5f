import type { Finding } from "./DoctorReport.ts"

/** The caller of the checks: `svc doctor`, or a server that is starting while people wait for it. */
export type CheckCaller = "doctor" | "start"

/** The properties of a check that an operator needs to know. */
export interface CheckFacts {
  readonly name: Finding["check"]
  readonly looksAt: string
  /**
   * The time at which startup runs the check: `before` anything is opened; `opening`, in the code that opens the checked part;
   * once the server is `ready`; or `never`.
   */
  readonly atStart: "before" | "opening" | "ready" | "never"
  /**
   * The effect of an error: it prevents a server from starting, or is only logged, because stopping would do more harm to Runs in
   * progress.
   */
  readonly onError: "refuses" | "warns"
  /**
   * The part that startup omits compared with `svc doctor`, or the reason why it omits the whole check. Absent if both do the
   * same.
   */
  readonly less?: string
}
