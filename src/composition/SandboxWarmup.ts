import { Context, Effect, Fiber, Layer } from "effect"
import type { Settings } from "../settings/Settings.ts"
import { sandbox } from "./Machine.ts"

type Built = ReturnType<typeof sandbox>

/** Sandbox detection that runs in the background. */
class SandboxWarmup extends Context.Service<
  SandboxWarmup,
  Fiber.Fiber<Context.Context<Layer.Success<Built>>, Layer.Error<Built>>
>()("svc/src/composition/SandboxWarmup") {}

/** Starts the sandbox detection, which spawns processes, while the rest of the server starts. */
export const startSandboxWarmup = (settings: Settings) =>
  Layer.effect(SandboxWarmup, Effect.forkScoped(Layer.build(sandbox(settings)), { startImmediately: true }))

/** Waits for the detection that `startSandboxWarmup` started, and returns the sandbox. */
export const warmSandbox = Layer.effectContext(Effect.flatMap(SandboxWarmup, Fiber.join))
