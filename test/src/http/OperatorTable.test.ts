import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Operators } from "../../../actors/access/account/Operators.ts"
import { Audit } from "../../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import { OperatorApi } from "../../../src/http/OperatorApi.ts"
import { ErrorEnvelope } from "../../../schema/errors/ApiError.ts"
import { suite } from "../../support/Effect.ts"
import { fakeSources } from "./support/FakeActors.ts"
import { matrixApplicationWith } from "./support/MatrixApplication.ts"
import { Principals } from "./support/Principals.ts"
import { send } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

const at = "2026-01-01T00:00:00.000Z"

const sources = Layer.succeed(Sources, {
  ...fakeSources,
  read: (id) =>
    Effect.succeed({
      id,
      workspaceId: world.workspaceA,
      name: "app",
      url: "https://git.example.test/app.git",
      defaultRef: "HEAD",
      defaultPath: ".",
      reviewedRefs: [],
      pullRequests: "static",
      autoSync: false,
      status: "active",
      hookSecretVersion: 1,
      hookSecretCreatedAt: at,
      createdAt: at,
      updatedAt: at
    }),
  file: (_, sourceSnapshotId, path) =>
    Effect.succeed({
      kind: "svc.source-snapshot-file@v1",
      sourceSnapshotId,
      path,
      text: "",
      digest: "sha256:0",
      sizeBytes: 0
    }),
  stableSemver: () => Effect.succeed({ tag: "v1.0.0", commit: "0".repeat(40), version: "1.0.0" })
})

const tests = suite(matrixApplicationWith(Layer.mergeAll(sources, Audit.layer)))
afterAll(tests.dispose)

/**
 * Permitted callers of the operator's routes, written by hand. `get` is the verdict on reads, and `post` the verdict on all
 * other methods. Every caller in the authorisation table has an entry here.
 */
const table = [
  ["nobody", 401, 401],
  ["viewer", 403, 403],
  ["member", 403, 403],
  ["admin", 403, 403],
  ["owner", 403, 403],
  ["stranger", 403, 403],
  ["suspended member", 403, 403],
  ["session confined to A", 403, 403],
  ["token", 403, 403],
  ["read-only token", 403, 403],
  ["write-only token", 403, 403],
  ["token for A", 403, 403],
  ["viewer's token", 403, 403],
  ["OAuth token", 403, 403],
  ["operator", 403, 403],
  ["operator's token", "ok", "ok"],
  ["operator's read-only token", "ok", 403],
  ["operator's write-only token", 403, "ok"],
  ["operator's token for A", 403, 403]
] as const

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA }

const requests = Object.values(OperatorApi.endpoints).map(({ method, path }) => {
  const address = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "missing")
  return method === "GET"
    ? { method, path, address: path.endsWith("/file") ? `${address}?path=main.tf` : address, init: {} }
    : {
        method,
        path,
        address,
        init: { body: JSON.stringify({ url: "https://git.example.test/app.git" }), type: "application/json" }
      }
})

type Credential = Readonly<Record<string, string>>

const ask = Effect.fnUntraced(function* ({ address, init, method }: (typeof requests)[number], credential: Credential) {
  const { body, type } = { body: undefined, type: undefined, ...init }
  const headers = { ...credential, ...(type === undefined ? {} : { "content-type": type }) }
  return yield* send(address, { method, headers, ...(body === undefined ? {} : { body }) })
})

const operator = Effect.gen(function* () {
  const [found] = yield* (yield* Operators).list
  return found === undefined ? yield* Effect.die("no operator") : found.subject
})

const tokenOf = Effect.fnUntraced(function* (scopes: ReadonlyArray<string>, bound = false) {
  const sql = yield* SqlClient.SqlClient
  const subject = yield* operator
  const tokens = yield* AccessTokens
  const membership = { id: `mbr_${"o".repeat(24)}`, workspace_id: world.workspaceA, subject, role: "owner" }
  // Binding a token requires a membership. Membership has no effect on the operator's routes.
  if (bound) {
    yield* sql`INSERT INTO memberships ${sql.insert({ ...membership, status: "active", created_at: at, updated_at: at })}`
  }
  const workspaceId = bound ? world.workspaceA : undefined
  const { secret } = yield* tokens.create(serviceContext, subject, { name: "operator", scopes, workspaceId })
  return { authorization: `Bearer ${Redacted.value(secret)}` }
})

const operatorsOwn = Effect.gen(function* () {
  return new Map<string, Credential>([
    ["operator's token", yield* tokenOf(["read", "write"])],
    ["operator's read-only token", yield* tokenOf(["read"])],
    ["operator's write-only token", yield* tokenOf(["write"])],
    ["operator's token for A", yield* tokenOf(["read", "write"], true)]
  ])
})

describe("Operator routes", () => {
  tests.live(
    "operator routes admit only operators with a token for the whole account, regardless of Workspace roles",
    () =>
      Effect.gen(function* () {
        const credentials = new Map([...(yield* Principals), ...(yield* operatorsOwn)])
        const wrong: Array<string> = []
        for (const [caller, get, post] of table) {
          const credential = credentials.get(caller) ?? (yield* Effect.die(new Error(`There is no ${caller}`)))
          for (const request of requests) {
            const { status } = yield* ask(request, credential)
            const expected = request.method === "GET" ? get : post
            const verdict = status < 400 ? "ok" : status
            if (verdict !== expected)
              wrong.push(`${caller}: ${request.method} ${request.path} is ${status}, not ${expected}`)
          }
        }
        expect(wrong).toEqual([])
      })
  )

  tests.live("operator routes refuse an operator on the next request after the operator is revoked or locked", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const operators = yield* Operators
      const subject = yield* operator
      const credential = yield* tokenOf(["read", "write"])
      const statuses = Effect.forEach(requests, (request) => Effect.map(ask(request, credential), (it) => it.status))
      expect(new Set(yield* statuses)).toEqual(new Set([200]))
      yield* operators.revoke(subject)
      expect(new Set(yield* statuses)).toEqual(new Set([403]))
      yield* operators.grant(subject)
      expect(new Set(yield* statuses)).toEqual(new Set([200]))
      const put = (status: string) => sql`UPDATE users SET status = ${status} WHERE subject = ${subject}`
      yield* put("disabled")
      expect(new Set(yield* statuses)).toEqual(new Set([401]))
      yield* put("active")
    })
  )

  tests.live("operator routes record, in the activity of the Workspace, which operator read a file", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [, file] = requests
      if (file === undefined) return yield* Effect.die("no route")
      yield* ask(file, yield* tokenOf(["read"]))
      const events = yield* sql<{
        actor_subject: string
        target_id: string
        data: string
      }>`SELECT actor_subject, target_id,
        data FROM audit_events WHERE action = 'operator.read_file' ORDER BY created_at DESC, id DESC LIMIT 1`
      expect(events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) }))).toEqual([
        {
          actor_subject: yield* operator,
          target_id: world.sourceId,
          data: { sourceSnapshotId: world.sourceSnapshotId, path: "main.tf" }
        }
      ])
    })
  )

  tests.live(
    "operator routes validate requests only after admitting the caller, and never return cacheable responses",
    () =>
      Effect.gen(function* () {
        const credential = yield* tokenOf(["read", "write"])
        const code = (path: string, init: RequestInit = {}) =>
          Effect.gen(function* () {
            const response = yield* send(path, {
              ...init,
              headers: { ...credential, "content-type": "application/json" }
            })
            expect(response.headers.get("cache-control")).toBe("no-store")
            const body = yield* Effect.promise(() => response.json())
            return (yield* Schema.decodeUnknownEffect(ErrorEnvelope)(body)).error.code
          })
        const [, file, tag] = requests
        const bare = file?.address.replace("?path=main.tf", "") ?? ""
        expect(yield* code(bare)).toBe("invalid_request")
        expect(yield* code(`${bare}?path=a&path=b`)).toBe("invalid_request")
        expect(yield* code(`${bare}?path=a&other=b`)).toBe("invalid_request")
        expect(yield* code(bare.replace(world.sourceId, "src_unknown"))).toBe("not_found")
        expect(yield* code(tag?.address ?? "", { method: "POST", body: '{"url":"https://a.test/b","more":1}' })).toBe(
          "invalid_request"
        )
        const { headers, status } = yield* send("/internal/v1/operators", { method: "DELETE", headers: credential })
        expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"])
      })
  )
})
