import { Effect, Layer } from "effect"
import { AttemptLimits } from "../../src/accounts/AttemptLimits.ts"
import { KnownDevices } from "../../src/accounts/KnownDevices.ts"

/** Does not limit attempts. */
export const unlimitedAttempts = Layer.succeed(AttemptLimits, {
  consume: () => Effect.void,
  enter: () => Effect.void
})

/** Treats every browser as unknown. */
export const strangers = Layer.succeed(KnownDevices, {
  recognise: () => Effect.undefined,
  remember: (response) => Effect.succeed(response)
})
