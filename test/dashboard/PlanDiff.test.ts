import { describe, expect, test } from "bun:test"
import {
  attributesOf,
  changeKind,
  changeName,
  diffOf,
  inlineParts,
  inlineText,
  isNoise,
  isShownOutput,
  losses,
  sidesOf,
  splitAddress
} from "../../src/dashboard/screens/run/PlanDiff.ts"
import { planChanges } from "../browser/support/records/PlanChanges.ts"

const base = { address: "a.b", mode: "managed", type: "a", name: "b", provider: "p" }

describe("Plan diff", () => {
  test("a plan's diff lists destructions first, then replacements, updates and creations", () => {
    expect(diffOf(planChanges).groups.map(({ kind, changes }) => [kind, changes.length])).toEqual([
      ["destroy", 1],
      ["replace", 1],
      ["update", 4],
      ["create", 2],
      ["import", 1],
      ["move", 1],
      ["read", 1]
    ])
  })

  test("a plan's diff shows an unchanged Output that remains private", () => {
    expect(isShownOutput({ actions: ["no-op"] })).toBe(false)
    expect(isShownOutput({ actions: ["update"] })).toBe(true)
    expect(isShownOutput({ actions: ["no-op"], reason: "holds_secret" })).toBe(true)
  })

  test("a plan's diff shows an unchanged Output that the apply publishes", () => {
    const publication = { change: "published", reason: "secret_gone" } as const
    expect(isShownOutput({ actions: ["no-op"], publication })).toBe(true)
  })

  test("a plan's diff shows a hidden value only on the sides where it exists", () => {
    const kinds = (...of: Parameters<typeof sidesOf>) => Object.values(sidesOf(...of)).map(({ kind }) => kind)
    const hidden = { sensitive: true } as const
    expect(kinds({ ...hidden, beforeSensitive: true })).toEqual(["hidden", "absent"])
    expect(kinds({ ...hidden, afterSensitive: true })).toEqual(["absent", "hidden"])
    expect(kinds({ ...hidden, beforeSensitive: true, afterSensitive: false })).toEqual(["hidden", "hidden"])
    expect(kinds({ ...hidden, beforeSensitive: true, afterSensitive: true, unknown: true })).toEqual([
      "hidden",
      "later"
    ])
    // Plans from earlier releases do not record on which sides a hidden value exists.
    expect(kinds(hidden, ["delete"])).toEqual(["hidden", "absent"])
    expect(kinds(hidden, ["create"])).toEqual(["absent", "hidden"])
    expect(kinds(hidden, ["update"])).toEqual(["hidden", "hidden"])
  })

  test("a plan's diff shows the size of parts that become unknown, so that they do not look deleted", () => {
    const lines = Array.from({ length: 66 }, (_, line) => `line ${line}`)
    const { before } = sidesOf({
      before: { big: lines, map: { a: 1, b: 2 }, x: "old", list: [[1, 2], "kept"] },
      after: {},
      unknownPaths: [["big"], ["map"], ["x"], ["list", 0], ["new", "key"]]
    })
    expect(before).toEqual({
      kind: "value",
      value: { big: "(66 items)", map: "(2 keys)", x: "old", list: ["(2 items)", "kept"] }
    })
  })

  test('a search in a plan finds a deposed object by its key and by the word "deposed"', () => {
    const changes = [undefined, "0a1b2c3d"].map((deposed) => ({
      ...base,
      actions: ["delete"],
      changedAttributes: [],
      ...(deposed === undefined ? {} : { deposed })
    }))
    expect(changes.map(changeName)).toEqual(["a.b", "a.b 0a1b2c3d"])
    expect(diffOf(changes, "deposed").total).toBe(1)
    expect(diffOf(changes, "0a1b").total).toBe(1)
  })

  test("a plan's diff recognises a replacement by its two actions in either order", () => {
    expect(changeKind({ actions: ["delete", "create"] })).toBe("replace")
    expect(changeKind({ actions: ["create", "delete"] })).toBe("replace")
    expect(changeKind({ actions: ["no-op"] })).toBe("none")
  })

  test("a plan's diff collapses only label updates and recomputed values", () => {
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

  test("a plan's diff searches addresses, types, kinds and attribute names, regardless of case and word order", () => {
    expect(
      diffOf(planChanges, "ENGINE aws_db").groups.flatMap(({ changes }) => changes.map(({ address }) => address))
    ).toEqual(["module.data.aws_db_instance.main"])
    expect(diffOf(planChanges, "destroy").total).toBe(1)
    expect(diffOf(planChanges, "nothing like it").total).toBe(0)
  })

  test("a plan's diff counts the objects that will be lost", () => {
    expect(losses(planChanges)).toBe(2)
  })

  test("a plan's diff sorts numbered instances numerically", () => {
    const numbered = ["a.b[10]", "a.b[9]"].map((address) => ({
      ...base,
      address,
      actions: ["create"],
      changedAttributes: []
    }))
    expect(diffOf(numbered).groups[0]?.changes.map(({ address }) => address)).toEqual(["a.b[9]", "a.b[10]"])
  })

  test("a plan's diff never shows a hidden value, even if the record contains it", () => {
    const sides = sidesOf({ sensitive: true, before: "old-secret", after: "new-secret" })
    expect(sides).toEqual({ before: { kind: "hidden" }, after: { kind: "hidden" } })
    expect(JSON.stringify(sides)).not.toContain("secret")
  })

  test("a plan's diff distinguishes null, absent values and values known only after the apply", () => {
    expect(sidesOf({ before: null, unknown: true })).toEqual({
      before: { kind: "null" },
      after: { kind: "later" }
    })
    expect(sidesOf({ after: 0 })).toEqual({ before: { kind: "absent" }, after: { kind: "value", value: 0 } })
  })

  test("a plan's diff keeps short values on a single line, and lays out documents and long values", () => {
    expect(inlineText(["198.51.100.0/24"])).toBe('["198.51.100.0/24"]')
    expect(inlineText("{broken")).toBe('"{broken"')
    for (const long of ['{"a":[1]}', "a\nb", "x".repeat(61), { text: "x".repeat(61) }])
      expect(inlineText(long)).toBeUndefined()
  })

  test("a plan's diff makes characters visible that reorder text or have no width", () => {
    expect(inlineText("admin\u200b")).toBe('"adminU+200B"')
    expect(inlineText(["10.0.0.0/8\u202e"])).toBe('["10.0.0.0/8U+202E"]')
    expect(inlineText("\u{e0041}日本語 é")).toBe('"U+E0041日本語 é"')
    expect(splitAddress({ address: 'aws_x.y["a\u2066"]', type: "aws_x" })).toEqual(["", 'aws_x.y["aU+2066"]'])
  })

  test("a plan's diff labels imports and moves, and lists the attribute that forces a replacement first", () => {
    const none = { ...base, actions: ["no-op"], changedAttributes: [] }
    expect(changeKind({ ...none, importing: { id: "i-1" } })).toBe("import")
    expect(changeKind({ ...none, actions: ["update"], importing: {} })).toBe("import")
    expect(changeKind({ ...none, actions: ["delete", "create"], importing: {} })).toBe("replace")
    expect(changeKind({ ...none, previousAddress: "a.old" })).toBe("move")
    expect(changeKind({ ...none, actions: ["update"], previousAddress: "a.old" })).toBe("update")
    const label = { name: "tags", before: 1, after: 2 }
    for (const acting of [{ importing: { id: "i-1" } }, { previousAddress: "a.old" }]) {
      expect(isNoise({ ...none, ...acting })).toBe(false)
      expect(isNoise({ ...none, actions: ["update"], changedAttributes: [label], ...acting })).toBe(false)
    }
    expect(isNoise({ ...none, actions: ["read"] })).toBe(false)
    const attributes = [
      { name: "arn", unknown: true },
      { name: "endpoint", before: "a", unknown: true },
      { name: "name", before: "a", after: "b" },
      { name: "size", before: 1, after: 2, forcesReplacement: true }
    ]
    const { later, shown } = attributesOf({ changedAttributes: attributes })
    expect([shown.map(({ name }) => name), later]).toEqual([["size", "name", "endpoint"], ["arn"]])
  })

  test("a plan's diff splits an address into its location and name", () => {
    expect(splitAddress({ address: "module.a.module.b.aws_x.y", type: "aws_x" })).toEqual([
      "module.a.module.b.",
      "aws_x.y"
    ])
    expect(splitAddress({ address: "aws_x.y", type: "aws_x" })).toEqual(["", "aws_x.y"])
  })
})

describe("Inline values", () => {
  test("an inline value has markers for its sensitive and unknown parts", () => {
    expect(inlineParts({ key: "(sensitive value)", id: "(known after apply)" })).toEqual([
      { kind: "text", text: '{"key":' },
      { kind: "hidden" },
      { kind: "text", text: ',"id":' },
      { kind: "later" },
      { kind: "text", text: "}" }
    ])
  })

  test("an inline value shows a string that looks like a marker as text", () => {
    expect(inlineParts("(sensitive value)")).toEqual([{ kind: "text", text: '"(sensitive value)"' }])
  })
})
