import { Effect, Layer, Scope } from "effect"
import { KeyGeneration, type NewKey } from "../../actors/identity/KeyGeneration.ts"
import type { SigningAlgorithm } from "../../actors/identity/Client.ts"
import { ParserThreads, parserThreads } from "../../runner/scan/HclParser.ts"
import { bundledSync, syncsInThisProcess } from "./SyncProgram.ts"

// A test process starts hundreds of services, so anything expensive that holds no service state is started once.
const processScope = Scope.makeUnsafe()

const threads = Effect.runSync(Effect.cached(Scope.provide(parserThreads, processScope)))

/** More key pairs than any test uses at a time, so that all of a test's keys differ. */
const keysOfEach = 12

const rounds = new Map<SigningAlgorithm, { next: number; readonly keys: Array<Effect.Effect<NewKey>> }>()

/** A generated key pair, taken in turn from a small set. */
const nextKey = (algorithm: SigningAlgorithm) =>
  Effect.suspend(() => {
    const round = rounds.get(algorithm) ?? { next: 0, keys: [] }
    rounds.set(algorithm, round)
    const at = round.next++ % keysOfEach
    const key = round.keys[at] ?? Effect.runSync(Effect.cached(KeyGeneration.defaultValue().generate(algorithm)))
    round.keys[at] = key
    return key
  })

/** Shared by all services in a test process: the sync process, parser threads, and key pairs. */
export const processWide = Layer.mergeAll(
  bundledSync,
  syncsInThisProcess,
  Layer.succeed(ParserThreads, threads),
  Layer.succeed(KeyGeneration, { generate: nextKey })
)
