import { Effect, Option } from "effect"
import { storedAgent } from "../../runner/agent/AgentFolder.ts"
import { sha256 } from "../../runner/execution/Digest.ts"
import { identityOf, providedMark } from "../../runner/execution/ProvidedBinding.ts"
import type { ProvidedSet } from "../../runner/execution/ProvidedCredentials.ts"

/**
 * Marks of an agent's own credentials, once it is enrolled. A mark is slow to compute, so it is kept until its set changes.
 *
 * - `marked`: the set with its mark
 * - `last`: the mark of the set as last read; while its files are being replaced, it may be incomplete
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
    // The mark of a newer set is kept.
    if (known.get(name) === earlier) known.set(name, { of, mark })
    return { ...set, mark }
  })
  return { marked, last: (name: string) => known.get(name)?.mark }
}
