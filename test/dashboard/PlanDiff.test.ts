import { describe, expect, test } from "bun:test"
import {
  changeKind,
  diffOf,
  isNoise,
  isShownOutput,
  losses,
  sidesOf,
  splitAddress
} from "../../src/dashboard/screens/run/PlanDiff.ts"
import { planChanges } from "../browser/support/records/PlanChanges.ts"

const base = { address: "a.b", mode: "managed", type: "a", name: "b", provider: "p" }

describe("the plan's diff", () => {
  test("puts destructions first, then replacements, updates and creations", () => {
    expect(diffOf(planChanges).groups.map(({ kind, changes }) => [kind, changes.length])).toEqual([
      ["destroy", 1],
      ["replace", 1],
      ["update", 2],
      ["create", 2]
    ])
  })

  test("shows an Output that remains private although it does not change", () => {
    expect(isShownOutput({ actions: ["no-op"] })).toBe(false)
    expect(isShownOutput({ actions: ["update"] })).toBe(true)
    expect(isShownOutput({ actions: ["no-op"], reason: "holds_secret" })).toBe(true)
  })

  test("reads a replacement in both orders of its actions", () => {
    expect(changeKind({ actions: ["delete", "create"] })).toBe("replace")
    expect(changeKind({ actions: ["create", "delete"] })).toBe("replace")
    expect(changeKind({ actions: ["no-op"] })).toBe("none")
  })

  test("folds updates of labels and recomputed values, and nothing else", () => {
    expect(diffOf(planChanges).noise.map(({ address }) => address)).toEqual([
      "aws_ecs_service.web",
      "aws_s3_bucket.assets"
    ])
    expect(isNoise({ ...base, actions: ["create"], changedAttributes: [{ name: "tags" }] })).toBe(false)
    expect(isNoise({ ...base, actions: ["delete"], changedAttributes: [{ name: "tags" }] })).toBe(false)
    expect(
      isNoise({ ...base, actions: ["update"], changedAttributes: [{ name: "tagsets", before: 1, after: 2 }] })
    ).toBe(false)
    expect(
      isNoise({ ...base, actions: ["update"], changedAttributes: [{ name: "tags.password", sensitive: true }] })
    ).toBe(false)
    expect(isNoise({ ...base, actions: ["update"], changedAttributes: [] })).toBe(false)
    const later = { name: "policy", before: "{}", unknown: true }
    expect(isNoise({ ...base, actions: ["update"], changedAttributes: [later] })).toBe(false)
    expect(
      isNoise({ ...base, actions: ["update"], changedAttributes: [{ name: "tags", before: 1, after: 2 }, later] })
    ).toBe(true)
  })

  test("searches addresses, types, kinds and attribute names, in any case and order", () => {
    expect(
      diffOf(planChanges, "ENGINE aws_db").groups.flatMap(({ changes }) => changes.map(({ address }) => address))
    ).toEqual(["module.data.aws_db_instance.main"])
    expect(diffOf(planChanges, "destroy").total).toBe(1)
    expect(diffOf(planChanges, "nothing like it").total).toBe(0)
  })

  test("counts what will be lost", () => {
    expect(losses(planChanges)).toBe(2)
  })

  test("orders numbered instances as numbers", () => {
    const numbered = ["a.b[10]", "a.b[9]"].map((address) => ({
      ...base,
      address,
      actions: ["create"],
      changedAttributes: []
    }))
    expect(diffOf(numbered).groups[0]?.changes.map(({ address }) => address)).toEqual(["a.b[9]", "a.b[10]"])
  })

  test("never shows a hidden value, whatever the record contains", () => {
    const sides = sidesOf({ name: "password", sensitive: true, before: "old-secret", after: "new-secret" })
    expect(sides).toEqual({ before: { kind: "hidden" }, after: { kind: "hidden" } })
    expect(JSON.stringify(sides)).not.toContain("secret")
  })

  test("distinguishes null, absent and later", () => {
    expect(sidesOf({ name: "x", before: null, unknown: true })).toEqual({
      before: { kind: "null" },
      after: { kind: "later" }
    })
    expect(sidesOf({ name: "x", after: 0 })).toEqual({ before: { kind: "absent" }, after: { kind: "text", text: "0" } })
  })

  test("formats JSON inside a string over lines, and leaves other text alone", () => {
    expect(sidesOf({ name: "policy", after: '{"a":[1]}' }).after).toEqual({
      kind: "text",
      text: '{\n  "a": [\n    1\n  ]\n}'
    })
    expect(sidesOf({ name: "note", after: "{broken" }).after).toEqual({ kind: "text", text: '"{broken"' })
  })

  test("does not format what would then mean something else", () => {
    const text = (value: string) => sidesOf({ name: "policy", after: value }).after
    for (const document of ['{"Action":"*","Action":"s3:Get"}', '[{"id":9007199254740993}]'])
      expect(text(document)).toEqual({ kind: "text", text: JSON.stringify(document) })
    const quoted = '{"a:b":"c:{\\"d\\":1}","e":{"f":"9007199254740993"}}'
    expect(text(quoted)).toEqual({ kind: "text", text: JSON.stringify(JSON.parse(quoted), null, 2) })
  })

  test("shows characters that reorder text or take no room", () => {
    const text = (value: string | ReadonlyArray<string>) => sidesOf({ name: "note", after: value }).after
    expect(text("admin\u200b")).toEqual({ kind: "text", text: '"admin\\u{200b}"' })
    expect(text(["10.0.0.0/8\u202e"])).toEqual({ kind: "text", text: '[\n  "10.0.0.0/8\\u{202e}"\n]' })
    expect(text("\u{e0041}日本語 é")).toEqual({ kind: "text", text: '"\\u{e0041}日本語 é"' })
    expect(splitAddress({ address: 'aws_x.y["a\u2066"]', type: "aws_x" })).toEqual(["", 'aws_x.y["a\\u{2066}"]'])
  })

  test("splits an address into place and name", () => {
    expect(splitAddress({ address: "module.a.module.b.aws_x.y", type: "aws_x" })).toEqual([
      "module.a.module.b.",
      "aws_x.y"
    ])
    expect(splitAddress({ address: "aws_x.y", type: "aws_x" })).toEqual(["", "aws_x.y"])
  })
})
