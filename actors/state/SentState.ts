import { Option, Redacted } from "effect"
import type { StateProblem } from "../../runner/execution/RunOutcome.ts"
import { continuationProblem, parseState, type StateFile } from "../../runner/execution/StateFile.ts"

type Bytes = Redacted.Redacted<Uint8Array>

/** A state that an agent sent, as the state itself says it is. */
export interface SentState {
  readonly state?: Bytes
  readonly lineage?: string
  readonly serial?: number
  readonly resourceCount?: number
  readonly rejectedState?: Bytes
  readonly stateProblem?: StateProblem
}

/** A larger one is not parsed: that takes several times its size of memory, and its head says which one it is. */
const longestParsed = 16 * 1024 * 1024
const headBytes = 4096

const headOf = (bytes: Uint8Array, saidCount: number | undefined) => {
  const head = new TextDecoder().decode(bytes.subarray(0, headBytes))
  const serial = /^\{(?:[^{}[\]]*,)?\s*"serial"\s*:\s*(\d{1,15})\s*,/.exec(head)?.[1]
  const lineage = /^\{(?:[^{}[\]]*,)?\s*"lineage"\s*:\s*"([^"\\]{1,200})"\s*,/.exec(head)?.[1]
  return serial === undefined || lineage === undefined
    ? Option.none()
    : Option.some({ serial: Number(serial), lineage, resourceCount: saidCount ?? 0 })
}

const described = (bytes: Uint8Array, saidCount: number | undefined) =>
  bytes.length <= longestParsed ? parseState(bytes) : Option.orElse(headOf(bytes, saidCount), () => parseState(bytes))

/**
 * What a state that an agent sent is, by its own words and not by the agent's. One that is none, or does not continue the Run's base, does not become
 * the Capsule's: it is kept for a person to look at.
 */
export const sentState = (
  state: Bytes | undefined,
  base: Pick<StateFile, "lineage" | "serial"> | undefined,
  saidCount: number | undefined
): SentState => {
  if (state === undefined) return {}
  const found = described(Redacted.value(state), saidCount)
  if (Option.isNone(found)) return { rejectedState: state, stateProblem: "unreadable" }
  const problem = continuationProblem(base, found.value)
  if (problem !== undefined) return { rejectedState: state, stateProblem: problem }
  const { lineage, resourceCount, serial } = found.value
  return { state, lineage, serial, resourceCount }
}
