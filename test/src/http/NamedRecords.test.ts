import { afterAll, describe, expect, test } from "bun:test"
import { Effect, type Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { accessOf } from "../../../schema/api/Roles.ts"
import { suite } from "../../support/Effect.ts"
import { text } from "../../support/Accounts.ts"
import { authorizationTable } from "./AuthorizationTable.ts"
import { bodySchema, exampleBody, type JsonSchema, operations, resolve } from "./support/ApiExamples.ts"
import { matrixApplication } from "./support/MatrixApplication.ts"
import { send } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

const tests = suite(matrixApplication)
afterAll(tests.dispose)

const id = (prefix: string, letter = "b") => `${prefix}_${letter.repeat(24)}`

/** Fields whose names look like ids but that do not identify a record. */
const noRecords = new Set(["recipeId"])

/** Finds the body fields that identify records: ids of every kind by schema, and fields named like an id or a person. */
const recordFields = (given: JsonSchema, at = "", outer: ReadonlyArray<JsonSchema> = []): ReadonlyArray<string> => {
  const schema = resolve(given)
  if (outer.includes(schema)) return []
  const within = [...outer, schema]
  const inner = (child: JsonSchema, path: string) => recordFields(child, path, within)
  const isText = schema.type === "string"
  const isNamed = /(?:Ids?|_id|subject|members)(?:\[\])?$/.test(at) && !noRecords.has(at)
  if (isText && (isNamed || schema.description?.startsWith("an id starting with") === true)) return [at]
  const { additionalProperties: others, items } = schema
  return [
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].flatMap((branch) =>
      inner(branch, at)
    ),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
      inner(child, at === "" ? name : `${at}.${name}`)
    ),
    ...(items === undefined || items === false ? [] : inner(items, `${at}[]`)),
    ...(typeof others === "object" ? inner(others, `${at}.*`) : [])
  ]
}

const bodies = operations.flatMap(({ method, operation, path }) => {
  const schema = bodySchema(operation)
  return schema === undefined ? [] : [{ route: `${method} ${path}`, schema }]
})

test("the table of routes lists each body field that refers to a record", () => {
  const declared = bodies.flatMap(({ route, schema }) => recordFields(schema).map((field) => `${route} ${field}`))
  const written = authorizationTable.flatMap(({ method, path, records }) =>
    records.map((field) => `${method} ${path} ${field}`)
  )
  expect(new Set(declared)).toEqual(new Set(written))
  expect(written.length).toBeGreaterThan(40)
})

/** A record of each kind outside the limits, keyed by the last part of the field name. */
const outside: Readonly<Record<string, string>> = {
  authConnectionId: world.connectionId,
  baseInstallConfigId: id("icfg"),
  capsuleIds: id("cap"),
  capsuleId: id("cap"),
  compatibilityCheckRunId: id("run"),
  compatibilityReportId: id("rep"),
  connectionId: world.connectionId,
  forgeConnectionId: world.connectionId,
  fromWorkspaceId: world.workspaceB,
  installConfigId: id("icfg"),
  members: world.bob,
  mentions: world.bob,
  producerCapsuleId: id("cap"),
  projectId: id("prj"),
  projectIds: id("prj"),
  sourceId: id("src"),
  sourceSnapshotId: id("snap"),
  subject: world.bob,
  targetId: id("cap"),
  teamId: id("team"),
  toWorkspaceId: world.workspaceB,
  uploadId: id("sup"),
  workspaceId: world.workspaceB,
  workspace_id: world.workspaceB
}

/** Creates a second environment in another Project of the Workspace, with a Capsule, a configuration and a Source. */
const placed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const times = { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" }
  yield* sql`INSERT INTO projects ${sql.insert({ id: id("prj"), workspace_id: world.workspaceA, name: "Other", slug: "other", is_default: 0, ...times })}
    ON CONFLICT DO NOTHING`
  for (const [table, own, changes] of [
    ["sources", world.sourceId, { id: id("src") }],
    ["source_snapshots", world.sourceSnapshotId, { id: id("snap"), source_id: id("src") }],
    ["install_configs", world.capsuleConfigId, { id: id("icfg"), capsule_id: id("cap") }],
    [
      "capsules",
      world.capsuleId,
      {
        id: id("cap"),
        project_id: id("prj"),
        environment: "staging",
        source_id: id("src"),
        install_config_id: id("icfg")
      }
    ],
    ["connections", world.connectionId, { id: id("conn", "c") }]
  ] as const) {
    const [row] = yield* sql`SELECT * FROM ${sql(table)} WHERE id = ${own}`
    yield* sql`INSERT INTO ${sql(table)} ${sql.insert({ ...row, ...changes })} ON CONFLICT DO NOTHING`
  }
  yield* sql`INSERT INTO provider_bindings ${sql.insert({ id: id("pb"), workspace_id: world.workspaceA, install_config_id: world.capsuleConfigId, provider: "p", module_local_name: "p", child_alias: null, connection_id: id("conn", "c") })}
    ON CONFLICT DO NOTHING`
})

const limitedToken = Effect.gen(function* () {
  yield* placed
  const tokens = yield* AccessTokens
  const { secret } = yield* tokens.create(serviceContext, world.ada, {
    name: "limited",
    scopes: ["read", "write", `project:${world.projectId}`, "environment:production"],
    workspaceId: world.workspaceA
  })
  return { authorization: `Bearer ${text(secret)}` }
})

const ids: Readonly<Record<string, string>> = { ...world, workspaceId: world.workspaceA, subject: world.viewer }

const isObject = (value: Schema.Json | undefined): value is { readonly [name: string]: Schema.Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Sets the field in the body, and adds missing parent objects. */
const filled = (body: Schema.Json | undefined, steps: ReadonlyArray<string>, value: string): Schema.Json => {
  const [step, ...rest] = steps
  if (step === undefined) return value
  const name = step.replace("[]", "")
  const whole = isObject(body) ? body : {}
  const child = whole[name]
  if (!step.endsWith("[]")) return { ...whole, [name]: filled(child, rest, value) }
  // Keeps a valid first item for the schema, and adds an item that identifies a record outside the limits.
  const items = Array.isArray(child) ? child : []
  return { ...whole, [name]: [...items, filled(items[0], rest, value)] }
}

/** Some routes read the Workspace from the body, so the body must contain a valid Workspace. */
const locating = { workspaceId: world.workspaceA, fromWorkspaceId: world.workspaceA }

const answerTo = Effect.fnUntraced(function* (
  route: { readonly method: string; readonly path: string },
  body: Schema.Json,
  credential: Readonly<Record<string, string>>
) {
  const at = route.path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "helper")
  const headers = {
    ...credential,
    "content-type": "application/json",
    "idempotency-key": "records-key-000000000000000"
  }
  const response = yield* send(at, { method: route.method, headers, body: JSON.stringify(body) })
  return { status: response.status, text: yield* Effect.promise(() => response.text()) }
})

describe("Limited tokens", () => {
  for (const row of authorizationTable) {
    for (const field of row.records) {
      tests.live(
        `a limited token cannot refer to a record outside its limits in ${row.method} ${row.path}: ${field}`,
        () =>
          Effect.gen(function* () {
            const credential = yield* limitedToken
            const name = field.split(".").at(-1)?.replace("[]", "") ?? ""
            const named = outside[name]
            if (named === undefined) return yield* Effect.die(`No record outside the limits for ${field}`)
            const example = exampleBody(row.method, row.path)
            const sound = filled(example, field.split("."), named)
            const unknown = filled(example, field.split("."), named.replace(/.$/, "0"))
            // The limits are checked before validation, so they refuse an invalid body too.
            const broken = filled({ ...locating, bogus: 1 }, field.split("."), named)
            // An unknown Workspace returns 404 to everybody, so the test skips that body.
            const isWorkspace = named === world.workspaceB
            for (const body of isWorkspace ? [sound, broken] : [sound, broken, unknown]) {
              const { status, text: message } = yield* answerTo(row, body, credential)
              expect([message, status]).toEqual([message, 403])
            }
          })
      )
    }
  }
})

const reached = authorizationTable.filter(({ method, path }) => {
  const rule = accessOf({ method, path })
  // People are never within a token's limits, so no field for a person is accepted.
  return rule.kind === "workspace" && Object.values(rule.records ?? {}).some((kind) => kind !== "person")
})

/** A record of each kind within the limits, keyed by the last part of the field name. */
const inside: Readonly<Record<string, string>> = {
  baseInstallConfigId: world.capsuleConfigId,
  capsuleId: world.capsuleId,
  connectionId: id("conn", "c"),
  sourceSnapshotId: world.sourceSnapshotId
}

tests.live(
  "a limited token may refer to the Capsule's own records, and to a Connection that the Capsule already binds",
  () =>
    Effect.gen(function* () {
      const credential = yield* limitedToken
      for (const row of reached) {
        let body = exampleBody(row.method, row.path)
        for (const field of row.records) {
          body = filled(body, field.split("."), inside[field.split(".").at(-1) ?? ""] ?? "")
        }
        const { status, text: message } = yield* answerTo(row, body ?? {}, credential)
        expect([message, status === 403]).toEqual([message, false])
      }
      expect(reached.map(({ method, path }) => `${method} ${path}`)).toEqual([
        "POST /api/v1/capsules/:capsuleId/configuration-plans",
        "POST /api/v1/capsules/:capsuleId/install-config-re-adoptions",
        "POST /api/v1/backups/:backupId/restore-plan"
      ])
    })
)

tests.live("svc refuses a Connection outside the limits of a token at every position in the list of bindings", () =>
  Effect.gen(function* () {
    const credential = yield* limitedToken
    const row = reached.find(({ path }) => path.endsWith("configuration-plans"))
    if (row === undefined) return yield* Effect.die("The route is gone")
    const binding = (connectionId: string) => ({ provider: "a/b", moduleLocalName: "b", connectionId })
    const body = {
      providerBindings: [binding(id("conn", "c")), binding(world.connectionId)],
      expected: { authorityGuard: "g" }
    }
    const { status, text: message } = yield* answerTo(row, body, credential)
    expect(status).toBe(403)
    expect(message).toContain("providerBindings[].connectionId: A token that is limited")
    const whole = yield* AccessTokens
    const { secret } = yield* whole.create(serviceContext, world.ada, {
      name: "whole",
      scopes: ["read", "write"],
      workspaceId: world.workspaceA
    })
    const unlimited = yield* answerTo(row, body, { authorization: `Bearer ${text(secret)}` })
    expect(unlimited.status).not.toBe(403)
  })
)

tests.live("a limited token cannot restore a Connection through an earlier configuration", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const credential = yield* limitedToken
    const earlier = id("icfg", "d")
    const [config] = yield* sql`SELECT * FROM install_configs WHERE id = ${world.capsuleConfigId}`
    yield* sql`INSERT INTO install_configs ${sql.insert({ ...config, id: earlier, capsule_id: world.capsuleId })}`
    const bind = (connectionId: string) =>
      sql`INSERT INTO provider_bindings ${sql.insert({ id: id("pb", "d"), workspace_id: world.workspaceA, install_config_id: earlier, provider: "p", module_local_name: "p", child_alias: null, connection_id: connectionId })}
        ON CONFLICT (id) DO UPDATE SET connection_id = excluded.connection_id`
    yield* sql`UPDATE state_versions SET install_config_id = ${earlier} WHERE id = ${world.stateVersionId}`
    const routes = [
      { method: "POST", path: "/api/v1/state-versions/:stateVersionId/rollback-plan" },
      { method: "POST", path: "/api/v1/backups/:backupId/restore-plan" }
    ]
    const statuses = (body: Schema.Json) =>
      Effect.forEach(routes, (route) => Effect.map(answerTo(route, body, credential), ({ status }) => status))
    // Binds this Connection to the Capsule.
    yield* bind(id("conn", "c"))
    expect((yield* statuses({})).filter((status) => status === 403)).toEqual([])
    yield* bind(world.connectionId)
    expect(yield* statuses({})).toEqual([403, 403])
    expect(yield* statuses({ bogus: 1 })).toEqual([403, 403])
  })
)
