import type { OpenedForRef } from "../../../schema/records/OpenedForRef.ts"

/**
 * The circumstances that decide whether a ref is reviewed. Private inputs, state and Connections are for reviewed refs: the
 * adopted lane, the Source's default, and the refs that a rule allows. The code of any other ref computes with what it is given,
 * and no redaction recognises the results, so an owner or admin has to start its plan in person.
 */
export interface RefAttempt {
  readonly ref: string
  /** The adopted lane and the Source's default. */
  readonly lanes: ReadonlyArray<string>
  /** Whether svc itself resolved one of those lanes to the commit. */
  readonly isOfLane: boolean
  /** The refs that a rule allows. */
  readonly allowed: ReadonlyArray<string>
  readonly isManager: boolean
  readonly automatic: boolean
}

/** Why the ref may be given private data; `undefined` if it may not. */
export const decideRef = (attempt: RefAttempt): "lane" | OpenedForRef["basis"] | undefined => {
  if (attempt.isOfLane || attempt.lanes.includes(attempt.ref)) return "lane"
  if (attempt.allowed.includes(attempt.ref)) return "rule"
  return attempt.isManager && !attempt.automatic ? "other_ref" : undefined
}
