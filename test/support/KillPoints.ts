import { Effect, Layer } from "effect"
import { KillPoint, type KillPointName } from "../../actors/base/KillPoint.ts"

/** Actions at kill points. `at` contains them by name, and each runs once. `layer` ignores all other points. */
export const killPoints = () => {
  const at = new Map<KillPointName, Effect.Effect<void>>()
  const layer = Layer.succeed(KillPoint, (name) =>
    Effect.suspend(() => {
      const happens = at.get(name)
      at.delete(name)
      return happens ?? Effect.void
    })
  )
  return { at, layer }
}

/** Behaves like the end of the process for the code at the kill point. */
export const processEnd: Effect.Effect<never> = Effect.die(new Error("the process ended here"))
