import { Effect, FileSystem, Layer, Option, type Scope } from "effect"
import { CleanupRhythm } from "../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import * as Runtime from "../../actors/Runtime.ts"
import { machine } from "../../src/composition/Machine.ts"
import { platform } from "../../src/composition/Platform.ts"
import { storage } from "../../src/composition/Storage.ts"
import { loadSettings, type Settings } from "../../src/settings/Settings.ts"

/**
 * Loads the default settings for the test's data folder, except that Runs use the host's network, because creating a network
 * takes as long as a plan.
 */
export const testSettings = (overrides: Partial<Settings>) =>
  Effect.map(
    loadSettings(new Map(), Option.none()),
    (settings): Settings => ({ ...settings, log: "error", runnerNetwork: "host", ...overrides })
  )

/**
 * Turns off background work, which would otherwise run every minute and interfere with tests. Tests start turns of the
 * background work explicitly.
 */
export const cleanupByHand = Layer.succeed(CleanupRhythm, () => Effect.void)

/** Builds the actors with their storage and the runner, without the HTTP layer. */
export const controlPlane = (settings: Settings) =>
  Runtime.layer.pipe(
    Layer.provide(cleanupByHand),
    Layer.provideMerge(machine(settings)),
    Layer.provideMerge(storage(settings)),
    Layer.provideMerge(platform)
  )

/** Creates a folder that is removed when the Scope closes. */
export const temporaryFolder: Effect.Effect<string, never, FileSystem.FileSystem | Scope.Scope> = Effect.gen(
  function* () {
    const files = yield* FileSystem.FileSystem
    return yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
  }
).pipe(Effect.orDie)
