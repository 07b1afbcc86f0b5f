import { afterAll, describe, expect } from "bun:test"
import { Deferred, Effect, Latch, Layer } from "effect"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import type { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CreatedSource } from "../../../../schema/api/SourcesApi.ts"
import type { SourceId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { copied } from "../../../support/CopiedFolder.ts"
import { it, suite } from "../../../support/Effect.ts"
import { nothingDue } from "../../../support/NothingDue.ts"
import { settled } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { newOwner, planeAt, servedRepository, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

const points = killPoints()
const tests = suite(testPlane().pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)

interface Place {
  readonly context: CommandContext
  readonly workspaceId: WorkspaceId
  readonly url: string
}

const made = Effect.fnUntraced(function* (
  { context, url, workspaceId }: Place,
  branch: string,
  onFailure: "keep" | "remove"
) {
  const request = { workspaceId, name: branch, url, defaultRef: branch, firstSync: { onFailure } }
  return yield* begun(yield* (yield* Sources).create(context, request))
})

const begun = ({ run, source }: CreatedSource) =>
  run === undefined ? Effect.die("no sync began") : Effect.succeed({ source, run })

const ofPlane = Effect.fnUntraced(function* (branch: string, onFailure: "keep" | "remove" = "remove") {
  return yield* made(yield* TestPlane, branch, onFailure)
})

const isRemoved = Effect.fnUntraced(function* (id: SourceId) {
  yield* nothingDue
  return (yield* (yield* Sources).read(id)).removedAt !== undefined
})

const isListed = Effect.fnUntraced(function* (id: SourceId, workspaceId: WorkspaceId) {
  const { items } = yield* (yield* Sources).list(workspaceId, { limit: 100 })
  return items.some((source) => source.id === id)
})

/** Pauses the next sync after its fetch and before its first write. */
const holding = Effect.gen(function* () {
  const reached = yield* Deferred.make<void>()
  const gate = yield* Latch.make(false)
  points.at.set("source_sync.executed", Effect.andThen(Deferred.succeed(reached, undefined), gate.await))
  return { reached: Deferred.await(reached), release: gate.open }
})

describe("First reads", () => {
  tests.live("the service removes a Source whose first sync fails, and the history records the removal", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const { run, source } = yield* ofPlane("nowhere")
      expect([run.type, run.sourceId, run.trigger]).toEqual(["source_sync", source.id, "user"])
      const ended = yield* settled(run.id)
      expect([ended.status, ended.error?.code]).toEqual(["failed", "source_ref_not_found"])
      expect(yield* isRemoved(source.id)).toBe(true)
      expect(yield* isListed(source.id, workspaceId)).toBe(false)
      const { items } = yield* (yield* Audit).list(
        workspaceId,
        context.actor.subject ?? "",
        { action: "source.remove" },
        { limit: 1 }
      )
      expect(items[0]).toMatchObject({
        actor: { kind: "service" },
        runId: run.id,
        target: { kind: "source", id: source.id },
        data: { name: "nowhere", url: source.url }
      })
      // After the Source has been removed, the reason for the failure can still be read.
      expect((yield* (yield* Runs).read(run.id)).error).toEqual(ended.error)
    })
  )

  tests.live("cancelling the first read of a Source removes the Source", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const hold = yield* holding
      const { run, source } = yield* ofPlane("nowhere")
      yield* hold.reached
      yield* (yield* RunCommands).Cancel(run.id, { context })
      yield* hold.release
      yield* settled(run.id)
      expect(yield* isRemoved(source.id)).toBe(true)
    })
  )

  tests.live("a Source is kept if somebody changed its settings during its first read", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const hold = yield* holding
      const { run, source } = yield* ofPlane("nowhere")
      yield* hold.reached
      yield* (yield* SourceCommands).RenewHookSecret(source.id, { context, hookSecretVersion: 1 })
      yield* hold.release
      expect((yield* settled(run.id)).status).toBe("failed")
      expect(yield* isRemoved(source.id)).toBe(false)
    })
  )

  tests.live("a Source is kept after a successful first read, regardless of later events", () =>
    Effect.gen(function* () {
      const { commit, context, moveBranch, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      yield* commit("read", greeting("one"))
      const { run, source } = yield* ofPlane("read")
      const ended = yield* settled(run.id)
      expect([ended.status, (yield* sources.snapshots(source.id, { limit: 1 })).items[0]?.id]).toEqual([
        "succeeded",
        ended.sourceSnapshotId
      ])
      expect(yield* isRemoved(source.id)).toBe(false)
      yield* moveBranch("read", undefined)
      const later = yield* settled((yield* sources.sync(context, source.id, {})).id)
      expect(later.status).toBe("failed")
      expect([yield* isRemoved(source.id), yield* isListed(source.id, workspaceId)]).toEqual([false, true])
    })
  )

  tests.live("by default, or on request, a Source is kept with the error of its first read", () =>
    Effect.gen(function* () {
      const { context, url, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      const kept = yield* ofPlane("nowhere", "keep")
      const plain = yield* sources.create(context, { workspaceId, name: "plain", url, defaultRef: "nowhere" })
      expect(plain.run).toBeUndefined()
      const asked = yield* sources.sync(context, plain.source.id, { intent: "manual_plan" })
      for (const [id, runId] of [
        [kept.source.id, kept.run.id],
        [plain.source.id, asked.id]
      ] as const) {
        expect((yield* settled(runId)).status).toBe("failed")
        expect(yield* isRemoved(id)).toBe(false)
        const { lanes, status } = yield* sources.read(id)
        expect([status, lanes?.[0]?.error?.code]).toEqual(["error", "source_ref_not_found"])
      }
    })
  )

  tests.live("a Source is kept while a second sync may still read it, and removed if that sync fails too", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sources = yield* Sources
      const hold = yield* holding
      const { run, source } = yield* ofPlane("nowhere")
      yield* hold.reached
      // Another tab adds the same address while the first read is running, and receives the existing Source.
      const second = yield* holding
      const other = yield* sources.sync(context, source.id, { intent: "manual_plan" })
      yield* hold.release
      yield* settled(run.id)
      expect(yield* isRemoved(source.id)).toBe(false)
      yield* second.reached
      yield* second.release
      expect((yield* settled(other.id)).status).toBe("failed")
      expect(yield* isRemoved(source.id)).toBe(true)
    })
  )
})

const gaps = ["source_sync.claimed", "source_sync.executed", "source_sync.settled"] as const

it.live(
  "the next process removes a Source if the first process was killed during its first read",
  () =>
    Effect.gen(function* () {
      const root = yield* temporaryFolder
      const mirror = yield* providerMirror
      const { origin, url } = yield* servedRepository(`${root}/repository.git`)
      const kill = killPoints()
      const processAt = (dataDir: string) => Layer.fresh(planeAt({ dataDir, mirror, origins: [origin] }))

      const before = yield* Effect.gen(function* () {
        const context = yield* Effect.context<DatabaseFile>()
        const owner = yield* newOwner("owner")
        const isOver = yield* Deferred.make<void>()
        for (const gap of gaps) {
          const copy = Effect.provideContext(copied(`${root}/data`, `${root}/${gap}`), context)
          kill.at.set(
            gap,
            gap === "source_sync.settled" ? Effect.ensuring(copy, Deferred.succeed(isOver, undefined)) : copy
          )
        }
        const started = yield* made({ ...owner, url }, "nowhere", "remove")
        yield* Deferred.await(isOver)
        return { ...started, ...owner }
      }).pipe(Effect.provide(processAt(`${root}/data`).pipe(Layer.provide(kill.layer)), { local: true }))

      for (const gap of gaps) {
        yield* Effect.gen(function* () {
          const run = yield* settled(before.run.id)
          expect([gap, run.status, run.attempt]).toEqual([gap, "failed", gap === "source_sync.settled" ? 1 : 2])
          expect([gap, yield* isRemoved(before.source.id)]).toEqual([gap, true])
          expect([gap, yield* isListed(before.source.id, before.workspaceId)]).toEqual([gap, false])
        }).pipe(Effect.provide(processAt(`${root}/${gap}`), { local: true }))
      }
    }).pipe(Effect.provide(platform)),
  60_000
)
