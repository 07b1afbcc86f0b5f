import { Effect, Layer } from "effect"
import { AttemptLimits } from "../../src/accounts/AttemptLimits.ts"
import { KnownDevices } from "../../src/accounts/KnownDevices.ts"

/** Attempts are never limited. */
export const unlimitedAttempts = Layer.succeed(AttemptLimits, {
  consume: () => Effect.void,
  enter: () => Effect.void
})

/** Every browser is unknown, and remains unknown. */
export const strangers = Layer.succeed(KnownDevices, {
  recognise: () => Effect.undefined,
  remember: (response) => Effect.succeed(response)
})
