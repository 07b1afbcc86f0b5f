import { Effect, Layer } from "effect"
import { AttemptLimits } from "../../src/accounts/AttemptLimits.ts"
import { KnownDevices } from "../../src/accounts/KnownDevices.ts"

/** Rate limits that allow every attempt. */
export const unlimitedAttempts = Layer.succeed(AttemptLimits, {
  consume: () => Effect.void,
  enter: () => Effect.void
})

/** A registry in which every browser is unknown. */
export const strangers = Layer.succeed(KnownDevices, {
  recognise: () => Effect.undefined,
  remember: (response) => Effect.succeed(response)
})
