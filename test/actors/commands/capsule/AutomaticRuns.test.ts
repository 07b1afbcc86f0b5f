import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Result, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunGroupId } from "../../../../schema/records/Ids.ts"
import { beforeTransaction } from "../../../support/BeforeTransaction.ts"
import { suite } from "../../../support/Effect.ts"
import { active } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

setDefaultTimeout(60_000)

const { interrupted, layer: writer } = beforeTransaction()
const tests = suite(testPlane({ runner: pureRunner(pureModules()), writer }))
afterAll(tests.dispose)

const at = "2026-01-01T00:00:00.000Z"

/** An open update that the Workspace's owner started. */
const update = Effect.fnUntraced(function* (letter: string) {
  const { context, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const id = RunGroupId.make(`rgrp_${letter.repeat(24)}`)
  const started_by = JSON.stringify({ actor: context.actor, actorKey: context.actorKey })
  yield* sql`INSERT INTO run_groups ${sql.insert({ id, workspace_id: workspaceId, type: "update", created_at: at, started_by })}`
  return id
})

const messageOf = <A>(answer: Result.Result<A, { readonly message: string }>) =>
  Result.isFailure(answer) ? answer.failure.message : "it was started"

/** Returns effects that pause and resume the Workspace's automation. */
const paused = Effect.gen(function* () {
  const { workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const set = (value: string | null) =>
    Effect.orDie(sql`UPDATE workspaces SET automation_paused_at = ${value} WHERE id = ${workspaceId}`)
  return { pause: set(at), resume: set(null) }
})

describe("Stopped automation", () => {
  tests.live("paused automation starts no further wave of an update, even if it was paused at the last moment", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const command = yield* CapsuleCommands
      const { capsule } = yield* active("wave-paused", pureModule)
      const { pause, resume } = yield* paused
      const plan = command.Plan(capsule.id, { context, groupId: yield* update("p"), automatic: true })
      const answer = yield* interrupted(plan, pause)
      yield* resume
      expect(messageOf(answer)).toContain("automation of the Workspace has been paused")
    })
  )

  tests.live("an update starts no further wave if the person who started it has just left the Workspace", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const command = yield* CapsuleCommands
      const { capsule } = yield* active("wave-left", pureModule)
      const member = (status: string) =>
        Effect.orDie(sql`UPDATE memberships SET status = ${status}
          WHERE workspace_id = ${workspaceId} AND subject = ${context.actor.subject ?? ""}`)
      const plan = command.Plan(capsule.id, { context, groupId: yield* update("l"), automatic: true })
      const answer = yield* interrupted(plan, member("suspended"))
      yield* member("active")
      expect(messageOf(answer)).toContain("may not plan here any more")
    })
  )

  tests.live(
    "an update that is cancelled at the last moment starts nothing, even if a person had requested the update",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const command = yield* CapsuleCommands
        const { capsule } = yield* active("wave-cancelled", pureModule)
        const id = yield* update("c")
        const cancelled = Effect.orDie(sql`UPDATE run_groups SET cancelled_at = ${at} WHERE id = ${id}`)
        const answer = yield* interrupted(command.Plan(capsule.id, { context, groupId: id }), cancelled)
        expect(messageOf(answer)).toContain("The update is over")
      })
  )

  tests.live("a schedule turned off at the last moment starts nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const command = yield* CapsuleCommands
      const { capsule } = yield* active("unscheduled", pureModule)
      const every = (hours: number) =>
        Effect.orDie(sql`UPDATE capsules SET drift_check_hours = ${hours} WHERE id = ${capsule.id}`)
      yield* every(24)
      const check = command.DriftCheck(capsule.id, { context: serviceContext, schedule: {} })
      expect(messageOf(yield* interrupted(check, every(0)))).toContain("not scheduled any more")
    })
  )

  tests.live("a webhook starts nothing if the Source stops following before the check is queued", () =>
    Effect.gen(function* () {
      const { commit, context, url, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      const sql = yield* SqlClient.SqlClient
      yield* commit("hooked", pureModule)
      const request = { workspaceId, name: "hooked", url, defaultRef: "hooked", autoSync: true }
      const { hookSecret, source } = yield* sources.create(context, request)
      const body = Stream.make(new TextEncoder().encode("{}"))
      const hook = sources.hook(source.id, { proofs: { secrets: [hookSecret] }, body, deliveryId: "one" })
      const off = Effect.orDie(sql`UPDATE sources SET auto_sync = 0 WHERE id = ${source.id}`)
      // The first transaction records the delivery. The test turns the switch off just before the second transaction.
      expect(yield* interrupted(hook, off, 2)).toEqual(Result.succeed({ runIds: [] }))
      expect(yield* sql`SELECT id FROM runs WHERE source_id = ${source.id}`).toEqual([])
    })
  )
})
