import { Config, Effect, Layer } from "effect"
import { servicesOver, type SvcServices } from "../client/SvcServices.ts"
import { controlPlaneOf } from "../Composition.ts"
import { listener } from "../composition/HttpLayer.ts"
import { platform } from "../composition/Platform.ts"
import { MountedHandler } from "../http/MountedHandler.ts"
import { Draining } from "../streams/Draining.ts"
import { WebSockets } from "../streams/WebSockets.ts"
import { Administration } from "./Administration.ts"
import { type ControlPlane, inProcess } from "./ControlPlane.ts"
import { type HostParts, partsOf, type PlainOptions, settingsOf } from "./Options.ts"
import { type StartFailed, withStartFailed } from "./StartFailed.ts"

/** Options of a control plane without a listener. */
export interface Options extends PlainOptions {
  /** Public origin, without a path, at which the host serves the handler. Links and the issuer use this origin. */
  readonly baseUrl: string
}

/** Options of a control plane with a listener. */
export interface ServerOptions extends PlainOptions {
  /** `host:port`. Port 0 selects a free port. Defaults to `127.0.0.1:8787`. */
  readonly listen?: string
  /** Public origin, if it differs from the listener's address. */
  readonly baseUrl?: string
}

/** Services of an in-process control plane: the control plane itself, the client's services, and the administration. */
export type Embedded = ControlPlane | Administration | SvcServices

const faces = servicesOver.pipe(Layer.provideMerge(Layer.merge(inProcess, Administration.layer)))

const mounted = (baseUrl: string, corsOrigins: ReadonlyArray<string>) =>
  MountedHandler.layer(baseUrl, corsOrigins).pipe(
    Layer.provideMerge(WebSockets.layer),
    Layer.provideMerge(Draining.layer)
  )

/**
 * Runs a control plane in this process, without a listener. The control plane has no global state, so several control planes
 * can run in one process with separate data folders. When the scope closes, the control plane drains and leaves no fibers,
 * file handles or child processes.
 */
export const layer = <DatabaseE = never, DatabaseR = never, RunnerE = never, RunnerR = never>(
  options: Options & HostParts<DatabaseE, DatabaseR, RunnerE, RunnerR>
): Layer.Layer<Embedded, StartFailed | DatabaseE | RunnerE, DatabaseR | RunnerR> =>
  Layer.fresh(
    withStartFailed(
      Layer.unwrap(
        Effect.map(settingsOf(options, { baseUrl: options.baseUrl }), (settings) =>
          faces.pipe(
            Layer.provideMerge(
              controlPlaneOf(settings, {
                ...partsOf(options, settings),
                http: mounted(options.baseUrl, settings.corsOrigins)
              })
            )
          )
        )
      )
    )
  ).pipe(Layer.provide(platform))

/** Runs a control plane with its own listener, which opens first and responds with 503 until the control plane is ready. */
export const layerServer = <DatabaseE = never, DatabaseR = never, RunnerE = never, RunnerR = never>(
  options: ServerOptions & HostParts<DatabaseE, DatabaseR, RunnerE, RunnerR>
): Layer.Layer<Embedded, StartFailed | DatabaseE | RunnerE, DatabaseR | RunnerR> =>
  Layer.fresh(
    withStartFailed(
      Layer.unwrap(
        Effect.map(settingsOf(options, options), (settings) =>
          faces.pipe(
            Layer.provideMerge(controlPlaneOf(settings, { ...partsOf(options, settings), http: listener(settings) }))
          )
        )
      )
    )
  ).pipe(Layer.provide(platform))

/**
 * Like `layer`, but reads the options that are plain values from the `ConfigProvider`, under names that the host chooses.
 */
export const layerConfig = <DatabaseE = never, DatabaseR = never, RunnerE = never, RunnerR = never>(
  options: Config.Wrap<Options>,
  parts: HostParts<DatabaseE, DatabaseR, RunnerE, RunnerR> = {}
): Layer.Layer<Embedded, StartFailed | Config.ConfigError | DatabaseE | RunnerE, DatabaseR | RunnerR> =>
  Layer.unwrap(Effect.map(Config.unwrap(options), (plain) => layer({ ...plain, ...parts })))
