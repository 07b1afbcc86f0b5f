import { afterAll, describe, expect, test } from "bun:test"
import { Effect, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { ErrorEnvelope } from "../../../schema/errors/ApiError.ts"
import { suite } from "../../support/Effect.ts"
import { operations } from "./support/ApiExamples.ts"
import { servedWorld } from "./support/ServedWorld.ts"
import { send } from "./support/TestApplication.ts"
import { twoOfEach } from "./support/TwoOfEach.ts"
import { world } from "./support/World.ts"

const tests = suite(servedWorld().served)
afterAll(tests.dispose)

interface List {
  readonly path: string
  readonly filters: ReadonlyArray<string>
  readonly required: ReadonlyArray<string>
}

/** Parameters that change neither the listed rows nor their order. */
const noFilters = new Set(["limit", "cursor", "workspaceId", "includeTotal", "selectedWorkspaceId"])

/** Every list in the API: a list is a read that accepts a cursor. */
const lists: ReadonlyArray<List> = operations.flatMap(({ method, operation, path }) => {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query")
  if (method !== "GET" || !query.some(({ name }) => name === "cursor")) return []
  const named = query.filter(({ name }) => !noFilters.has(name))
  return [
    {
      path,
      filters: named.filter(({ required }) => !required).map(({ name }) => name),
      required: query.filter(({ required }) => required).map(({ name }) => name)
    }
  ]
})

/** A valid value other than the default for each filter. Add an entry here for each new filter. */
const values: Readonly<Record<string, string>> = {
  action: "capsule.update",
  actor: world.ada,
  address: "demo_note",
  capsuleId: world.capsuleId,
  deposed: "00000001",
  from: `sv_${"c".repeat(23)}1`,
  includeLooks: "true",
  kind: "run.failed",
  order: "updated_desc",
  pool: "c-pool-1",
  projectId: world.projectId,
  runId: world.runId,
  search: "note",
  since: "2025-01-01T00:00:00.000Z",
  sourceId: world.sourceId,
  status: "failed",
  trigger: "user",
  type: "plan",
  until: "2099-01-01T00:00:00.000Z",
  speculative: "false",
  state: "open",
  view: "changes"
}

/** Filters that a list requires, with values that match at least two rows. */
const always: Readonly<Record<string, string>> = { address: "demo_note.a" }

type Names = Readonly<Record<string, string>>
type Query = Readonly<Record<string, string>>

const addressOf = ({ path, required }: List, names: Names, query: Query) => {
  const search = new URLSearchParams({
    ...Object.fromEntries(required.map((name) => [name, names[name] ?? always[name] ?? ""])),
    ...query
  })
  return `${path.replace(/:(\w+)/g, (_, name: string) => names[name] ?? "unknown")}?${search}`
}

const Listed = Schema.Struct({
  nextCursor: Schema.optionalKey(Schema.String),
  next_cursor: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const decodeListed = Schema.decodeUnknownOption(Listed)
const decodeError = Schema.decodeUnknownOption(ErrorEnvelope)

const sessionOf = Effect.fnUntraced(function* (subject: string) {
  const session = yield* (yield* Sessions).open({ subject, method: "password" })
  return { cookie: `svc_session=${Redacted.value(session.secret)}`, "sec-fetch-site": "same-origin" }
})

const read = Effect.fnUntraced(function* (list: List, names: Names, query: Query, headers: Names) {
  const response = yield* send(addressOf(list, names, query), { headers })
  const body: unknown = yield* Effect.promise(() => response.json())
  const listed = Option.getOrUndefined(decodeListed(body))
  const failed = Option.getOrUndefined(decodeError(body))
  return {
    status: response.status,
    code: failed?.error.code,
    next: listed?.nextCursor ?? listed?.next_cursor ?? undefined
  }
})

const prepared = Effect.gen(function* () {
  const a = yield* twoOfEach(world.workspaceA, "c")
  const b = yield* twoOfEach(world.workspaceB, "d")
  const sql = yield* SqlClient.SqlClient
  // Bob can read everything in both Workspaces, so a refusal must be caused by the cursor.
  yield* sql`INSERT INTO memberships ${sql.insert({ id: `mbr_${"e".repeat(24)}`, workspace_id: world.workspaceA, subject: world.bob, role: "owner", status: "active", created_at: "2026-02-03T00:00:00.000Z", updated_at: "2026-02-03T00:00:00.000Z" })}`
  const ada = yield* sessionOf(world.ada)
  const bob = yield* sessionOf(world.bob)
  const cursors = new Map<List, string>()
  for (const list of lists) {
    const { next, status } = yield* read(list, a, { limit: "1" }, ada)
    if (next === undefined)
      return yield* Effect.die(new Error(`${list.path} answers ${status}: it needs two rows here.`))
    cursors.set(list, next)
  }
  return { a, b, ada, bob, cursors }
})

const scene = Effect.runSync(Effect.cached(prepared))

/** Requests the list with the cursor, and returns a one-word summary of the response. */
const verdictOn = (list: List, names: Names, query: Query, headers: Names) =>
  Effect.map(read(list, names, { limit: "1", ...query }, headers), ({ code, status }) =>
    status === 200 ? "accepted" : status === 400 && code === "invalid_request" ? "refused" : `${status} ${code}`
  )

const expectRefused = (list: List, what: string, verdict: string) =>
  expect(`${list.path}, ${what}: ${verdict}`).toBe(`${list.path}, ${what}: refused`)

const lastLetterChanged = (text: string) => text.slice(0, -1) + (text.endsWith("A") ? "B" : "A")

test("the cursor checks find the API's lists", () => {
  expect(lists.length).toBeGreaterThan(30)
})

tests.live("every list accepts its own cursors from the same caller", () =>
  Effect.gen(function* () {
    const { a, ada, cursors } = yield* scene
    for (const [list, cursor] of cursors) {
      expect(`${list.path}: ${yield* verdictOn(list, a, { cursor }, ada)}`).toBe(`${list.path}: accepted`)
    }
  })
)

describe("Refused cursors", () => {
  tests.live("every list rejects invented, truncated and modified cursors", () =>
    Effect.gen(function* () {
      const { a, ada, cursors } = yield* scene
      for (const [list, cursor] of cursors) {
        const [payload = "", digest = ""] = cursor.split(".")
        const forged = Buffer.from(JSON.stringify(["2026-02-01T00:00:00.000Z", "x"])).toString("base64url")
        const wrong = {
          empty: "",
          "of words": "next",
          "with a forged anchor": `${forged}.${digest}`,
          "without a digest": payload,
          shortened: cursor.slice(0, -1),
          "with another digest": lastLetterChanged(cursor),
          "with another anchor": `${lastLetterChanged(payload)}.${digest}`
        }
        for (const [what, text] of Object.entries(wrong)) {
          expectRefused(list, what, yield* verdictOn(list, a, { cursor: text }, ada))
        }
      }
    })
  )

  tests.live("every list rejects the cursors of all other lists", () =>
    Effect.gen(function* () {
      const { a, ada, cursors } = yield* scene
      for (const list of lists) {
        for (const [other, cursor] of cursors) {
          if (other === list) continue
          expectRefused(list, `the cursor of ${other.path}`, yield* verdictOn(list, a, { cursor }, ada))
        }
      }
    })
  )

  tests.live("every list rejects another caller's cursor", () =>
    Effect.gen(function* () {
      const { a, bob, cursors } = yield* scene
      for (const [list, cursor] of cursors) {
        expectRefused(list, "another caller", yield* verdictOn(list, a, { cursor }, bob))
      }
    })
  )

  tests.live("every list rejects the same caller's cursor from another Workspace", () =>
    Effect.gen(function* () {
      const { ada, b, cursors } = yield* scene
      let inWorkspaces = 0
      for (const [list, cursor] of cursors) {
        // Skips account lists, because they have no Workspace.
        if (addressOf(list, b, {}) === addressOf(list, {}, {})) continue
        inWorkspaces++
        expectRefused(list, "another Workspace", yield* verdictOn(list, b, { cursor }, ada))
      }
      expect(inWorkspaces).toBe(lists.length - 4)
    })
  )

  tests.live("every list rejects a cursor with different filters", () =>
    Effect.gen(function* () {
      const { a, ada, cursors } = yield* scene
      let filters = 0
      for (const [list, cursor] of cursors) {
        for (const filter of list.filters) {
          const value = values[filter]
          if (value === undefined)
            return yield* Effect.die(new Error(`${list.path}: no value for the filter ${filter}.`))
          const query = { [filter]: value }
          const verdict = yield* verdictOn(list, a, query, ada)
          expect(`${list.path}, ${filter}: ${verdict}`).toBe(`${list.path}, ${filter}: accepted`)
          expectRefused(list, `with ${filter}`, yield* verdictOn(list, a, { ...query, cursor }, ada))
          filters++
        }
      }
      expect(filters).toBeGreaterThan(20)
    })
  )
})
