import { Effect, Layer } from "effect"
import { KillPoint, type KillPointName } from "../../actors/base/KillPoint.ts"

/**
 * Actions at kill points. `at` contains the actions by kill point, and each action runs once. `layer` ignores all other
 * points.
 */
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

/** Stops the execution at the kill point, as if the process had ended. */
export const processEnd: Effect.Effect<never> = Effect.die(new Error("the process ended here"))
