import { afterAll, describe, expect } from "bun:test"
import { Effect, Latch, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { KillPoint } from "../../../../actors/base/KillPoint.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { SourceSchedule } from "../../../../actors/commands/source/SourceSchedule.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"

/** Pauses each sync after its fetch and before its first write. */
const fetched = Effect.runSync(Queue.unbounded<void>())
const gate = Latch.makeUnsafe(false)
const held = Layer.succeed(KillPoint, (name) =>
  name === "source_sync.executed" ? Effect.andThen(Queue.offer(fetched, undefined), gate.await) : Effect.void
)
const places = { buildConcurrency: 3, workspaceBuildConcurrency: 2 }
const tests = suite(testPlane({ run: places }).pipe(Layer.provideMerge(held)))
afterAll(tests.dispose)

const body = Stream.make(new TextEncoder().encode("{}"))

describe("Webhook bursts", () => {
  tests.live(
    "a burst of deliveries queues only one sync behind the running syncs, and stores one snapshot of the commit",
    () =>
      Effect.gen(function* () {
        const { commit, context, url, workspaceId } = yield* TestPlane
        const sources = yield* Sources
        yield* commit("burst", greeting("one"))
        const request = { workspaceId, name: "burst", url, defaultRef: "burst", autoSync: true }
        const { hookSecret, source } = yield* sources.create(context, request)
        const delivered = Effect.map(
          sources.hook(source.id, { proofs: { secrets: [hookSecret] }, body }),
          ({ runIds }) => runIds
        )

        // Two running syncs have already fetched the commit. A webhook delivery that arrives now may announce a newer
        // commit, so the delivery requires another sync.
        const first = yield* delivered
        yield* Queue.take(fetched)
        const second = yield* delivered
        yield* Queue.take(fetched)
        const third = yield* delivered
        const running = new Set<string>([...first, ...second])
        expect([running.size, third.length, running.has(third[0] ?? "")]).toEqual([2, 1, false])

        // The queued sync covers every delivery that arrives before it starts.
        expect([yield* delivered, yield* delivered]).toEqual([third, third])
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE source_lanes SET next_look_at = '2020-01-01T00:00:00.000Z' WHERE source_id = ${source.id}`
        yield* (yield* SourceSchedule).syncDue
        const listed = (includeLooks: boolean) =>
          Effect.map(
            Effect.flatMap(Runs, (runs) =>
              runs.list(workspaceId, { sourceId: source.id, includeLooks }, { limit: 50 })
            ),
            ({ items }) => items.map(({ id }) => id)
          )
        expect((yield* listed(true)).toSorted()).toEqual([...running, ...third].map((id) => RunId.make(id)).toSorted())

        yield* gate.open
        const ended = yield* Effect.forEach([...running, ...third], (id) => settled(RunId.make(id)))
        expect(ended.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"])
        const { items: snapshots } = yield* sources.snapshots(source.id, { limit: 10 })
        expect(ended.map((run) => run.sourceSnapshotId)).toEqual(ended.map(() => snapshots[0]?.id))
        expect(snapshots.length).toBe(1)
        expect(yield* listed(false)).toEqual(snapshots.map(({ createdByRunId }) => createdByRunId))
      })
  )
})

describe("Lane checks", () => {
  tests.live(
    "concurrent requests to check a Capsule's lane share one queued check, but do not share a sync of the whole Source",
    () =>
      Effect.gen(function* () {
        yield* gate.close
        yield* Queue.clear(fetched)
        const { commit, context, url, workspaceId } = yield* TestPlane
        const sources = yield* Sources
        const command = yield* SourceCommands
        yield* commit("looks", greeting("one"))
        const { source } = yield* sources.create(context, { workspaceId, name: "looks", url, defaultRef: "looks" })
        const lane = { ref: "looks", path: "." }
        const look = Effect.map(
          command.Sync(source.id, { context, intent: "manual_plan", trigger: "user", lane }),
          ({ id }) => id
        )
        const first = yield* look
        yield* Queue.take(fetched)
        const second = yield* look
        yield* Queue.take(fetched)
        const third = yield* look
        expect(new Set([first, second, third]).size).toBe(3)
        expect([yield* look, yield* look]).toEqual([third, third])
        const { id: whole } = yield* sources.sync(context, source.id, {})
        expect(whole).not.toBe(third)
        expect(yield* look).toBe(third)
        yield* gate.open
        const ended = yield* Effect.forEach([first, second, third, whole], settled)
        expect(ended.map(({ status }) => status)).toEqual(ended.map(() => "succeeded"))
      })
  )
})
