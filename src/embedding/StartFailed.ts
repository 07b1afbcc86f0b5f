import { Effect, Layer, Schema } from "effect"

/** What caused a start to fail: settings, folder, database, key, address or machine. */
export const StartReason = Schema.Literals([
  "ConfigError",
  "SettingsRefused",
  "StaticClientsRefused",
  "DataFolderUnusable",
  "InstanceAlreadyRunning",
  "PlatformError",
  "DatabaseDamaged",
  "DatabaseMoved",
  "DatabaseTooNew",
  "DatabaseVanished",
  "InstallationMismatch",
  "MigrationError",
  "SchemaError",
  "SqlError",
  "SnapshotStorageFailed",
  "VaultLocked",
  "ListenRefused",
  "ServeError"
])
export type StartReason = typeof StartReason.Type

/** The control plane did not start. `message` contains the remedy, and `cause` is the original failure. */
export class StartFailed extends Schema.TaggedError<StartFailed>()("StartFailed", {
  reason: StartReason,
  message: Schema.String,
  cause: Schema.Unknown
}) {}

/** Every failure at startup has a tag. */
interface Tagged {
  readonly _tag: StartReason
  readonly message: string
}

const startFailed = (cause: Tagged) => new StartFailed({ reason: cause._tag, message: cause.message, cause })

/** A failure in a part that the host provides. It is passed on unchanged. */
export class HostFailure<E> {
  readonly _tag = "HostFailure"
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

const mapFailure = <A, E, R, E2>(layer: Layer.Layer<A, E, R>, map: (error: E) => E2): Layer.Layer<A, E2, R> =>
  Layer.effectContext(Effect.mapError(Layer.build(layer), map))

/** Marks failures in a part that the host provides, to distinguish them from failures in svc. */
export const ofHost = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, HostFailure<E>, R> =>
  mapFailure(layer, (error) => new HostFailure(error))

/** Combines all startup failures of svc in one error type. Failures in parts that the host provides remain separate. */
export const withStartFailed = <A, Own extends Tagged, R, E = never>(
  layer: Layer.Layer<A, Own | HostFailure<E>, R>
): Layer.Layer<A, StartFailed | E, R> =>
  mapFailure(layer, (error) => (error instanceof HostFailure ? error.error : startFailed(error)))
