import type { Finding } from "./DoctorReport.ts"

/** The caller of the checks: `svc doctor`, or a server at startup, while people wait for it. */
export type CheckCaller = "doctor" | "start"

/** The properties of a check, for operators. */
export interface CheckFacts {
  readonly name: Finding["check"]
  readonly looksAt: string
  /**
   * The time at which startup runs the check: `before` anything is opened, `opening` in the code that opens the checked part,
   * `ready` once the server is ready, or `never`.
   */
  readonly atStart: "before" | "opening" | "ready" | "never"
  /**
   * The effect of an error. It either prevents the server from starting or is only logged, because a stopped server would do more
   * harm to Runs in progress.
   */
  readonly onError: "refuses" | "warns"
  /**
   * The part of the check that only `svc doctor` runs, or the reason why startup omits the whole check. Absent if both run the
   * same check.
   */
  readonly less?: string
}
