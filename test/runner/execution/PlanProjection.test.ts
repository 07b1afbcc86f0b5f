import { describe, expect, test } from "bun:test"
import { Effect, Redacted, Schema } from "effect"
import * as fc from "fast-check"
import { PlanDocument } from "../../../runner/execution/PlanDocument.ts"
import { planSensitiveTexts, projectPlan } from "../../../runner/execution/PlanProjection.ts"
import { maskValue, sensitiveTexts } from "../../../runner/execution/SensitiveMask.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { directRedactor } from "../../support/DirectRedactor.ts"
import type { Secret } from "../../../runner/redaction/SecretRule.ts"

const decodePlanDocument = Schema.decodeUnknownEffect(Schema.fromJsonString(PlanDocument))

const planOf = (document: Readonly<Record<string, unknown>>) =>
  Effect.runSync(decodePlanDocument(JSON.stringify({ format_version: "1.2", ...document })))

const change = (actions: ReadonlyArray<string>, more: Readonly<Record<string, unknown>> = {}) => ({
  address: `demo.${actions.join("_")}`,
  mode: "managed",
  type: "demo",
  name: actions.join("_"),
  provider_name: "example.test/acme/demo",
  change: { actions, ...more }
})

const projected = (plan: Parameters<typeof projectPlan>[0], ...secrets: ReadonlyArray<Secret>) =>
  Effect.runSync(projectPlan(plan, directRedactor(new Redactor(secrets))))

describe("projectPlan", () => {
  test("a projected plan counts each change to a managed resource once, and counts no other changes", () => {
    const plan = planOf({
      resource_changes: [
        change(["create"]),
        change(["update"]),
        change(["delete"]),
        change(["delete", "create"]),
        change(["create", "delete"]),
        change(["forget"]),
        change(["create", "forget"]),
        change(["no-op"], { importing: { id: "x" } }),
        change(["no-op"]),
        { ...change(["read"]), mode: "data" }
      ]
    })
    const { summary, resourceChanges } = projected(plan)
    expect(summary).toEqual({ add: 1, change: 1, destroy: 1, replace: 3, import: 1, forget: 1 })
    expect(resourceChanges).toHaveLength(9)
  })

  test("a projected plan shows the module's conditions, without secrets in messages and instance keys", () => {
    const address = (to_display: string, kind = "check") => ({ kind, to_display })
    const plan = planOf({
      checks: [
        {
          address: address("check.health"),
          status: "fail",
          instances: [
            {
              address: { to_display: 'module.m["p4ssw0rd-canary"].check.health' },
              status: "fail",
              problems: [{ message: "Got p4ssw0rd-canary." }]
            }
          ]
        },
        { address: address("demo.one", "resource"), status: "of a later release", instances: null }
      ]
    })
    const { checks } = projected(plan, { origin: "var.password", value: Redacted.make("p4ssw0rd-canary") })
    expect(JSON.stringify(checks)).not.toContain("canary")
    expect(checks).toMatchObject([
      {
        kind: "check",
        address: "check.health",
        status: "fail",
        instances: [{ problems: [expect.stringContaining("Got ")] }]
      },
      { kind: "resource", address: "demo.one", status: "unknown", instances: [] }
    ])
    expect(projected(planOf({}))).not.toHaveProperty("checks")
    const many = Array.from({ length: 1001 }, (_, at) => ({
      address: address(`check.c${at}`),
      status: at === 1000 ? "fail" : "pass",
      instances: []
    }))
    const kept = projected(planOf({ checks: many })).checks ?? []
    expect([kept.length, kept[0]?.status]).toEqual([1000, "fail"])
  })

  test("a projected plan shows the changed attributes, but nothing sensitive", () => {
    const plan = planOf({
      resource_changes: [
        {
          ...change(["update"], {
            before: { same: 1, size: 1, token: "old-secret", tags: { a: "x", key: "nested-secret" }, gone: "g" },
            after: { same: 1, size: 2, token: "new-secret", tags: { a: "y", key: "nested-secret" }, list: ["k"] },
            after_unknown: { id: true, list: [false, true], tags: {} },
            before_sensitive: { token: true, tags: { key: true } },
            after_sensitive: { token: true, tags: { key: true } }
          }),
          action_reason: "replace_because_cannot_update",
          previous_address: "demo.before"
        }
      ]
    })
    const [first] = projected(plan).resourceChanges
    expect(first?.reason).toBe("replace_because_cannot_update")
    expect(first?.changedAttributes).toEqual([
      { name: "gone", before: "g" },
      { name: "id", unknown: true },
      { name: "list", after: ["k", "(known after apply)"], unknownPaths: [[1]] },
      { name: "size", before: 1, after: 2 },
      { name: "tags", before: { a: "x", key: "(sensitive value)" }, after: { a: "y", key: "(sensitive value)" } },
      { name: "token", sensitive: true, beforeSensitive: true, afterSensitive: true }
    ])
    expect([...planSensitiveTexts(plan)].sort()).toEqual(
      ["nested-secret", "nested-secret", "new-secret", "old-secret"].sort()
    )
  })

  test("a projected plan hides sensitive objects, reports moved objects, and shows long values only by their length", () => {
    const plan = planOf({
      resource_changes: [
        change(["create"], { after: { a: "s" }, after_sensitive: true }),
        { ...change(["no-op"]), previous_address: "demo.old" },
        change(["update"], { before: { a: "" }, after: { a: "x".repeat(1_100_000) } })
      ]
    })
    const [whole, moved, long] = projected(plan).resourceChanges
    expect(whole?.changedAttributes).toEqual([{ name: "a", sensitive: true, afterSensitive: true }])
    expect(moved?.reason).toBe("moved from demo.old")
    expect(long?.changedAttributes[0]?.after).toBe("(1100002 characters, too long to show)")
  })

  test("the values of a plan share one limit, and short values are always shown", () => {
    const long = "x".repeat(900_000)
    const plan = planOf({
      resource_changes: Array.from({ length: 6 }, () => change(["create"], { after: { a: long, b: "short" } })),
      output_changes: { big: { actions: ["create"], after: long } }
    })
    const { outputChanges, resourceChanges } = projected(plan)
    const shown = resourceChanges.map(({ changedAttributes: [a, b] }) => [a?.after === long, b?.after])
    expect(shown).toEqual([4, 4, 4, 4, 0, 0].map((whole) => [whole > 0, "short"]))
    expect(outputChanges[0]?.after).toBe(long)
  })

  test("a projected plan shows imports with their ids, moves with both addresses, and the causes of replacements", () => {
    const plan = planOf({
      resource_changes: [
        change(["no-op"], { importing: { id: "bucket-p4ssw0rd-canary" } }),
        change(["no-op"], { importing: {} }),
        { ...change(["update"], { before: { a: 1 }, after: { a: 2 } }), previous_address: "demo.old" },
        change(["delete", "create"], {
          before: { disk: { size: 1 }, name: "a" },
          after: { disk: { size: 2 }, name: "b" },
          replace_paths: [["disk", "size"]]
        })
      ]
    })
    const [known, unknown, moved, replaced] = projected(plan, {
      origin: "env.DB",
      value: Redacted.make("p4ssw0rd-canary")
    }).resourceChanges
    expect(known?.importing).toEqual({ id: "bucket-[redacted env.DB]" })
    expect(unknown?.importing).toEqual({})
    expect(moved?.previousAddress).toBe("demo.old")
    expect(replaced?.changedAttributes.map(({ forcesReplacement, name }) => [name, forcesReplacement])).toEqual([
      ["disk", true],
      ["name", undefined]
    ])
  })

  test("a projected plan hides the values of sensitive and unknown Outputs, and does not count unchanged Outputs", () => {
    const plan = planOf({
      output_changes: {
        plain: { actions: ["update"], before: 1, after: { a: 1 }, after_unknown: { b: true }, after_sensitive: false },
        later: { actions: ["create"], before: null, after: null, after_unknown: true },
        hidden: { actions: ["create"], after: { a: "s" }, after_sensitive: { a: true } },
        same: { actions: ["no-op"], before: 1, after: 1 },
        gone: { actions: ["delete"], before: 1, after: null }
      }
    })
    const { outputChanges, plannedOutputs } = projected(plan)
    expect(outputChanges).toEqual([
      {
        name: "plain",
        actions: ["update"],
        sensitive: false,
        unknown: true,
        before: 1,
        after: { a: 1, b: "(known after apply)" }
      },
      { name: "later", actions: ["create"], sensitive: false, unknown: true },
      { name: "hidden", actions: ["create"], sensitive: true, afterSensitive: true },
      { name: "gone", actions: ["delete"], sensitive: false, before: 1 }
    ])
    expect(plannedOutputs.map(({ name }) => name)).toEqual(["plain", "later", "hidden", "same"])
  })

  test("a projected plan distinguishes a deposed object from the live object, and reports a tainted object", () => {
    const plan = planOf({
      resource_changes: [
        change(["delete"]),
        { ...change(["delete"]), deposed: "0a1b2c3d" },
        { ...change(["delete", "create"]), action_reason: "replace_because_tainted" }
      ]
    })
    const { resourceChanges, summary } = projected(plan)
    expect(resourceChanges.map(({ address, deposed, tainted }) => [address, deposed, tainted])).toEqual([
      ["demo.delete", undefined, undefined],
      ["demo.delete", "0a1b2c3d", undefined],
      ["demo.delete_create", undefined, true]
    ])
    expect(summary.destroy).toBe(2)
  })

  test("a projected plan lists the unknown parts of a value by path, with secrets in keys hidden", () => {
    const plan = planOf({
      resource_changes: [
        change(["update"], {
          before: { a: { b: [1, 2], c: 3, "p4ssw0rd-canary": 1 } },
          after: { a: { b: [1], c: 3 } },
          after_unknown: { a: { b: [false, true], d: { e: true }, "p4ssw0rd-canary": true } }
        })
      ]
    })
    const [changed] = projected(plan, { origin: "env.DB", value: Redacted.make("p4ssw0rd-canary") }).resourceChanges
    expect(changed?.changedAttributes[0]?.unknownPaths).toEqual([["b", 1], ["d", "e"], ["[redacted env.DB]"]])
  })

  test("a projected plan shows an update that only changes which values are sensitive", () => {
    const plan = planOf({
      resource_changes: [
        change(["update"], {
          before: { a: "s", b: 1 },
          after: { a: "s", b: 1 },
          before_sensitive: { b: false },
          after_sensitive: { a: true }
        })
      ]
    })
    expect(projected(plan).resourceChanges[0]?.changedAttributes).toEqual([
      { name: "a", sensitive: true, beforeSensitive: false, afterSensitive: true }
    ])
  })

  test("an Output is sensitive before the change if the state marks it so, and afterwards if the module does, regardless of the combined flag of the tool", () => {
    const both = { before_sensitive: true, after_sensitive: true }
    const plan = planOf({
      output_changes: {
        revealed: { actions: ["update"], before: "v", after: "v", ...both },
        hidden: { actions: ["update"], before: "v", after: "v", ...both },
        gone: { actions: ["delete"], before: "v", after: null, ...both },
        fresh: { actions: ["create"], before: null, after: "v", ...both }
      },
      configuration: {
        root_module: { outputs: { revealed: {}, hidden: { sensitive: true }, fresh: { sensitive: true } } }
      }
    })
    const stored = new Map([
      ["revealed", true],
      ["hidden", false],
      ["gone", true]
    ])
    const { outputChanges, plannedOutputs } = Effect.runSync(
      projectPlan(plan, directRedactor(new Redactor([])), undefined, { stored })
    )
    const sides = outputChanges.map(({ afterSensitive, beforeSensitive, name }) => [
      name,
      beforeSensitive,
      afterSensitive
    ])
    expect(sides).toEqual([
      ["revealed", true, false],
      ["hidden", false, true],
      ["gone", true, undefined],
      ["fresh", undefined, true]
    ])
    expect(outputChanges.every(({ after, before, sensitive }) => sensitive && (after ?? before) === undefined)).toBe(
      true
    )
    expect(plannedOutputs.filter(({ sensitive }) => !sensitive).map(({ name }) => name)).toEqual(["revealed"])
  })

  test("a long plan is projected in parts that share the same limits", () => {
    const value = "x".repeat(900 * 1024)
    const many = Array.from({ length: 1000 }, (_, index) => ({
      ...change(["create"], { after: { long: index % 100 === 0 ? value : "short" } }),
      address: `demo.it[${index}]`
    }))
    const longest = { items: 0 }
    const redactor = directRedactor(new Redactor([]))
    const counting: typeof redactor = {
      ...redactor,
      items: (items) => {
        longest.items = Math.max(longest.items, items.length)
        return redactor.items(items)
      }
    }
    const { resourceChanges } = Effect.runSync(projectPlan(planOf({ resource_changes: many }), counting))
    expect(resourceChanges.map(({ address }) => address)).toEqual(many.map(({ address }) => address))
    expect(longest.items).toBeLessThan(1000)
    // The long values of all parts share a limit of 4 MiB.
    const shown = resourceChanges.filter(({ changedAttributes }) => JSON.stringify(changedAttributes).includes(value))
    expect(shown).toHaveLength(4)
  })

  test("the redactor runs after the projection", () => {
    const plan = planOf({
      resource_changes: [
        change(["create"], { after: { url: "postgres://u:p4ssw0rd-canary@h", n: { "p4ssw0rd-canary": 1 } } })
      ]
    })
    const shown = JSON.stringify(projected(plan, { origin: "env.DB", value: Redacted.make("p4ssw0rd-canary") }))
    expect(shown).not.toContain("p4ssw0rd-canary")
    expect(shown).toContain("postgres://u:[redacted env.DB]@h")
  })
})

describe("maskValue", () => {
  // Every leaf is unique, so that the test can identify a leaf that is shown.
  const tree = fc.letrec<{ node: Node }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.boolean().map((secret): Node => ({ secret, members: undefined })),
      fc.record({
        secret: fc.boolean(),
        members: fc.array(tie("node"), { maxLength: 4 })
      })
    )
  })).node

  interface Node {
    readonly secret: boolean
    readonly members: ReadonlyArray<Node> | undefined
  }
  type Json = Parameters<typeof maskValue>[0]

  test("the projection hides exactly the marked leaves of a value", () => {
    fc.assert(
      fc.property(tree, fc.boolean(), (root, asList) => {
        const hidden: Array<string> = []
        const open: Array<string> = []
        let count = 0
        const build = (node: Node, inherited: boolean): readonly [value: Json & {}, marks: Json & {}] => {
          const secret = inherited || node.secret
          if (node.members === undefined) {
            const leaf = `leaf-${count++}-`
            ;(secret ? hidden : open).push(leaf)
            return [leaf, node.secret]
          }
          const members = node.members.map((member) => build(member, secret))
          const values = members.map(([value]) => value)
          const marks = members.map(([, mark]) => mark)
          return asList ? [values, node.secret || marks] : [{ ...values }, node.secret || { ...marks }]
        }
        const [value, marks] = build(root, false)
        const shown = JSON.stringify(maskValue(value, marks, undefined))
        for (const leaf of hidden) expect(shown).not.toContain(leaf)
        for (const leaf of open) expect(shown).toContain(leaf)
        expect(new Set(sensitiveTexts(value, marks))).toEqual(new Set(hidden))
      }),
      { numRuns: 200 }
    )
  })
})
