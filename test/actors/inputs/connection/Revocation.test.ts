import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { CredentialsInUse } from "../../../../actors/inputs/connection/CredentialsInUse.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import type { ConnectionId, RunId } from "../../../../schema/records/Ids.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  bound,
  demoConnection,
  demoModule,
  note,
  planned,
  replanned,
  settled
} from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import type { CommandsOf } from "../../../../schema/commands/Command.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(60_000)

const points = killPoints()
const tests = suite(testPlane().pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

const revoked = "A Connection that this plan was made with was revoked. Bind another one, and plan again."
const before = "revocation-canary-before-5f20"
const after = "revocation-canary-after-81ce"

const files = (name: string, extra = "") => ({ "main.tf": demoModule(`${note(name)}\n${extra}`) })
const bindings = (id: ConnectionId) => ({ options: { providerBindings: [bound(id)] } })

const revoke = Effect.fnUntraced(function* (id: ConnectionId) {
  const { context } = yield* TestPlane
  return yield* (yield* ConnectionCommands).Revoke(id, { context })
})

const toldOf = Effect.fnUntraced(function* (id: RunId) {
  const streams = yield* RunStreams
  const events = yield* streams.events(id, 0, 1000)
  const logs = yield* streams.logs(id, 0, 10_000)
  return { events: events.items, text: JSON.stringify([events.items, logs.items, yield* (yield* Runs).read(id)]) }
})

const sealedOf = Effect.fnUntraced(function* (id: ConnectionId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ sealed_values: string | null }>`SELECT sealed_values FROM connections WHERE id = ${id}`
  return row?.sealed_values
})

describe.skipIf(Bun.which("terraform") === null)("Revoked Connections", () => {
  tests.live("a revoked Connection loses its values immediately, and voids every plan made with it", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const connection = yield* demoConnection(before)
      const waiting = yield* planned("revoked-waiting", files("revoked-waiting"), bindings(connection.id))
      const approved = yield* planned("revoked-approved", files("revoked-approved"), bindings(connection.id))
      yield* runCommands.Approve(approved.plan.id, { context })

      const answer = yield* revoke(connection.id)
      expect(answer.connection.status).toBe("revoked")
      expect([...answer.supersededRunIds].sort()).toEqual([waiting.plan.id, approved.plan.id].sort())
      expect([answer.cancelledRunIds, answer.runningApplyIds]).toEqual([[], []])
      expect(yield* sealedOf(connection.id)).toBeNull()
      for (const { plan } of [waiting, approved]) {
        expect((yield* runs.read(plan.id)).status).toBe("superseded")
        const { events } = yield* toldOf(plan.id)
        expect(events.find((event) => event.kind === "run.superseded")?.data["reason"]).toBe(revoked)
        expect((yield* Effect.flip(runs.apply(context, plan.id, undefined))).code).toBe("failed_precondition")
      }
      const next = yield* replanned(waiting.capsuleId)
      expect([next.status, next.error?.code]).toEqual(["failed", "blocked_missing_connection"])
      expect(next.providerResolutions?.[0]?.blockedReason).toBe("The bound Connection is revoked. Create a new one.")
      const { items } = yield* (yield* Audit).list(
        workspaceId,
        context.actor.subject ?? "",
        { action: "connection.revoke" },
        { limit: 10 }
      )
      expect(items).toHaveLength(1)
      expect(items[0]?.data).toMatchObject({ supersededRunIds: answer.supersededRunIds })
      expect((yield* revoke(connection.id)).supersededRunIds).toEqual([])
    })
  )

  tests.live("revoking a Connection stops a plan that is being computed with it", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* TestPlane
      const connection = yield* demoConnection(before)
      const { capsule } = yield* active("revoked-computing", files("revoked-computing"), bindings(connection.id))
      const services = yield* Effect.context<TestPlane | CommandsOf<"Connection">>()
      const cancelled: Array<string> = []
      points.at.set(
        "plan.prepared",
        revoke(connection.id).pipe(
          Effect.map((answer) => cancelled.push(...answer.cancelledRunIds)),
          Effect.orDie,
          Effect.provideContext(services)
        )
      )
      const plan = yield* replanned(capsule.id)
      expect(plan.status).toBe("cancelled")
      expect(cancelled).toEqual([plan.id])
      const { events } = yield* toldOf(plan.id)
      expect(events.find((event) => event.kind === "run.cancelling")?.data["reason"]).toBe(
        "A Connection that this Run uses was revoked."
      )
      yield* (yield* CredentialsInUse).release
      expect(canarySweep(dataDir, [before])).toEqual([])
    })
  )

  tests.live("revoking a Connection does not stop a running apply, which hides all values until it finishes", () =>
    Effect.gen(function* () {
      const { context, notesDir } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const held = yield* CredentialsInUse
      const connection = yield* demoConnection(before)
      // The module returns both tokens as Outputs, which the provider does not mark as sensitive.
      const outputs = `
        output "old" { value = join("-", ["revocation", "canary", "before", "5f20"]) }
        output "new" { value = join("-", ["revocation", "canary", "after", "81ce"]) }
        output "plain" { value = "revocation" }`
      const { capsuleId, plan } = yield* planned(
        "revoked-running",
        files("revoked-running", `provider "demo" { echo_token = true }\n${outputs}`),
        bindings(connection.id)
      )
      yield* runCommands.Approve(plan.id, { context })
      const services = yield* Effect.context<
        TestPlane | CommandsOf<"Connection"> | CredentialsInUse | SqlClient.SqlClient
      >()
      const seen: { going: ReadonlyArray<string>; sealed: unknown; former: ReadonlyArray<string> } = {
        going: [],
        sealed: undefined,
        former: []
      }
      points.at.set(
        "apply.resource.started",
        Effect.gen(function* () {
          const values = { DEMO_TOKEN: after, DEMO_DIR: notesDir }
          yield* (yield* ConnectionCommands).Update(connection.id, { context, request: { values } })
          seen.going = (yield* revoke(connection.id)).runningApplyIds
          // Runs the cleanup during the apply, as the scheduler does every minute.
          yield* held.release
          seen.sealed = yield* sealedOf(connection.id)
          seen.former = (yield* held.former(connection.id)).map(({ value }) => Redacted.value(value))
        }).pipe(Effect.orDie, Effect.provideContext(services))
      )
      const apply = yield* settled((yield* runs.apply(context, plan.id, undefined)).value.id)
      expect(apply.status).toBe("succeeded")
      expect(seen.going).toEqual([apply.id])
      expect(seen.sealed).toBeNull()
      expect(seen.former).toEqual(expect.arrayContaining([before, after]))
      const { text } = yield* toldOf(apply.id)
      expect(text).toContain("Echo")
      expect(text).not.toContain(before)
      expect((yield* (yield* Capsules).outputs(capsuleId)).map(({ name }) => name)).toEqual(["plain"])

      yield* held.release
      expect(yield* held.former(connection.id)).toEqual([])
      expect(yield* sql`SELECT * FROM former_connection_values WHERE connection_id = ${connection.id}`).toEqual([])
    })
  )
})
