import { Effect, Layer, Schema } from "effect"

/** Failures caused by settings, folder, database, key, address or machine. */
export const StartReason = Schema.Literals([
  "ConfigError",
  "SettingsRefused",
  "StaticClientsRefused",
  "DataFolderUnusable",
  "InstanceAlreadyRunning",
  "PlatformError",
  "DatabaseDamaged",
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

/** The control plane did not start. `message` contains the remedy; `cause` is the underlying failure. */
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

/** The failure of a part that the host provides, passed on unchanged. */
export class HostFailure<E> {
  readonly _tag = "HostFailure"
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

const mapFailure = <A, E, R, E2>(layer: Layer.Layer<A, E, R>, map: (error: E) => E2): Layer.Layer<A, E2, R> =>
  Layer.effectContext(Effect.mapError(Layer.build(layer), map))

/** Keeps the failures of a host's part apart from the service's own. */
export const ofHost = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, HostFailure<E>, R> =>
  mapFailure(layer, (error) => new HostFailure(error))

/** One error for every startup failure of the service itself; failures of the host's parts are separate. */
export const withStartFailed = <A, Own extends Tagged, R, E = never>(
  layer: Layer.Layer<A, Own | HostFailure<E>, R>
): Layer.Layer<A, StartFailed | E, R> =>
  mapFailure(layer, (error) => (error instanceof HostFailure ? error.error : startFailed(error)))
