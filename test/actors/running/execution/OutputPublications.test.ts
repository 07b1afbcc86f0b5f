import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import {
  asReviewed,
  restoredOutputs,
  reviewedOutputs
} from "../../../../actors/running/execution/OutputPublications.ts"
import type { OutputChange } from "../../../../schema/records/PlanDetails.ts"

const stored = (name: string, sensitive: 0 | 1, private_origins: string | null = null) => ({
  name,
  sensitive,
  private_origins
})
const planned = (name: string, sensitive: boolean) => ({ name, sensitive, unknown: false, value: 1 })
const change = (name: string, more: Partial<OutputChange> = {}): OutputChange => ({
  name,
  actions: ["update"],
  sensitive: false,
  ...more
})

describe("reviewedOutputs", () => {
  test.each([
    ["an Output that does not exist yet", planned("a", false), [], change("a"), "published new"],
    [
      "an Output without its mark",
      planned("a", false),
      [stored("a", 1)],
      change("a", { beforeSensitive: true }),
      "published mark_removed"
    ],
    [
      "an Output that repeats no secret any more",
      planned("a", false),
      [stored("a", 1, "[]")],
      undefined,
      "published secret_gone"
    ],
    ["an Output that is marked", planned("a", true), [stored("a", 0)], change("a"), "withdrawn marked_sensitive"],
    [
      "an Output that begins to repeat a secret",
      planned("a", true),
      [stored("a", 0)],
      change("a", { reason: "holds_secret" }),
      "withdrawn holds_secret"
    ],
    ["a removed Output", undefined, [stored("a", 0)], change("a", { actions: ["delete"] }), "withdrawn removed"],
    ["an Output that the tool does not mention", undefined, [stored("a", 0)], undefined, "withdrawn removed"],
    ["a public Output", planned("a", false), [stored("a", 0)], change("a"), undefined],
    ["a private Output", planned("a", true), [stored("a", 1)], change("a"), undefined],
    ["a removed private Output", undefined, [stored("a", 1)], change("a"), undefined]
  ])("a reviewed plan lists %s", (_title, output, before, changed, expected) => {
    const { outputChanges, publicOutputs } = reviewedOutputs(
      {
        plannedOutputs: output === undefined ? [] : [output],
        outputChanges: changed === undefined ? [] : [changed]
      },
      before
    )
    const found = outputChanges.flatMap(({ publication }) =>
      publication === undefined ? [] : [`${publication.change} ${publication.reason}`]
    )
    expect(found).toEqual(expected === undefined ? [] : [expected])
    expect(publicOutputs).toEqual(output?.sensitive === false ? ["a"] : [])
  })

  test("an apply publishes an unchanged Output and shows its value", () => {
    const { outputChanges } = reviewedOutputs({ plannedOutputs: [planned("a", false)], outputChanges: [] }, [
      stored("a", 1, "[]")
    ])
    expect(outputChanges).toEqual([
      {
        name: "a",
        actions: ["no-op"],
        sensitive: false,
        publication: { change: "published", reason: "secret_gone" },
        before: 1,
        after: 1
      }
    ])
  })
})

test("the review of a restore lists the Outputs that become public or private", () => {
  const now = [stored("a", 1), stored("b", 0), stored("c", 0), stored("d", 0), stored("e", 1)]
  const then = [stored("a", 0), stored("b", 1), stored("d", 0), stored("e", 1), stored("f", 0), stored("g", 1)]
  const found = restoredOutputs(now, then).map(
    ({ name, publication }) => `${name} ${Object.values(publication).join(" ")}`
  )
  expect(found.toSorted()).toEqual([
    "a published restored",
    "b withdrawn restored",
    "c withdrawn removed",
    "f published new"
  ])
})

describe("asReviewed", () => {
  const output = (name: string, sensitive = false) => ({ name, type: "string", value: Redacted.make(1), sensitive })
  const publicOf = (...args: Parameters<typeof asReviewed>) =>
    asReviewed(...args).outputs.flatMap(({ name, sensitive }) => (sensitive ? [] : [name]))

  test("an apply publishes the Outputs listed in its plan, except Outputs that it found to be private", () => {
    const outputs = [output("a"), output("b"), output("c", true)]
    expect(publicOf({ exit: "succeeded", outputs }, ["a", "c"], [stored("b", 0)])).toEqual(["a"])
    expect(asReviewed({ exit: "succeeded", outputs }, ["a", "c"], []).notes[0]?.detail).toContain("b")
  })

  test("a failed apply keeps public Outputs, and publishes only listed Outputs", () => {
    const outputs = [output("a"), output("b"), output("c")]
    expect(publicOf({ exit: "failed", outputs }, ["a"], [stored("b", 0), stored("c", 1)])).toEqual(["a", "b"])
  })

  test("an apply of a plan from an earlier release publishes all Outputs that the apply finds to be public", () => {
    expect(publicOf({ exit: "succeeded", outputs: [output("a")] }, undefined, [])).toEqual(["a"])
  })
})
