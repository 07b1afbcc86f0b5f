import type { Redacted } from "effect"
import type { ApplyExit, ApplyOutcome, StateOutput, StateProblem } from "../../../runner/execution/RunOutcome.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import type { RunError } from "../../ledger/run/RunLifecycle.ts"

/** The outcome of an apply, as observed by the runner or reconstructed by recovery. It does not include the preparation. */
export interface ApplyResult {
  readonly exit: ApplyExit
  readonly state?: Redacted.Redacted<Uint8Array> | undefined
  readonly stateProblem?: StateProblem | undefined
  /**
   * A left-over state that cannot become the Capsule's next state. It is stored sealed until a person decides what to do
   * with it.
   */
  readonly rejectedState?: Redacted.Redacted<Uint8Array> | undefined
  readonly lineage?: string | undefined
  readonly serial?: number | undefined
  readonly resourceCount?: number | undefined
  /** The Outputs. Outputs that repeat a secret are marked. */
  readonly outputs: ReadonlyArray<StateOutput>
  readonly changedAnything: boolean
  readonly possiblyCreated: ReadonlyArray<string>
  readonly sandboxKilled: boolean
  /** Evidence about the apply itself. */
  readonly evidence: RunEvidence
  readonly error?: RunError | undefined
}

/** Creates the result of an apply that finished. `outputs` are marked to show which of them may be published. */
export const resultOf = (outcome: ApplyOutcome, outputs: ReadonlyArray<StateOutput>): ApplyResult => ({
  exit: outcome.exit,
  state: outcome.state,
  stateProblem: outcome.stateProblem,
  rejectedState: outcome.rejectedState,
  lineage: outcome.lineage,
  serial: outcome.serial,
  resourceCount: outcome.resourceCount,
  outputs,
  changedAnything: outcome.changedAnything,
  possiblyCreated: outcome.possiblyCreated,
  sandboxKilled: outcome.sandboxKilled,
  evidence: { tool: outcome.tool, diagnostics: outcome.diagnostics },
  error: outcome.limit
})

/** Marks every Output as private. Used if a secret is unknown, because in that case any Output could contain it. */
export const allPrivate = (outputs: ReadonlyArray<StateOutput>): ReadonlyArray<StateOutput> =>
  outputs.map((output) => ({ ...output, sensitive: true }))

const lookFirst = "is among the Capsule's left-over states; look at it, then plan again."

/** Explains what happened to the state of a failed apply. `isKept` is true if part of it was kept as a left-over state. */
const stateText = ({ state, stateProblem }: Pick<ApplyResult, "state" | "stateProblem">, isKept: boolean): string => {
  if (stateProblem === undefined) return "The tool reported that the apply failed."
  if (state !== undefined) {
    const other = isKept ? `Another copy that could not be used ${lookFirst}` : "Another copy could not be read."
    return `The apply failed. The state that it left was saved. ${other}`
  }
  const lost = "The apply did not leave a state that the Capsule can continue with"
  return isKept
    ? `${lost}. What could be kept of it ${lookFirst}`
    : `${lost}, and nothing of it could be kept. Compare what exists with the possibly created resources, then plan again.`
}

/**
 * Returns the error of an unsuccessful apply. If the tool reported no error, the returned error describes how the apply
 * ended.
 */
export const errorOf = (
  { error, exit, ...left }: Pick<ApplyResult, "error" | "exit" | "state" | "stateProblem">,
  isKept = false
): RunError => {
  if (error !== undefined) return error
  switch (exit) {
    case "timed_out":
      return { code: "apply_timed_out", message: "The apply did not finish in time and was ended." }
    case "killed":
      return { code: "apply_killed", message: "The apply was ended by force before it finished." }
    default:
      return { code: "apply_failed", message: stateText(left, isKept) }
  }
}
