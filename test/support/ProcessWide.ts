import { Effect, Layer, References, Scope } from "effect"
import { PasswordCost } from "../../actors/access/account/PasswordHashing.ts"
import { KeyGeneration, type NewKey } from "../../actors/access/issuer/SigningKeys.ts"
import type { SigningAlgorithm } from "../../actors/access/issuer/Client.ts"
import { RedactionThreads, redactionThreads } from "../../runner/redaction/Redaction.ts"
import { KnownVariants, type KnownVariantsShape } from "../../runner/sandbox/levels/KnownVariants.ts"
import { ParserThreads, parserThreads } from "../../runner/scan/HclParser.ts"
import { takenInTurn } from "./TakenInTurn.ts"
import { bundledConfinement } from "./BundledConfinement.ts"
import { bundledSync, syncsInThisProcess } from "./SyncProgram.ts"

// A test process starts hundreds of services, so anything expensive that holds no service state is started once.
const processScope = Scope.makeUnsafe()

const threads = Effect.runSync(Effect.cached(Scope.provide(parserThreads, processScope)))

const redaction = Effect.runSync(Scope.provide(redactionThreads(), processScope))

const working = new Set<string>()

/** Each variant of bubblewrap is tried until one works: several hundred sandboxes start, and the machine stays the same. */
const refusalOf: KnownVariantsShape["refusalOf"] = (key, ask) =>
  Effect.suspend(() =>
    working.has(key)
      ? Effect.undefined
      : Effect.tap(ask, (refusal) => Effect.sync(() => (refusal === undefined ? working.add(key) : working)))
  )

/** More key pairs than any test uses at a time, so that all of a test's keys differ. */
const keysOfEach = 12

const keys = new Map<SigningAlgorithm, Effect.Effect<NewKey>>()

/** A generated key pair, taken in turn from a small set. */
const nextKey = (algorithm: SigningAlgorithm) =>
  Effect.suspend(() => {
    const known = keys.get(algorithm) ?? takenInTurn(keysOfEach, KeyGeneration.defaultValue().generate(algorithm))
    keys.set(algorithm, known)
    return known
  })

/** The shipped cost would make a sign-up one of the most expensive steps of a test. */
const passwordCost = { memoryCost: 64, timeCost: 1 }

/**
 * Shared by all services in a test process: the bundled programs of confinement and of a sync, the threads of the parser and of
 * redaction, the variant of bubblewrap that works, key pairs, and the cost of a password. No spans are created, as in a service
 * without a configured collector.
 */
export const processWide = Layer.mergeAll(
  bundledConfinement,
  bundledSync,
  syncsInThisProcess,
  Layer.succeed(ParserThreads, threads),
  Layer.succeed(RedactionThreads, Effect.succeed(redaction)),
  Layer.succeed(KnownVariants, { refusalOf }),
  Layer.succeed(KeyGeneration, { generate: nextKey }),
  Layer.succeed(PasswordCost, passwordCost),
  Layer.succeed(References.TracerEnabled, false)
)
