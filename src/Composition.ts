import { hostname } from "node:os"
import { Layer } from "effect"
import { NodeLabel } from "../actors/base/node/Nodes.ts"
import { ServerRelease } from "../actors/running/agent-pool/AgentVersions.ts"
import * as Actors from "../actors/Runtime.ts"
import { ScheduledBackups } from "./backup/ScheduledBackups.ts"
import { httpLayer, listener } from "./composition/HttpLayer.ts"
import { identity } from "./composition/Identity.ts"
import { machineWith, type RunnerServices } from "./composition/Machine.ts"
import { mailDelivery, mailSettings } from "./composition/Mail.ts"
import { noticeDelivery, noticeSettings } from "./composition/Notices.ts"
import { operatorPolicy } from "./composition/OperatorPolicy.ts"
import { withoutInheritedTraceContext } from "./composition/InheritedTraceContext.ts"
import { readinessSignal } from "./composition/ReadinessSignal.ts"
import { startSandboxWarmup, warmSandbox } from "./composition/SandboxWarmup.ts"
import { type DatabaseServices, databaseOf, storageOver } from "./composition/Storage.ts"
import { pageWatch } from "./database/PageWatch.ts"
import type { HttpListener } from "./http/HttpListener.ts"
import { backupNotices } from "./http/BackupNotices.ts"
import { isolationNotice } from "./http/IsolationNotice.ts"
import { agentMetrics } from "./observability/AgentMetrics.ts"
import { OperatorListener } from "./observability/OperatorListener.ts"
import { diskMetrics } from "./observability/DiskMetrics.ts"
import { storedMetrics } from "./observability/StoredMetrics.ts"
import { noticeMetrics } from "./observability/NoticeMetrics.ts"
import { runMetrics } from "./observability/RunMetrics.ts"
import { operatorServer } from "./operator/OperatorServer.ts"
import { telemetry } from "./observability/Telemetry.ts"
import type { Draining } from "./streams/Draining.ts"
import type { WebSockets } from "./streams/WebSockets.ts"
import type { Settings } from "./settings/Settings.ts"
import { retentionSettings } from "./settings/RetentionSettings.ts"
import { version } from "./Version.ts"

/** Parts that a host application can replace. */
export interface Parts<HttpA, HttpE, HttpR, DatabaseA, DatabaseE, DatabaseR, RunnerE, RunnerR> {
  readonly http: Layer.Layer<HttpListener | WebSockets | Draining | HttpA, HttpE, HttpR>
  readonly database: Layer.Layer<DatabaseServices | DatabaseA, DatabaseE, DatabaseR>
  readonly runner: Layer.Layer<RunnerServices, RunnerE, RunnerR>
}

/**
 * Composes the control plane from the given parts: storage, executors, actors and HTTP interface. When the scope closes, the
 * parts are drained in reverse order. First, the control plane stops accepting Runs and requests. Then live streams receive
 * the position from which to resume, and Runs get their grace period. The database closes next, and the operator's listener
 * last.
 */
export const controlPlaneOf = <HttpA, HttpE, HttpR, DatabaseA, DatabaseE, DatabaseR, RunnerE, RunnerR>(
  settings: Settings,
  parts: Parts<HttpA, HttpE, HttpR, DatabaseA, DatabaseE, DatabaseR, RunnerE, RunnerR>
) => {
  const operator =
    settings.operatorListen === undefined ? OperatorListener.none : OperatorListener.layer(settings.operatorListen)
  const observed = settings.operatorListen !== undefined || settings.otlpUrl !== undefined
  return Layer.mergeAll(
    readinessSignal,
    operatorServer,
    mailDelivery(settings),
    noticeDelivery,
    observed ? Layer.mergeAll(runMetrics, agentMetrics, diskMetrics, storedMetrics, noticeMetrics) : Layer.empty
  ).pipe(
    Layer.provideMerge(httpLayer(settings).pipe(Layer.provide(isolationNotice), Layer.provide(backupNotices))),
    Layer.provideMerge(ScheduledBackups.layer(settings)),
    Layer.provideMerge(Actors.layer),
    Layer.provideMerge(identity(settings)),
    Layer.provideMerge(parts.runner),
    Layer.provideMerge(storageOver(settings, parts.database).pipe(Layer.provide(mailSettings(settings)))),
    Layer.provideMerge(noticeSettings(settings)),
    Layer.provideMerge(operator),
    Layer.provideMerge(parts.http),
    Layer.provide(operatorPolicy(settings)),
    Layer.provide(retentionSettings(settings)),
    Layer.provide(Layer.succeed(ServerRelease, version)),
    Layer.provide(Layer.succeed(NodeLabel, { label: hostname(), release: version })),
    Layer.provide(telemetry({ url: settings.otlpUrl, version })),
    withoutInheritedTraceContext
  )
}

/** Checks the pages of the embedded database. */
const fileWatch = ({ databaseUrl }: Settings): typeof pageWatch => (databaseUrl === undefined ? pageWatch : Layer.empty)

/** Composes a complete control plane from its settings, including the database, runner and listener. */
export const controlPlane = (settings: Settings) =>
  controlPlaneOf(settings, {
    http: listener(settings),
    database: fileWatch(settings).pipe(
      Layer.provideMerge(databaseOf(settings)),
      Layer.provideMerge(startSandboxWarmup(settings))
    ),
    runner: machineWith(settings, warmSandbox)
  })
