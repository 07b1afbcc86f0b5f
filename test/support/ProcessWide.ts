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

// A test process starts hundreds of services, so it creates expensive objects only once if they hold no service state.
const processScope = Scope.makeUnsafe()

const threads = Effect.runSync(Effect.cached(Scope.provide(parserThreads, processScope)))

const redaction = Effect.runSync(Scope.provide(redactionThreads(), processScope))

const working = new Set<string>()

/** Finds a working variant of bubblewrap once, because hundreds of sandboxes start on the same machine. */
const refusalOf: KnownVariantsShape["refusalOf"] = (key, ask) =>
  Effect.suspend(() =>
    working.has(key)
      ? Effect.undefined
      : Effect.tap(ask, (refusal) => Effect.sync(() => (refusal === undefined ? working.add(key) : working)))
  )

/** More key pairs than any test uses at a time, so that a test never gets the same key twice. */
const keysOfEach = 12

const keys = new Map<SigningAlgorithm, Effect.Effect<NewKey>>()

/** Hands out generated key pairs from a small pool, in turn. */
const nextKey = (algorithm: SigningAlgorithm) =>
  Effect.suspend(() => {
    const known = keys.get(algorithm) ?? takenInTurn(keysOfEach, KeyGeneration.defaultValue().generate(algorithm))
    keys.set(algorithm, known)
    return known
  })

/** Uses a cheaper password hash than the product, whose cost would dominate many tests. */
const passwordCost = { memoryCost: 64, timeCost: 1 }

/**
 * Shared by all services of a test process: the bundled confinement and sync programs, the parser and redaction threads, the
 * working variant of bubblewrap, key pairs, and the cost of a password. No spans are recorded, as in a service without a
 * collector.
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
