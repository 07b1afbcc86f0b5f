import { Effect, Layer } from "effect"
import { KillPoint, type KillPointName } from "../../actors/base/KillPoint.ts"

/** Actions at kill points: `at` holds them by name, each runs once, and `layer` ignores all other points. */
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

/** The end of the process, as far as code at the kill point is concerned. */
export const processEnd: Effect.Effect<never> = Effect.die(new Error("the process ended here"))
