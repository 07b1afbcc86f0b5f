import { Effect, Option, Redacted } from "effect"
import type { StateProblem } from "../../../runner/execution/RunOutcome.ts"
import { continuationProblem, type StateFile } from "../../../runner/execution/StateFile.ts"
import { scanState } from "../../../runner/execution/StateScan.ts"

type Bytes = Redacted.Redacted<Uint8Array>

/** A received or saved state, identified by its own contents. */
export interface ReceivedState {
  readonly state?: Bytes
  readonly lineage?: string
  readonly serial?: number
  readonly resourceCount?: number
  readonly rejectedState?: Bytes
  readonly stateProblem?: StateProblem
}

/**
 * Identifies an agent's state by its contents, not by the agent's report about it. Bytes that are not a state, or that do
 * not descend from the Run's base state, never become the Capsule's state, but are kept for a person to examine.
 */
export const identifyReceivedState = Effect.fnUntraced(function* (
  state: Bytes | undefined,
  base: Pick<StateFile, "lineage" | "serial"> | undefined
): Effect.fn.Return<ReceivedState> {
  if (state === undefined) return {}
  const found = yield* scanState(Redacted.value(state))
  if (Option.isNone(found)) return { rejectedState: state, stateProblem: "unreadable" }
  const problem = continuationProblem(base, found.value)
  if (problem !== undefined) return { rejectedState: state, stateProblem: problem }
  const { lineage, resourceCount = 0, serial } = found.value
  return { state, lineage, serial, resourceCount }
})
