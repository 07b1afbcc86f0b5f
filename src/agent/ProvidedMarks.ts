import { Effect, Option } from "effect"
import { storedAgent } from "../../runner/agent/AgentFolder.ts"
import { sha256 } from "../../runner/execution/Digest.ts"
import { identityOf, providedMark } from "../../runner/execution/ProvidedBinding.ts"
import type { ProvidedSet } from "../../runner/execution/ProvidedCredentials.ts"

/**
 * The marks of the sets that the agent of a folder has, once it is enrolled. A mark is slow to make, and kept for as long as its set stays the same.
 *
 * - `marked`: the set with its mark
 * - `last`: that of the set as it was read last; while its files are being replaced it may not be complete
 */
export const makeMarks = (folder: string) => {
  const known = new Map<string, { readonly of: string; readonly mark: string }>()
  const marked = Effect.fnUntraced(function* (name: string, set: ProvidedSet): Effect.fn.Return<ProvidedSet> {
    const identity = yield* Effect.orElseSucceed(storedAgent(folder).identity, () => Option.none())
    if (Option.isNone(identity)) return set
    const place = [identity.value.installationId, identity.value.pool]
    const of = sha256(JSON.stringify([place, identityOf(set)]))
    const earlier = known.get(name)
    if (earlier?.of === of) return { ...set, mark: earlier.mark }
    const mark = yield* providedMark(name, set, place)
    known.set(name, { of, mark })
    return { ...set, mark }
  })
  return { marked, last: (name: string) => known.get(name)?.mark }
}
