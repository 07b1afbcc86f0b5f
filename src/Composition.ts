import { Layer } from "effect"
import * as Actors from "../actors/Runtime.ts"
import { face, listener } from "./composition/Face.ts"
import { identity } from "./composition/Identity.ts"
import { machine } from "./composition/Machine.ts"
import { operatorPolicy } from "./composition/OperatorPolicy.ts"
import { storage } from "./composition/Storage.ts"
import { operatorListener } from "./observability/OperatorListener.ts"
import { runMetrics } from "./observability/RunMetrics.ts"
import { telemetry } from "./observability/Telemetry.ts"
import type { Settings } from "./settings/Settings.ts"
import { version } from "./Version.ts"

/**
 * The whole control plane from its settings: storage, what executes, the actors, and the HTTP face on its listener.
 * Closing the Scope drains in the reverse order: no new requests, live streams told where to resume, Runs given their
 * grace, then the database.
 */
export const controlPlane = (settings: Settings) => {
  const operator = settings.operatorListen === undefined ? Layer.empty : operatorListener(settings.operatorListen)
  const observed = settings.operatorListen !== undefined || settings.otlpUrl !== undefined
  return Layer.mergeAll(face(settings), operator, observed ? runMetrics : Layer.empty).pipe(
    Layer.provideMerge(Actors.layer),
    Layer.provideMerge(identity(settings)),
    Layer.provideMerge(machine(settings)),
    Layer.provideMerge(storage(settings)),
    Layer.provideMerge(listener(settings)),
    Layer.provide(operatorPolicy(settings)),
    Layer.provide(telemetry({ url: settings.otlpUrl, version }))
  )
}
