import { Context, Effect, Fiber, Layer } from "effect"
import type { Settings } from "../settings/Settings.ts"
import { sandbox } from "./Machine.ts"

type Built = ReturnType<typeof sandbox>

/** The sandbox that is being found out about. */
class BegunSandbox extends Context.Service<
  BegunSandbox,
  Fiber.Fiber<Context.Context<Layer.Success<Built>>, Layer.Error<Built>>
>()("svc/composition/BegunSandbox") {}

/** Begins to find out what the machine can do, which other processes are asked: meanwhile the start goes on. */
export const beginSandbox = (settings: Settings) =>
  Layer.effect(BegunSandbox, Effect.forkScoped(Layer.build(sandbox(settings)), { startImmediately: true }))

/** The sandbox that `beginSandbox` has begun, once it is known. */
export const begunSandbox = Layer.effectContext(Effect.flatMap(BegunSandbox, Fiber.join))
