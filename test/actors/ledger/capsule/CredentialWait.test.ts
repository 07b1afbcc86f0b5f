import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { credentialWaitOf } from "../../../../actors/ledger/capsule/CredentialWait.ts"
import { type CapsuleId, ConnectionId } from "../../../../schema/records/Ids.ts"
import type { ProviderResolution } from "../../../../schema/records/Provider.ts"
import { attentionOf } from "../../../../src/http/handlers/Attention.ts"
import { suite } from "../../../support/Effect.ts"
import {
  bound,
  demoConnection,
  demoModule,
  freshKey,
  install,
  note,
  replanned,
  settled
} from "../../../support/Journey.ts"
import { demo, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const attention = Effect.gen(function* () {
  const { workspaceId } = yield* TestPlane
  const items = attentionOf({ needingAttention: yield* (yield* Capsules).needingAttention(workspaceId) })
  return items.filter(({ kind }) => kind === "waiting_credential")
})

const configured = Effect.fnUntraced(function* (capsuleId: CapsuleId, connectionId: ConnectionId) {
  const { context } = yield* TestPlane
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { installConfigReAdoption } = yield* capsules.read(capsuleId)
  const planned = yield* capsuleCommands.ConfigurationPlan(capsuleId, {
    context,
    request: {
      providerBindings: [bound(connectionId)],
      expected: { authorityGuard: installConfigReAdoption.authorityGuard }
    },
    idempotency: freshKey()
  })
  return yield* settled(planned.value.planRunId)
})

describe.skipIf(Bun.which("terraform") === null)("Credential waits", () => {
  tests.live(
    "a Capsule shows the missing credential and the people who can supply it, until a Run receives the credential",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const capsules = yield* Capsules
        const { capsuleId, planRunId } = yield* install("waits", { "main.tf": demoModule(note("waits")) })
        if (capsuleId === undefined || planRunId === undefined) return yield* Effect.die("no Capsule")
        const wait = Effect.map(capsules.read(capsuleId), ({ waitsForCredential }) => waitsForCredential)
        expect(yield* wait).toMatchObject({
          runId: planRunId,
          provider: demo,
          moduleLocalName: "demo",
          reason: "No Connection is bound to demo.",
          turn: "admin",
          next: "An owner or admin binds a Connection with a configuration plan."
        })
        expect(yield* attention).toMatchObject([{ capsuleId, capsuleName: "waits", turn: "admin", runId: planRunId }])

        // Another Connection is bound, but it has expired.
        const connection = yield* demoConnection("credential-wait-canary-1f07")
        yield* sql`UPDATE connections SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${connection.id}`
        expect((yield* configured(capsuleId, connection.id)).status).toBe("failed")
        expect(yield* wait).toMatchObject({
          connectionId: connection.id,
          turn: "admin",
          next: "An owner or admin renews the Connection, or binds another one with a configuration plan."
        })

        // Once the Connection is renewed, anyone who may plan can continue.
        yield* (yield* ConnectionCommands).Update(connection.id, { context, request: { expiresAt: null } })
        const renewed = {
          connectionId: connection.id,
          turn: "member",
          next: "Its Connection was changed since. Plan again."
        }
        expect(yield* wait).toMatchObject(renewed)
        expect(yield* attention).toMatchObject([renewed])

        expect((yield* replanned(capsuleId)).status).toBe("waiting_approval")
        expect(yield* wait).toBeUndefined()
        expect(yield* attention).toEqual([])
      })
  )

  const run = { id: namedRun("a"), since: "2026-01-01T00:00:00.000Z" }
  const blocked: ProviderResolution = {
    provider: "registry.opentofu.org/acme/cloud",
    moduleLocalName: "cloud",
    status: "blocked_policy",
    blockedReason: "The operator does not allow this provider.",
    envNames: []
  }

  tests.live(
    "a Capsule waits for the operator if the operator forbids its provider, and for an admin if a rule forbids it",
    () =>
      Effect.sync(() => {
        const connection = undefined
        expect(credentialWaitOf(run, blocked, { isDenied: true, isOfPool: false, connection }).turn).toBe("operator")
        expect(credentialWaitOf(run, blocked, { isDenied: false, isOfPool: false, connection }).turn).toBe("admin")
        const ofPool = { ...blocked, connectionId: ConnectionId.make("conn_aaaaaaaaaaaaaaaaaaaaaaaa") }
        expect(credentialWaitOf(run, ofPool, { isDenied: false, isOfPool: true, connection }).turn).toBe("operator")
      })
  )

  tests.live("a Capsule never suggests a remedy that its bound Connection rules out", () =>
    Effect.sync(() => {
      const missing: ProviderResolution = {
        ...blocked,
        status: "blocked_missing_connection",
        connectionId: ConnectionId.make("conn_aaaaaaaaaaaaaaaaaaaaaaaa")
      }
      const wait = (connection: "revoked" | "unconfirmed" | "error") =>
        credentialWaitOf(run, missing, { isDenied: false, isOfPool: false, connection })
      expect(wait("error")).toMatchObject({ turn: "admin", next: expect.stringContaining("renews the Connection") })
      expect(wait("revoked")).toMatchObject({ turn: "admin", next: expect.not.stringContaining("renews") })
      expect(wait("unconfirmed").turn).toBe("operator")
    })
  )
})
