import { Context, Effect, Fiber, Layer } from "effect"
import type { Settings } from "../settings/Settings.ts"
import { sandbox } from "./Machine.ts"

type Built = ReturnType<typeof sandbox>

/** Sandbox detection in progress. */
class SandboxWarmup extends Context.Service<
  SandboxWarmup,
  Fiber.Fiber<Context.Context<Layer.Success<Built>>, Layer.Error<Built>>
>()("svc/src/composition/SandboxWarmup") {}

/** Starts probing the machine, which spawns other processes, while the rest of the service starts. */
export const startSandboxWarmup = (settings: Settings) =>
  Layer.effect(SandboxWarmup, Effect.forkScoped(Layer.build(sandbox(settings)), { startImmediately: true }))

/** The sandbox that `startSandboxWarmup` detects; waits until it is known. */
export const warmSandbox = Layer.effectContext(Effect.flatMap(SandboxWarmup, Fiber.join))
