import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Result, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { RunEventPage } from "../../../schema/api/RunsApi.ts"
import { closed, RunEventKind, type RunEventData, RunFact } from "../../../schema/events/RunEvent.ts"
import { approvedPlanTransitions, runTransitions } from "../../../schema/records/RunTransitions.ts"

const root = join(import.meta.dir, "../../..")

const resource = [
  { address: "module.a.demo.b[0]", action: "create" },
  { address: "demo.b", action: "delete", id: "i-1", elapsedSeconds: 1.5 }
]

/** Examples of event data for each kind, in every possible form. */
const examples: { readonly [Kind in RunEventKind]: ReadonlyArray<RunEventData<Kind>> } = {
  "run.queued": [{ type: "plan" }, { reason: "The service is stopping." }],
  "run.started": [{ attempt: 1 }],
  "run.phase": [{ phase: "apply" }],
  "resource.started": resource,
  "resource.progress": resource,
  "resource.completed": resource,
  "resource.failed": resource,
  "plan.summary": [{ add: 1, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }],
  diagnostic: [
    { severity: "error", summary: "It failed." },
    { severity: "warning", summary: "Careful.", detail: "More.", address: "demo.b", path: "main.tf", line: 3 }
  ],
  "run.waiting_approval": [{ planDigest: "sha256:1", hasChanges: true }],
  "run.approved": [
    { planDigest: "sha256:1", comment: "Fine.", subject: "usr_1" },
    { planDigest: null, automatic: true }
  ],
  "run.applying": [{ planRunId: "run_plan" }],
  "run.superseded": [{ reason: "A newer plan was computed." }],
  "run.cancelling": [{}, { reason: "Not now.", subject: "usr_1" }],
  "run.succeeded": [
    { sourceSnapshotId: "snap_1", resolvedCommit: "c0ffee", fileCount: 2, reused: false },
    { compatibilityReportId: "rep_1", status: "ready" },
    { drifted: true },
    { backupId: "bkp_1", sizeBytes: 3 },
    { stateVersionId: "sv_1" },
    {}
  ],
  "run.failed": [
    { error: { code: "plan_failed", message: "It failed." } },
    { error: { code: "apply_failed", message: "It failed." }, stateVersionId: "sv_1" }
  ],
  "run.cancelled": [
    {},
    { reason: "Not now.", subject: "usr_1", approvalWithdrawn: true },
    { error: { code: "apply_failed", message: "It failed." }, stateVersionId: "sv_1" }
  ],
  "run.expired": [{}],
  "agent.unreachable": [{ agentId: "agt_1", since: "2026-01-01T00:00:00.000Z" }],
  "agent.returned": [{ agentId: "agt_1", since: "2026-01-01T00:00:00.000Z" }],
  "agent.unanswered": [{ agentId: "agt_1", since: "2026-01-01T00:00:00.000Z" }],
  "agent.answered": [{ agentId: "agt_1", since: "2026-01-01T00:00:00.000Z" }],
  "agent.released": [
    { agentId: "agt_1", by: "operator" },
    { agentId: "agt_1", by: "member", reason: "The machine burned down." }
  ],
  "state.saved": [{ serial: 2, resourceCount: 1, final: false }]
}

const decode = Schema.decodeUnknownResult(RunFact, closed)
const isFact = (fact: unknown) => Result.isSuccess(decode(fact))
const encode = Schema.encodeUnknownSync(RunFact)

describe("an event", () => {
  for (const kind of RunEventKind.literals) {
    test(`the event ${kind} accepts exactly the data of its kind`, () => {
      expect(examples[kind].length).toBeGreaterThan(0)
      for (const data of examples[kind]) {
        const fact = { kind, data }
        expect<unknown>(Result.getOrThrow(decode(JSON.parse(JSON.stringify(fact))))).toEqual(fact)
        expect<unknown>(encode(fact)).toEqual(fact)
        expect(isFact({ kind, data: { ...data, more: "x" } })).toBe(false)
        expect(isFact({ ...fact, more: "x" })).toBe(false)
        if ("error" in data) expect(isFact({ kind, data: { ...data, error: { ...data.error, more: 1 } } })).toBe(false)
      }
    })
  }

  test("a Run event of an unknown kind is rejected", () => {
    expect(isFact({ kind: "run.paused", data: {} })).toBe(false)
    expect(isFact({ kind: "run.phase", data: { phase: "dance" } })).toBe(false)
    expect(isFact({ kind: "run.phase", data: {} })).toBe(false)
  })

  test("the code writes exactly the Run event kinds that have a schema", () => {
    const texts = ["actors", "runner"].flatMap((room) =>
      readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => readFileSync(join(root, room, name), "utf8"))
    )
    const written = texts.flatMap((text) =>
      [
        ...text.matchAll(
          /(?:\bevent\(|\b(?:append|report|note)\(\s*[^,()]+(?:\([^()]*\))?,|\bkind:)\s*"([a-z_]+\.[a-z_]+)"/g
        )
      ].map(([, kind = ""]) => kind)
    )
    const moves = [...Object.values(runTransitions), approvedPlanTransitions].flatMap((to) => Object.values(to))
    // Resource events are named after the tool's messages. The tool's diagnostics become events named diagnostic.
    const told = ["started", "progress", "completed", "failed"].map((moment) => `resource.${moment}`)
    const all = new Set<string>([...written, ...moves, ...told, "diagnostic"])
    expect([...all].filter((kind) => /^(run|resource|plan|state|agent)\.|^diagnostic$/.test(kind)).toSorted()).toEqual(
      RunEventKind.literals.toSorted()
    )
  })

  test("a Run event stored by an earlier release is returned unchanged", () => {
    const page = {
      events: [
        { seq: 1, at: "2026-01-01T00:00:00.000Z", kind: "run.phase", data: {} },
        { seq: 2, at: "2026-01-01T00:00:00.000Z", kind: "run.phase", data: { phase: "apply", more: { a: [1] } } }
      ],
      nextAfter: 2,
      done: false
    }
    const read = Schema.decodeUnknownSync(RunEventPage)(page)
    expect<unknown>(read).toEqual(page)
    expect<unknown>(Schema.encodeSync(RunEventPage)(read)).toEqual(page)
  })
})

const JsonSchema = Schema.Struct({
  type: Schema.optionalKey(Schema.String),
  enum: Schema.optionalKey(Schema.Array(Schema.String)),
  $ref: Schema.optionalKey(Schema.String),
  properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  additionalProperties: Schema.optionalKey(Schema.Unknown),
  anyOf: Schema.optionalKey(Schema.Array(Schema.Unknown))
})
const schemaOf = Schema.decodeUnknownSync(JsonSchema)
const Document = Schema.Struct({ components: Schema.Struct({ schemas: Schema.Record(Schema.String, Schema.Unknown) }) })

test("the OpenAPI document describes the data of every event kind as closed objects", () => {
  const { schemas } = Schema.decodeUnknownSync(Document)(JSON.parse(JSON.stringify(OpenApi.fromApi(SvcApi)))).components
  const resolved = (value: unknown): typeof JsonSchema.Type => {
    const schema = schemaOf(value)
    return schema.$ref === undefined ? schema : schemaOf(schemas[schema.$ref.split("/").at(-1) ?? ""])
  }
  const isClosed = (value: unknown): boolean => {
    const { additionalProperties, anyOf, type } = resolved(value)
    if (anyOf !== undefined) return anyOf.every(isClosed)
    return type === "object" && (additionalProperties === false || Bun.deepEquals(additionalProperties, { not: {} }))
  }
  const members = resolved(schemas["RunEvent"]).anyOf ?? []
  const kinds = members.map((member) => {
    const { properties = {} } = resolved(member)
    const [earlier, ...data] = resolved(properties["data"]).anyOf ?? []
    expect(schemaOf(earlier).$ref).toEndWith("/EarlierEventData")
    expect(data.map(isClosed)).toEqual(data.map(() => true))
    expect(data.length).toBeGreaterThan(0)
    return resolved(properties["kind"]).enum?.[0]
  })
  expect(kinds.toSorted()).toEqual(RunEventKind.literals.toSorted())
})

test("the documentation lists every event kind and its fields", () => {
  const text = readFileSync(join(root, "docs/api.md"), "utf8")
  const rows = new Map(
    [...text.matchAll(/^\| `([a-z_.*]+)` \| (.+) \|$/gm)].map(([, kind = "", row = ""]) => [kind, row])
  )
  for (const kind of RunEventKind.literals) {
    const row = rows.get(kind) ?? (kind.startsWith("resource.") ? rows.get("resource.*") : undefined) ?? ""
    expect({ kind, isThere: row !== "" }).toEqual({ kind, isThere: true })
    const fields = new Set(examples[kind].flatMap((data) => Object.keys(data)))
    expect({ kind, missing: [...fields].filter((field) => !row.includes(field)) }).toEqual({ kind, missing: [] })
  }
})
