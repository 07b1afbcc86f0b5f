import { Effect, Option, type Redacted } from "effect"
import type { JobResult } from "../../../runner/agent/JobResult.ts"
import type { FoundLeftOver } from "../../../runner/execution/RunFolders.ts"
import type { LeftOver } from "../../../runner/execution/RunOutcome.ts"
import { identifyReceivedState } from "../../ledger/state/ReceivedState.ts"

/** An apply's outcome, in the form for the remains of an apply whose settlement failed. */
export const leftOverFromResult = (
  result: JobResult,
  state: Redacted.Redacted<Uint8Array> | undefined
): FoundLeftOver => {
  if (result.kind !== "apply" || result.status === "failed") return { kind: "nothing" }
  if (result.status === "left") return result.left === null ? { kind: "nothing" } : { kind: "left", left: result.left }
  const { changedAnything, lineage, possiblyCreated, resourceCount, serial } = result.outcome
  const left: LeftOver = {
    started: [],
    completed: [],
    possiblyCreated,
    changedAnything,
    ...(state === undefined ? {} : { state }),
    ...(lineage === undefined ? {} : { lineage }),
    ...(serial === undefined ? {} : { serial }),
    ...(resourceCount === undefined ? {} : { resourceCount })
  }
  return { kind: "left", left }
}

/**
 * The remains of an apply whose outcome is lost. A restore brings back the database, but the outcome may have been a file: only
 * the state shows existing objects, and objects may exist that are not in it.
 */
export const leftOverFromStateOnly = (state: Option.Option<Redacted.Redacted<Uint8Array>>): FoundLeftOver =>
  Option.match(state, {
    onNone: () => ({ kind: "unreadable" }),
    onSome: (found) => ({
      kind: "left",
      left: { started: [], completed: [], possiblyCreated: [], changedAnything: true, state: found }
    })
  })

/** A left-over, with the state read from the bytes rather than from the agent's description. */
export const checkedLeftOver = Effect.fnUntraced(function* (
  found: FoundLeftOver,
  base: Parameters<typeof identifyReceivedState>[1]
): Effect.fn.Return<FoundLeftOver> {
  if (found.kind !== "left") return found
  const { lineage: _lineage, resourceCount: _count, serial: _serial, state, ...said } = found.left
  return { kind: "left", left: { ...said, ...(yield* identifyReceivedState(state, base)) } }
})
