import { describe, expect, test } from "bun:test"
import { Effect, Redacted } from "effect"
import * as fc from "fast-check"
import { changeHash, keyedChange } from "../../../runner/execution/ChangeDigest.ts"
import { it } from "../../support/Effect.ts"
import { applyJob, planJob, recorder, temporaryFolder, type Tree, variable } from "./support/RunnerHarness.ts"
import { runnerWith, TestRunner } from "./support/TestRunner.ts"

type Members = Readonly<Record<string, unknown>>

const digestOf = (plan: string, mode: Parameters<typeof keyedChange>[1] = "create_or_update", key = "key") => {
  const hash = changeHash(plan)
  if (hash === undefined) throw new Error("no plan")
  return keyedChange(key, mode, hash)
}

const planText = (resources: ReadonlyArray<Members>, more: Members = {}) =>
  JSON.stringify({
    format_version: "1.2",
    terraform_version: "1.11.4",
    timestamp: "2026-11-01T10:00:00Z",
    prior_state: { values: { root_module: { resources: [] } } },
    resource_changes: resources,
    ...more
  })

const resource = (address: string, change: Members, more: Members = {}): Members => ({
  address,
  mode: "managed",
  type: "demo",
  name: address,
  provider_name: "registry.example.test/acme/demo",
  change,
  ...more
})

const updated: Members = {
  actions: ["update"],
  before: { size: 1, tags: ["a"] },
  after: { size: 2, tags: ["a"] },
  after_unknown: {},
  before_sensitive: {},
  after_sensitive: {}
}

const base = planText([resource("demo.a", updated)])

describe("Change digests", () => {
  test.each<readonly [string, string]>([
    ["another address", planText([resource("demo.b", updated)])],
    ["another action", planText([resource("demo.a", { ...updated, actions: ["delete", "create"] })])],
    ["the reverse order of actions", planText([resource("demo.a", { ...updated, actions: ["create", "delete"] })])],
    ["another value before", planText([resource("demo.a", { ...updated, before: { size: 0, tags: ["a"] } })])],
    ["another value after", planText([resource("demo.a", { ...updated, after: { size: 3, tags: ["a"] } })])],
    ["a string of the same digits", planText([resource("demo.a", { ...updated, after: { size: "2", tags: ["a"] } })])],
    ["another order of a list", planText([resource("demo.a", { ...updated, after: { size: 2, tags: ["b", "a"] } })])],
    ["an unknown value", planText([resource("demo.a", { ...updated, after_unknown: { size: true } })])],
    ["a value that becomes sensitive", planText([resource("demo.a", { ...updated, after_sensitive: { size: true } })])],
    ["a path that forces the replacement", planText([resource("demo.a", { ...updated, replace_paths: [["size"]] })])],
    ["a deposed object", planText([resource("demo.a", updated, { deposed: "0a1b2c3d" })])],
    ["a move", planText([resource("demo.a", updated, { previous_address: "demo.z" })])],
    ["an import", planText([resource("demo.a", { ...updated, importing: { id: "i-1" } })])],
    ["another reason", planText([resource("demo.a", updated, { action_reason: "replace_because_tainted" })])],
    ["one more object", planText([resource("demo.a", updated), resource("demo.b", { actions: ["forget"] })])],
    [
      "an object that is only imported",
      planText([resource("demo.a", updated), resource("demo.b", { actions: ["no-op"], importing: { id: "i-1" } })])
    ],
    [
      "an object that is only moved",
      planText([
        resource("demo.a", updated),
        resource("demo.b", { actions: ["no-op"] }, { previous_address: "demo.z" })
      ])
    ],
    [
      "an Output",
      planText([resource("demo.a", updated)], { output_changes: { url: { actions: ["create"], after: "u" } } })
    ],
    ["a condition", planText([resource("demo.a", updated)], { checks: [{ status: "fail" }] })],
    ["a part that svc does not know", planText([resource("demo.a", updated)], { deferred_changes: [{ reason: "x" }] })]
  ])("differs for %s", (_what, other) => {
    expect(digestOf(other)).not.toBe(digestOf(base))
  })

  test.each<readonly [string, string]>([
    ["another time", planText([resource("demo.a", updated)], { timestamp: "2026-11-02T11:11:11Z" })],
    [
      "objects that stay as they are",
      planText([resource("demo.z", { actions: ["no-op"] }), resource("demo.a", updated)])
    ],
    [
      "Outputs that stay as they are",
      planText([resource("demo.a", updated)], { output_changes: { url: { actions: ["no-op"] } } })
    ],
    ["another state of other objects", planText([resource("demo.a", updated)], { prior_state: { serial: 7 } })],
    ["empty lists of conditions", planText([resource("demo.a", updated)], { checks: [] })]
  ])("is the same with %s", (_what, other) => {
    expect(digestOf(other)).toBe(digestOf(base))
  })

  test("a change digest compares numbers digit by digit", () => {
    const withNumber = (number: string) => digestOf(base.replace('"size":2', `"size":${number}`))
    const numbers = ["9007199254740992", "9007199254740993", "0.1", "0.10000000000000000001", "1e400", "1", "1.0"]
    expect(new Set(numbers.map(withNumber)).size).toBe(numbers.length)
    const strings = numbers.map((number) => withNumber(`"${number}"`))
    expect(new Set([...numbers.map(withNumber), ...strings]).size).toBe(2 * numbers.length)
  })

  test("a change digest depends on the key and on the mode of the plan", () => {
    const all = [
      digestOf(base),
      digestOf(base, "create_or_update", "the key of another Capsule"),
      digestOf(base, "destroy"),
      digestOf(base, "refresh_only")
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  test("a change digest covers changes outside svc only if the plan accepts them", () => {
    const drifted = planText([resource("demo.a", updated)], { resource_drift: [resource("demo.b", updated)] })
    expect(digestOf(drifted)).toBe(digestOf(base))
    expect(digestOf(drifted, "refresh_only")).not.toBe(digestOf(base, "refresh_only"))
  })

  test("a change digest exists only for a JSON object", () => {
    expect(changeHash("[]")).toBeUndefined()
    expect(changeHash("7")).toBeUndefined()
  })

  test("generated plans have equal digests if and only if their changes are equal", () => {
    // The keys contain no digits, so every object keeps the order in which its members were written.
    const key = fc.constantFrom("size", "name", "tags", "__proto__", 'a"b', "ü")
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(null, true, 1, "1", "", [], {}),
        fc.string({ maxLength: 4 }),
        fc.integer(),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(key, tie("any"), { maxKeys: 3 })
      )
    })).any
    const one = fc.record({
      address: fc.constantFrom("demo.a", 'demo.a["x"]', "demo.b", "module.m.demo.a"),
      actions: fc.constantFrom(
        ["create"],
        ["update"],
        ["delete"],
        ["delete", "create"],
        ["no-op"],
        ["forget"],
        ["read"]
      ),
      before: value,
      after: value,
      unknown: value,
      sensitive: value
    })
    const plan = fc.uniqueArray(one, { maxLength: 4, selector: ({ address }) => address })
    type Generated = ReadonlyArray<{
      readonly [K in "address" | "actions" | "before" | "after" | "unknown" | "sensitive"]: unknown
    }>
    const written = (resources: Generated) =>
      planText(
        resources.map(({ actions, address, after, before, sensitive, unknown }) =>
          resource(String(address), { actions, before, after, after_unknown: unknown, after_sensitive: sensitive })
        )
      )
    /** Reverses the members of every object, which does not change the document's meaning. */
    const reversed = (document: unknown): unknown => {
      if (Array.isArray(document)) return document.map(reversed)
      if (typeof document !== "object" || document === null) return document
      return Object.fromEntries(
        Object.entries(document)
          .toReversed()
          .map(([name, member]) => [name, reversed(member)])
      )
    }
    const isChange = ({ actions }: Generated[number]) => String(actions) !== "no-op"
    /** Computes the canonical form independently of the product. */
    const sorted = (document: unknown): unknown => {
      if (Array.isArray(document)) return document.map(sorted)
      if (typeof document !== "object" || document === null) return document
      return Object.entries(document)
        .map(([name, member]) => [`key ${name}`, sorted(member)])
        .toSorted(([a], [b]) => String(a).localeCompare(String(b), "en"))
    }
    const meaning = (resources: Generated) =>
      JSON.stringify(
        resources
          .filter(isChange)
          .map((each) => JSON.stringify(sorted(JSON.parse(JSON.stringify(each)))))
          .toSorted()
      )
    fc.assert(
      fc.property(plan, plan, (a, b) => {
        expect(digestOf(written(a)) === digestOf(written(b))).toBe(meaning(a) === meaning(b))
        const shuffled = JSON.stringify(reversed(JSON.parse(written(a.toReversed()))))
        expect(digestOf(shuffled)).toBe(digestOf(written(a)))
      }),
      { numRuns: 400 }
    )
  })
})

describe.skipIf(Bun.which("terraform") === null)("Change digests of real plans", () => {
  const changeKey = Redacted.make("the key of a Capsule")
  const tree = (input: string, more = ""): Tree => ({
    "main.tf": `
      variable "secret" {
        type      = string
        sensitive = true
      }
      resource "terraform_data" "a" { input = ${input} }
      resource "terraform_data" "b" { input = var.secret }
      output "a" { value = terraform_data.a.output }
      ${more}
    `
  })

  it.live("plans of the same change share a digest, and plans of different changes never do", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const runner = yield* TestRunner
      const inputs = (secret: string) => ({ changeKey, variables: { secret: variable(secret, true) } })
      const first = planJob(folder, tree('"one"'), inputs("s3cret-1"))
      const created = yield* runner.plan(first, recorder().sink)
      const applied = yield* runner.apply(applyJob(folder, first, created), recorder().sink)
      const digest = (files: Tree, secret = "s3cret-1", more = {}) =>
        Effect.map(
          runner.plan(
            planJob(folder, files, {
              ...inputs(secret),
              ...(applied.state === undefined ? {} : { state: applied.state }),
              ...more
            }),
            recorder().sink
          ),
          ({ changeDigest }) => changeDigest
        )
      const change = yield* digest(tree('"two"'))
      expect(change).toMatch(/^[0-9a-f]{64}$/)
      // The same change in files with different comments, planned at another time.
      expect(yield* digest(tree('"two"', "# a comment"))).toBe(change)
      const others = [
        yield* digest(tree('"three"')),
        yield* digest(tree('"two"'), "s3cret-2"),
        yield* digest(tree('"two"', 'resource "terraform_data" "c" {}')),
        yield* digest(tree("9007199254740992")),
        yield* digest(tree("9007199254740993")),
        yield* digest(tree('"two"'), "s3cret-1", { mode: "destroy" }),
        yield* digest(tree('"two"'), "s3cret-1", { changeKey: Redacted.make("the key of another Capsule") })
      ]
      expect(new Set([change, ...others]).size).toBe(others.length + 1)
      // If there is no key, there is no digest, rather than an unkeyed digest.
      expect(yield* digest(tree('"two"'), "s3cret-1", { changeKey: undefined })).toBeUndefined()
    }).pipe(Effect.provide(runnerWith({})))
  )
})
