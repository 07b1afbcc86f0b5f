import { Option, Result } from "effect"
import { parseState, type StateFile } from "../../runner/execution/StateFile.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"

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

/** No tool writes longer values; they are stored and compared in plain text. */
const longest = { lineage: 256, toolVersion: 64 }

const isPlausible = ({ lineage, serial, toolVersion = "" }: StateFile): boolean =>
  serial >= 0 && lineage.length <= longest.lineage && toolVersion.length <= longest.toolVersion

/** The state that the bytes contain, or why it cannot be taken over. */
export const readableState = (bytes: Uint8Array): Result.Result<ReadableState, ApiError> => {
  const state = Option.getOrUndefined(parseState(bytes))
  if (state === undefined || !isPlausible(state)) return Result.fail(unreadable)
  const { managed, outputs } = state
  return managed === undefined || outputs === undefined
    ? Result.fail(encrypted)
    : Result.succeed({ ...state, managed, outputs })
}
