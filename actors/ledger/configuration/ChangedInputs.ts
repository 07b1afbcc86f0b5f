import { Effect } from "effect"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import type { InputChange } from "../../../schema/records/ChangeEvidence.ts"
import { InstallConfigStore, type LoadedInstallConfig } from "./InstallConfigStore.ts"

/**
 * The names of the inputs whose value differs between a configuration and an earlier one; values are private. `undefined` if the
 * earlier configuration has been removed.
 */
export const changedInputs = Effect.fn("changedInputs")(function* (
  earlierId: InstallConfigId,
  { row }: LoadedInstallConfig
): Effect.fn.Return<ReadonlyArray<InputChange> | undefined, never, InstallConfigStore> {
  if (earlierId === row.id) return []
  const configs = yield* InstallConfigStore
  const earlier = yield* configs.load(earlierId)
  if (earlier === undefined) return undefined
  const before = yield* configs.values(earlier.row)
  const after = yield* configs.values(row)
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .toSorted()
    .flatMap((input): ReadonlyArray<InputChange> => {
      const was = before[input]
      const is = after[input]
      if (was === undefined) return [{ input, change: "added" }]
      if (is === undefined) return [{ input, change: "removed" }]
      return canonicalJson(was) === canonicalJson(is) ? [] : [{ input, change: "changed" }]
    })
})
