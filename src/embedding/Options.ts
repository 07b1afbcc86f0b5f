import { ConfigProvider, Duration, Effect, Layer, Option } from "effect"
import { RunSettings } from "../../actors/ledger/run/RunSettings.ts"
import { machine, type RunnerServices } from "../composition/Machine.ts"
import type { DatabaseServices } from "../composition/Storage.ts"
import * as Database from "../database/Database.ts"
import { loadSettings } from "../settings/Settings.ts"
import { type HostSettings, settingTexts } from "./HostSettings.ts"
import { type HostFailure, ofHost, type StartFailed, withStartFailed } from "./StartFailed.ts"

/** Options for stopping the control plane when its scope closes. */
export interface Drain {
  /** Time for which Runs may continue before applies are interrupted to save their state. Defaults to 30 seconds. */
  readonly grace?: Duration.Input
  /**
   * For a listener, the time between the first not-ready response and closing, so that a load balancer can react. At most
   * 300 seconds.
   */
  readonly delay?: Duration.Input
}

/** The options of a control plane that are plain values. */
export interface PlainOptions {
  /** Folder that contains all stored data. */
  readonly dataDir: string
  /** Additional settings, keyed by their names in the settings file. svc does not read the environment. */
  readonly settings?: HostSettings
  readonly drain?: Drain
}

/** Parts that a host can replace. */
export interface HostParts<DatabaseE = never, DatabaseR = never, RunnerE = never, RunnerR = never> {
  /** An SQLite database outside the data folder. Create it with `layerFromSqlClient` and the host's `SqlClient`. */
  readonly database?: Layer.Layer<DatabaseServices, DatabaseE, DatabaseR>
  /** Replaces some or all services of the shipped runner. */
  readonly runner?: (shipped: Layer.Layer<RunnerServices, StartFailed>) => Layer.Layer<RunnerServices, RunnerE, RunnerR>
}

/** Reads the settings from the options. Never reads environment variables, because they belong to the host. */
export const settingsOf = (
  { dataDir, drain, settings = {} }: PlainOptions,
  { baseUrl, listen }: { readonly baseUrl?: string | undefined; readonly listen?: string | undefined }
) =>
  Effect.gen(function* () {
    const texts = yield* settingTexts(settings)
    const decided = {
      dataDir,
      baseUrl,
      listen,
      drainDelay: drain?.delay === undefined ? undefined : String(Math.ceil(Duration.toSeconds(drain.delay)))
    }
    for (const [name, text] of Object.entries(decided)) {
      if (text !== undefined) texts.set(name, text)
    }
    return yield* loadSettings(texts, Option.none())
  }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})))

type LoadedSettings = Effect.Success<ReturnType<typeof settingsOf>>
type OwnRunner = ReturnType<typeof machine>

/** Applies the grace period to Runs when the control plane stops. */
const graced = <E, R>(runner: Layer.Layer<RunnerServices, E, R>, drain: Drain | undefined) =>
  Layer.effect(
    RunSettings,
    Effect.map(RunSettings, (shipped) => ({ ...shipped, drainGrace: drain?.grace ?? shipped.drainGrace }))
  ).pipe(Layer.provideMerge(runner))

/** Builds the host's runner on top of the shipped runner, which gets its folder and machine from the surrounding context. */
const hosted = <E, R>(own: OwnRunner, change: NonNullable<HostParts<never, never, E, R>["runner"]>) =>
  Layer.unwrap(
    Effect.map(Effect.context<Layer.Services<OwnRunner>>(), (needs) =>
      ofHost(change(Layer.provide(withStartFailed(own), Layer.succeedContext(needs))))
    )
  )

/** Returns the database and the runner that the host provides. By default, returns those of svc. */
export const partsOf = <DatabaseE, DatabaseR, RunnerE, RunnerR>(
  options: PlainOptions & HostParts<DatabaseE, DatabaseR, RunnerE, RunnerR>,
  settings: LoadedSettings
) => {
  const own = machine(settings)
  const database: Layer.Layer<
    DatabaseServices,
    HostFailure<DatabaseE | RunnerE> | Layer.Error<typeof Database.layer>,
    DatabaseR | Layer.Services<typeof Database.layer>
  > = options.database === undefined ? Database.layer : ofHost(options.database)
  const runner: Layer.Layer<
    RunnerServices,
    HostFailure<DatabaseE | RunnerE> | Layer.Error<OwnRunner>,
    RunnerR | Layer.Services<OwnRunner>
  > = options.runner === undefined ? own : hosted(own, options.runner)
  return { database, runner: graced(runner, options.drain) }
}
