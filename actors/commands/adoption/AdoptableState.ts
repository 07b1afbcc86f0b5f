import { Effect, Option } from "effect"
import { readState } from "../../../runner/document/Documents.ts"
import type { StateFile } from "../../../runner/execution/StateFile.ts"
import { scanState } from "../../../runner/execution/StateScan.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"

/** A complete state in plain text. */
export type ReadableState = StateFile & {
  readonly managed: NonNullable<StateFile["managed"]>
  readonly outputs: NonNullable<StateFile["outputs"]>
}

const unreadable = new ApiError({
  code: "state_unreadable",
  message:
    "This is not a whole state file of version 4. Upload what `terraform state pull` or `tofu state pull` writes, or the file terraform.tfstate."
})

const encrypted = new ApiError({
  code: "state_encrypted",
  message:
    "The state is encrypted by the tool, so nothing of it can be checked. Decrypt it first: `tofu state pull` writes it in the clear."
})

/**
 * Maximum number of values. Tools write more than twenty bytes per value; without the limit, parsing a file full of empty lists
 * would need gigabytes of memory.
 */
const mostValues = 2_000_000

/**
 * Maximum lengths of values. No tool writes values this long. The limits are needed because svc stores and compares these
 * values in plain text.
 */
const longest = { lineage: 256, toolVersion: 64 }

const isPlausible = ({ lineage, serial, toolVersion = "" }: StateFile): boolean =>
  serial >= 0 && lineage.length <= longest.lineage && toolVersion.length <= longest.toolVersion

/** Parses a state. If the state cannot be taken over, fails with the reason. */
export const readableState = Effect.fnUntraced(function* (
  bytes: Uint8Array
): Effect.fn.Return<ReadableState, ApiError> {
  // Scans before parsing, because scanning needs no memory and stops at the first fault or at the limit.
  if (Option.isNone(yield* scanState(bytes, mostValues))) return yield* unreadable
  const state = Option.getOrUndefined(yield* readState(bytes))
  if (state === undefined || !isPlausible(state)) return yield* unreadable
  const { managed, outputs } = state
  if (managed === undefined || outputs === undefined) return yield* encrypted
  return { ...state, managed, outputs }
})
