import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Exit, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { ConnectionStore } from "../../../../actors/inputs/connection/ConnectionStore.ts"
import { CredentialsInUse } from "../../../../actors/inputs/connection/CredentialsInUse.ts"
import type { KillPointName } from "../../../../actors/base/KillPoint.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { CredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"
import { type ConnectionId, ProjectId, type RunId } from "../../../../schema/records/Ids.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  applied,
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
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

setDefaultTimeout(120_000)

const points = killPoints()
const tests = suite(testPlane().pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

const rotated = "A Connection that this plan was made with has new values. Plan again."
const before = "rotation-canary-before-5f20"
const after = "rotation-canary-after-81ce"

const files = (name: string, extra = "") => ({ "main.tf": demoModule(`${note(name)}\n${extra}`) })
const bindings = (id: ConnectionId) => ({ options: { providerBindings: [bound(id)] } })

const rotate = Effect.fnUntraced(function* (id: ConnectionId, token: string) {
  const { context, notesDir } = yield* TestPlane
  return yield* (yield* ConnectionCommands).Update(id, {
    context,
    request: { values: { DEMO_TOKEN: token, DEMO_DIR: notesDir } }
  })
})

/** Rotates the Connection when a Run reaches the kill point, as a concurrent caller would. */
const rotatedAt = Effect.fnUntraced(function* (point: KillPointName, id: ConnectionId, token: string) {
  const services = yield* Effect.context<TestPlane | CommandsOf<"Connection">>()
  points.at.set(point, Effect.asVoid(Effect.orDie(rotate(id, token))).pipe(Effect.provideContext(services)))
})

const toldOf = Effect.fnUntraced(function* (id: RunId) {
  const streams = yield* RunStreams
  const events = yield* streams.events(id, 0, 1000)
  const logs = yield* streams.logs(id, 0, 10_000)
  return { events: events.items, text: JSON.stringify([events.items, logs.items, yield* (yield* Runs).read(id)]) }
})

const reasonOf = Effect.fnUntraced(function* (id: RunId) {
  const { events } = yield* toldOf(id)
  return events.find((event) => event.kind === "run.superseded")?.data["reason"]
})

describe.skipIf(Bun.which("terraform") === null)("Rotated Connections", () => {
  tests.live("a changed Connection keeps its id, reveals no value, and voids only plans that used the old values", () =>
    Effect.gen(function* () {
      const { context, dataDir, workspaceId } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const connection = yield* demoConnection(before)
      const other = yield* demoConnection("rotation-canary-other-77aa")
      const waiting = yield* planned("waiting", files("waiting"), bindings(connection.id))
      const approved = yield* planned("approved", files("approved"), bindings(connection.id))
      yield* runCommands.Approve(approved.plan.id, { context })
      const untouched = yield* planned("untouched", files("untouched"), bindings(other.id))

      const answer = yield* rotate(connection.id, after)
      expect(answer.connection).toMatchObject({ id: connection.id, version: 2, status: "verified" })
      // svc does not contact the provider. `completeness` means that every required value is present.
      expect(answer.tested).toBe("completeness")
      expect([...answer.supersededRunIds].sort()).toEqual([waiting.plan.id, approved.plan.id].sort())
      for (const { plan } of [waiting, approved]) {
        expect((yield* runs.read(plan.id)).status).toBe("superseded")
        expect(yield* reasonOf(plan.id)).toBe(rotated)
        expect((yield* Effect.flip(runs.apply(context, plan.id, undefined))).code).toBe("failed_precondition")
      }
      expect((yield* runs.read(untouched.plan.id)).status).toBe("waiting_approval")

      const { items } = yield* (yield* Audit).list(workspaceId, context.actor.subject ?? "", {}, { limit: 20 })
      const event = items.find(({ action }) => action === "connection.rotate")
      expect(event?.target).toEqual({ kind: "connection", id: connection.id })
      expect(event?.data).toMatchObject({ version: 2, envNames: ["DEMO_TOKEN", "DEMO_DIR"], tested: "completeness" })
      expect(JSON.stringify([answer, items])).not.toContain("canary")
      expect(canarySweep(dataDir, [before, after])).toEqual([])

      const plan = yield* replanned(waiting.capsuleId)
      expect(plan.providerResolutions?.[0]?.use?.connectionVersion).toBe(2)
      expect((yield* applied(plan)).status).toBe("succeeded")
    })
  )

  tests.live("changing a Connection prevents the review of an unfinished plan and the start of a waiting apply", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const connection = yield* demoConnection(before)
      const { capsule } = yield* active("computing", files("computing"), bindings(connection.id))
      yield* rotatedAt("plan.prepared", connection.id, after)
      const plan = yield* replanned(capsule.id)
      expect(plan.status).toBe("superseded")
      expect(yield* reasonOf(plan.id)).toBe(rotated)

      const next = yield* replanned(capsule.id)
      yield* runCommands.Approve(next.id, { context })
      yield* rotatedAt("apply.claimed", connection.id, before)
      const apply = yield* settled((yield* runs.apply(context, next.id, undefined)).value.id)
      expect(apply.status).toBe("failed")
      expect(apply.error).toEqual({ code: "superseded", message: rotated })
    })
  )

  tests.live(
    "if a Connection changes, an apply that is still running with the old values hides both the old and the new values",
    () =>
      Effect.gen(function* () {
        const { context, notesDir } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const held = yield* CredentialsInUse
        const connection = yield* demoConnection(before)
        // The module returns both tokens as Outputs, which the provider does not mark as sensitive.
        const outputs = `
        output "old" { value = join("-", ["rotation", "canary", "before", "5f20"]) }
        output "new" { value = join("-", ["rotation", "canary", "after", "81ce"]) }
        output "plain" { value = "rotation" }`
        const { capsuleId, plan } = yield* planned(
          "running",
          files("running", `provider "demo" { echo_token = true }\n${outputs}`),
          bindings(connection.id)
        )
        yield* runCommands.Approve(plan.id, { context })
        const services = yield* Effect.context<TestPlane | CommandsOf<"Connection"> | CredentialsInUse>()
        const former: Array<string> = []
        points.at.set(
          "apply.resource.started",
          Effect.gen(function* () {
            yield* rotate(connection.id, after)
            former.push(...(yield* held.former(connection.id)).map(({ value }) => Redacted.value(value)))
          }).pipe(Effect.orDie, Effect.provideContext(services))
        )
        const apply = yield* settled((yield* runs.apply(context, plan.id, undefined)).value.id)
        expect(apply.status).toBe("succeeded")
        // A Run that starts in the meantime, with the new values, also hides the old ones.
        expect(former.sort()).toEqual([before, notesDir].sort())
        const { text } = yield* toldOf(apply.id)
        expect(text).toContain("Echo")
        expect(text).not.toContain(before)
        const published = (yield* (yield* Capsules).outputs(capsuleId)).map(({ name }) => name)
        expect(published).toEqual(["plain"])

        // No Run uses the values any longer.
        yield* held.release
        expect(yield* held.former(connection.id)).toEqual([])
        expect(yield* sql`SELECT * FROM connection_holds WHERE connection_id = ${connection.id}`).toEqual([])
      })
  )
})

describe("Connection changes", () => {
  tests.live(
    "a Connection accepts new values only if they fit its recipe, and accepts an expiry only if it is in the future",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const connections = yield* Connections
        const connectionCommands = yield* ConnectionCommands
        const store = yield* ConnectionStore
        const fields = { workspaceId, provider: "cloudflare/cloudflare", recipeId: "cloudflare-token" }
        const values = { CLOUDFLARE_API_TOKEN: "cloudflare-canary-1" }
        const past = connections.create(context, {
          ...fields,
          displayName: "late",
          values,
          expiresAt: "2020-01-01T00:00:00.000Z"
        })
        expect((yield* Effect.flip(past)).message).toStartWith("expiresAt:")
        const { id } = yield* connections.create(context, { ...fields, displayName: "edge", values })

        const row = yield* store.find(id)
        for (const [request, field] of [
          [{ values: { OTHER: "x" } }, "values.CLOUDFLARE_API_TOKEN"],
          [{ values: { CLOUDFLARE_API_TOKEN: "" } }, "values.CLOUDFLARE_API_TOKEN"],
          [{ expiresAt: "2020-01-01T00:00:00.000Z" }, "expiresAt"],
          [{ use: { roles: ["member"], projectIds: [ProjectId.make(`prj_${"a".repeat(24)}`)] } }, "use.projectIds[0]"]
        ] as const) {
          const error = yield* Effect.flip(connectionCommands.Update(id, { context, request }))
          expect([error.code, error.message.split(":")[0]]).toEqual(["invalid_request", field])
        }
        expect(yield* store.find(id)).toEqual(row)

        const renamed = yield* connectionCommands.Update(id, {
          context,
          request: {
            displayName: "edge of production",
            expiresAt: "2999-01-01T00:00:00.000Z"
          }
        })
        expect(renamed).toMatchObject({
          connection: { displayName: "edge of production", expiresAt: "2999-01-01T00:00:00.000Z", version: 1 },
          supersededRunIds: []
        })
        expect(renamed.tested).toBeUndefined()
        const endless = yield* connectionCommands.Update(id, { context, request: { expiresAt: null } })
        expect(endless.connection.expiresAt).toBeUndefined()
        yield* connectionCommands.Revoke(id, { context })
        expect((yield* Effect.flip(connectionCommands.Update(id, { context, request: { values } }))).code).toBe(
          "failed_precondition"
        )
      })
  )

  tests.live("a concurrent change to a Connection is applied completely or not at all", () =>
    Effect.gen(function* () {
      const connection = yield* demoConnection("concurrent-canary-0")
      const store = yield* ConnectionStore
      const row = yield* store.find(connection.id)
      if (row === undefined) return yield* Effect.die("no row")
      expect((yield* store.change(row, { displayName: "first" }))?.display_name).toBe("first")
      expect(yield* store.change(row, { displayName: "second" })).toBeUndefined()
      expect(yield* store.remove(row)).toBe(false)
      expect((yield* store.find(connection.id))?.display_name).toBe("first")

      const tokens = ["concurrent-canary-1", "concurrent-canary-2", "concurrent-canary-3"]
      const outcomes = yield* Effect.forEach(tokens, (token) => Effect.exit(rotate(connection.id, token)), {
        concurrency: "unbounded"
      })
      const done = outcomes.filter(Exit.isSuccess)
      expect((yield* store.find(connection.id))?.version).toBe(1 + done.length)
    })
  )

  tests.live("a Connection is removed only when nothing active uses it, and the error lists its users", () =>
    Effect.gen(function* () {
      const { context, dataDir, url, workspaceId } = yield* TestPlane
      const connections = yield* Connections
      const connectionCommands = yield* ConnectionCommands
      const sources = yield* Sources
      const sourceCommands = yield* SourceCommands
      const git = yield* connections.create(context, {
        workspaceId,
        provider: "git",
        kind: "git_https",
        recipeId: "git-https-token",
        displayName: "removed",
        origins: [CredentialOrigin.make(new URL(url).origin)],
        values: { token: "removal-canary-token-19ab" }
      })
      const { source } = yield* sources.create(context, { workspaceId, name: "kept", url, authConnectionId: git.id })
      const refused = yield* Effect.flip(connectionCommands.Remove(git.id, { context }))
      expect([refused.code, refused.message.includes("the Source kept")]).toEqual(["failed_precondition", true])
      // Two users with the same name appear once, with a count.
      const twin = yield* sources.create(context, {
        workspaceId,
        name: "kept",
        url,
        defaultRef: "twin",
        authConnectionId: git.id
      })
      const { message } = yield* Effect.flip(connectionCommands.Remove(git.id, { context }))
      expect([message.includes("the Source kept (2 times)"), message.split("the Source kept").length]).toEqual([
        true,
        2
      ])

      yield* sourceCommands.Update(twin.source.id, { context, request: { authConnectionId: null } })
      yield* sourceCommands.Update(source.id, { context, request: { authConnectionId: null } })
      // When a removal and an attachment race, the later request is rejected.
      const [removal, binding] = yield* Effect.all(
        [
          Effect.exit(connectionCommands.Remove(git.id, { context })),
          Effect.exit(sourceCommands.Update(source.id, { context, request: { authConnectionId: git.id } }))
        ],
        { concurrency: "unbounded" }
      )
      expect(Exit.isSuccess(removal)).toBe(!Exit.isSuccess(binding))
      if (Exit.isSuccess(binding)) {
        yield* sourceCommands.Update(source.id, { context, request: { authConnectionId: null } })
        yield* connectionCommands.Remove(git.id, { context })
      }
      expect((yield* Effect.flip(connections.read(git.id))).code).toBe("not_found")
      expect(
        (yield* Effect.flip(connectionCommands.Update(git.id, { context, request: { displayName: "x" } }))).code
      ).toBe("not_found")
      const listed = yield* connections.list(workspaceId, { limit: 100 })
      expect(listed.items.map(({ id }) => id)).not.toContain(git.id)
      expect(canarySweep(dataDir, ["removal-canary-token-19ab"])).toEqual([])
    })
  )

  tests.live("a Git Connection is tested against its Sources' server before its values are replaced", () =>
    Effect.gen(function* () {
      const { context, url, workspaceId } = yield* TestPlane
      const connections = yield* Connections
      const connectionCommands = yield* ConnectionCommands
      const store = yield* ConnectionStore
      const sources = yield* Sources
      const sourceCommands = yield* SourceCommands
      const { id } = yield* connections.create(context, {
        workspaceId,
        provider: "git",
        kind: "git_https",
        recipeId: "git-https-token",
        displayName: "asked",
        origins: [CredentialOrigin.make(new URL(url).origin)],
        values: { token: "git-rotation-canary-old" }
      })
      const untested = yield* connectionCommands.Update(id, {
        context,
        request: { values: { token: "git-rotation-canary-0" } }
      })
      expect(untested.tested).toBe("completeness")
      const missing = new URL("/missing.git", url).href
      const { source } = yield* sources.create(context, {
        workspaceId,
        name: "gone",
        url: missing,
        authConnectionId: id
      })
      const row = yield* store.find(id)
      const error = yield* Effect.flip(
        connectionCommands.Update(id, { context, request: { values: { token: "git-rotation-canary-new" } } })
      )
      expect(error.code).toBe("failed_precondition")
      expect(error.message).toStartWith("The new values were not taken over, the old ones still stand.")
      expect(error.message).not.toContain("canary")
      expect(error.message).toContain("The Source gone")
      expect(yield* store.find(id)).toEqual(row)
      expect((yield* Effect.flip(connectionCommands.Test(id, { context }))).code).toBe("failed_precondition")
      expect((yield* connections.read(id)).status).toBe("error")

      yield* sourceCommands.Update(source.id, { context, request: { status: "disabled" } })
      yield* sources.create(context, { workspaceId, name: "there", url, authConnectionId: id })
      const taken = yield* connectionCommands.Update(id, {
        context,
        request: { values: { token: "git-rotation-canary-new" } }
      })
      expect(taken).toMatchObject({ tested: "git_server", connection: { version: 3, status: "verified" } })
    })
  )
})
