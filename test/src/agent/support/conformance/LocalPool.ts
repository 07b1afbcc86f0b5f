import { join } from "node:path"
import { Deferred, Effect, Layer, Result, Schema } from "effect"
import { ModuleRunner } from "../../../../../runner/execution/ModuleRunner.ts"
import type { RunnerFailure } from "../../../../../runner/execution/RunnerFailure.ts"
import type { RunControl } from "../../../../../runner/execution/RunPlace.ts"
import type { RunSink } from "../../../../../runner/execution/RunSink.ts"
import { SnapshotStore } from "../../../../../runner/snapshot/SnapshotStore.ts"
import { closed, ReportedFact } from "../../../../../schema/events/RunEvent.ts"
import { agentMachine } from "../../../../../src/agent/AgentMachine.ts"
import { platform } from "../../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../../support/TemporaryFolder.ts"
import { archiveOf, nextRunId } from "../AgentStage.ts"
import type { Executed, Pool, Request } from "./Pool.ts"

const decodeFact = Schema.decodeUnknownSync(ReportedFact, closed)

/** Runs jobs in this process, like the control plane for the pool `local`. */
export const localPool = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const context = yield* Layer.build(agentMachine(folder).pipe(Layer.provide(platform)))
  const services = yield* Effect.all({ runner: ModuleRunner, snapshots: SnapshotStore }).pipe(
    Effect.provideContext(context)
  )
  const { runner, snapshots } = services

  const executed = Effect.fnUntraced(function* <Outcome>(
    execute: (control: RunControl) => Effect.Effect<Outcome, RunnerFailure>,
    { cancelAt }: Request = {}
  ) {
    const cancel = yield* Deferred.make<void>()
    const events: Array<ReportedFact> = []
    const lines: Array<Executed<Outcome>["lines"][number]> = []
    const saved: Array<number> = []
    const sink: RunSink = {
      event: (kind, data) => Effect.sync(() => void events.push(decodeFact({ kind, data }))),
      log: (phase, stream, text) =>
        Effect.suspend(() => {
          lines.push({ phase, stream, text })
          return cancelAt !== undefined && text.includes(cancelAt)
            ? Effect.asVoid(Deferred.succeed(cancel, undefined))
            : Effect.void
        }),
      checkpoint: ({ serial }) => Effect.sync(() => void saved.push(serial))
    }
    const result = yield* Effect.result(
      execute({ runFolder: join(folder, nextRunId()), cancelRequested: Deferred.await(cancel), sink })
    )
    const done: Executed<Outcome> = {
      outcome: Result.isSuccess(result) ? result.success : undefined,
      failure: Result.isFailure(result) ? result.failure : undefined,
      events,
      lines,
      saved
    }
    return done
  })

  const pool: Pool = {
    keep: Effect.fnUntraced(function* (files) {
      const { archiveDigest, path } = yield* archiveOf(files)
      yield* snapshots.adopt(path, archiveDigest)
      return archiveDigest
    }),
    plan: (job, request) => executed((control) => runner.plan({ ...job, runId: nextRunId() }, control), request),
    apply: (job, request) => executed((control) => runner.apply({ ...job, runId: nextRunId() }, control), request),
    driftCheck: (job, request) =>
      executed((control) => runner.driftCheck({ ...job, runId: nextRunId() }, control), request)
  }
  return pool
})
