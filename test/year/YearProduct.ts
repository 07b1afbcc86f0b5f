import { Clock, Effect, Layer, Queue } from "effect"
import { CleanupRhythm } from "../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import { controlPlaneOf } from "../../src/Composition.ts"
import { listener } from "../../src/composition/HttpLayer.ts"
import { machine } from "../../src/composition/Machine.ts"
import { platform } from "../../src/composition/Platform.ts"
import * as Database from "../../src/database/Database.ts"
import type { Settings } from "../../src/settings/Settings.ts"
import { testSettings } from "../support/ControlPlane.ts"
import { bundledSync } from "../support/SyncProgram.ts"
import type { YearClock } from "./YearClock.ts"
import { yearRunner, type YearTool } from "./YearRunner.ts"
import type { YearSize } from "./YearSize.ts"

/** The requested turns of the background work, each as a callback that reports the end of the turn. */
export type Turns = Queue.Queue<() => void>

export interface YearPlace {
  readonly dataDir: string
  readonly backups: string
  readonly origins: ReadonlyArray<string>
  readonly size: YearSize
  readonly time: YearClock
  readonly turns: Turns
  readonly tool: YearTool
}

const settingsOf = ({ backups, dataDir, origins, size }: YearPlace) =>
  testSettings({
    dataDir,
    listen: { host: "127.0.0.1", port: 0 },
    gitAllowOrigins: origins,
    backupDirectory: backups,
    backupInterval: size.backupEvery * 24,
    backupKeep: 2,
    keepLogs: size.keep,
    keepEvents: size.keep,
    keepRuns: size.keep,
    keepStates: size.keep,
    keepSnapshots: size.keep,
    keepPlans: size.keep,
    keepCapsuleBackups: size.keep,
    keepAudit: size.keepAudit
  })

const productOf = (settings: Settings, tool: YearTool) =>
  controlPlaneOf(settings, {
    http: listener(settings),
    database: Database.layer,
    runner: yearRunner(tool).pipe(Layer.provideMerge(machine(settings)))
  })

/**
 * Runs the server of `svc serve` on an existing data folder, with another runner, the simulated clock, and turns of the
 * background work on request.
 */
export const yearProduct = (place: YearPlace) => {
  const rhythm = Layer.succeed(CleanupRhythm, (turn) =>
    Effect.forever(Effect.flatMap(Queue.take(place.turns), (done) => Effect.andThen(turn, Effect.sync(done))))
  )
  return Layer.unwrap(Effect.map(settingsOf(place), (settings) => productOf(settings, place.tool))).pipe(
    Layer.provideMerge(platform),
    Layer.provide(bundledSync),
    Layer.provide(rhythm),
    Layer.provide(Layer.succeed(Clock.Clock, place.time.clock))
  )
}
