import type { Finding } from "./DoctorReport.ts"

/** The caller of the checks: `svc doctor`, or a server at startup, when people are waiting for the server. */
export type CheckCaller = "doctor" | "start"

/** Properties of a check, for operators. */
export interface CheckFacts {
  readonly name: Finding["check"]
  readonly looksAt: string
  /**
   * The phase of startup that runs the check: `before` anything is opened, `opening` in the code that opens the checked part,
   * `ready` once the server is ready, or `never`.
   */
  readonly atStart: "before" | "opening" | "ready" | "never"
  /**
   * The effect of an error: either it prevents the server from starting, or it is only logged. It is only logged if refusing
   * to start would do more harm to Runs in progress.
   */
  readonly onError: "refuses" | "warns"
  /**
   * The part of the check that startup omits, or the reason why it omits the whole check. Absent if startup runs the same check
   * as `svc doctor`.
   */
  readonly less?: string
}
