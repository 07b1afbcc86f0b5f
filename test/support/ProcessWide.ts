import { Effect, Layer, Scope } from "effect"
import { KeyGeneration, type NewKey } from "../../actors/identity/KeyGeneration.ts"
import type { SigningAlgorithm } from "../../actors/identity/Client.ts"
import { ParserThreads, parserThreads } from "../../runner/scan/HclParser.ts"
import { bundledSync, syncsInThisProcess } from "./SyncProgram.ts"

// A test process starts hundreds of services, so anything expensive that holds no service's state is started once.
const processScope = Scope.makeUnsafe()

const threads = Effect.runSync(Effect.cached(Scope.provide(parserThreads, processScope)))

/** More keys than any test has at a time, so that all of its keys differ. */
const keysOfEach = 12

const rounds = new Map<SigningAlgorithm, { next: number; readonly keys: Array<Effect.Effect<NewKey>> }>()

/** A generated pair, the next of a few in turn. */
const nextKey = (algorithm: SigningAlgorithm) =>
  Effect.suspend(() => {
    const round = rounds.get(algorithm) ?? { next: 0, keys: [] }
    rounds.set(algorithm, round)
    const at = round.next++ % keysOfEach
    const key = round.keys[at] ?? Effect.runSync(Effect.cached(KeyGeneration.defaultValue().generate(algorithm)))
    round.keys[at] = key
    return key
  })

/** What the services of one test process share: the process for syncs, parser threads, and key pairs. */
export const processWide = Layer.mergeAll(
  bundledSync,
  syncsInThisProcess,
  Layer.succeed(ParserThreads, threads),
  Layer.succeed(KeyGeneration, { generate: nextKey })
)
