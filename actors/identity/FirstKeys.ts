import { Context, Effect, Fiber, Layer } from "effect"
import { generateKey, type NewKey } from "./KeyGeneration.ts"
import { signingAlgorithms } from "./SigningAlgorithms.ts"

/** The keys of an issuer that has none, while they are made: those that sign first, and those that sign after them. */
export interface FirstKeysBegun {
  readonly active: Effect.Effect<ReadonlyArray<NewKey>>
  readonly next: Effect.Effect<ReadonlyArray<NewKey>>
}

const made = Effect.forEach(signingAlgorithms, generateKey, { concurrency: "unbounded" })

const startTakes = "500 millis"

const begin = Effect.gen(function* () {
  const active = yield* Effect.forkScoped(made)
  // Nothing waits for these but a rotation: the processors have the rest of the start to do.
  const next = yield* Effect.forkScoped(Effect.andThen(Fiber.join(active), Effect.delay(made, startTakes)))
  const begun: FirstKeysBegun = { active: Fiber.join(active), next: Fiber.join(next) }
  return { begun }
})

/**
 * The first keys of a new installation, begun while there is no database to keep them in yet: making an RSA key takes as
 * long as everything else that a first start does. Nothing is begun by default, and `SigningKeys` makes what is missing.
 */
export class FirstKeys extends Context.Reference<{ readonly begun: FirstKeysBegun | undefined }>(
  "svc/identity/FirstKeys",
  { defaultValue: () => ({ begun: undefined }) }
) {
  /** Only for a database that does not exist: nothing in it can sign before its keys are stored. */
  static readonly layerNewDatabase = Layer.effect(FirstKeys, begin)
}
