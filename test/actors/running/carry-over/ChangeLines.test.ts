import { expect, test } from "bun:test"
import { differingLines, mostLines } from "../../../../actors/running/carry-over/ChangeLines.ts"
import type { PlanDetails } from "../../../../schema/records/PlanDetails.ts"

type Resource = NonNullable<PlanDetails["resourceChanges"]>[number]
type Attribute = Resource["changedAttributes"][number]

const resource = (
  address: string,
  attributes: ReadonlyArray<Attribute> = [],
  more: Partial<Resource> = {}
): Resource => ({
  address,
  mode: "managed",
  type: "demo",
  name: "a",
  provider: "acme/demo",
  actions: ["update"],
  changedAttributes: attributes,
  ...more
})

const size = (after: number): Attribute => ({ name: "size", before: 1, after })

test("equal reviews have no differing lines, regardless of the order of their lines", () => {
  const a = { resourceChanges: [resource("demo.a", [size(2)]), resource("demo.b")] }
  const b = { resourceChanges: [resource("demo.b"), resource("demo.a", [size(2)])] }
  expect(differingLines(a, b)).toEqual({ lines: [] })
})

test("the differing lines are exactly the lines that only one of the two plans contains", () => {
  const approved = {
    resourceChanges: [resource("demo.a", [size(2), { name: "tag", before: "x", after: "y" }])],
    outputChanges: [{ name: "url", actions: ["update"], before: "u", after: "v", sensitive: false }]
  }
  const planned = {
    resourceChanges: [resource("demo.a", [size(3), { name: "tag", before: "x", after: "y" }]), resource("demo.b")],
    outputChanges: [{ name: "url", actions: ["update"], sensitive: true }],
    checks: [{ kind: "check", address: "check.health", status: "fail" as const, instances: [] }]
  }
  expect(differingLines(approved, planned)).toEqual({
    lines: [
      { side: "approved", text: "demo.a size: 1 → 2" },
      { side: "approved", text: 'output url (update): "u" → "v"' },
      { side: "planned", text: "demo.a size: 1 → 3" },
      { side: "planned", text: "update demo.b" },
      { side: "planned", text: "output url (update): (private)" },
      { side: "planned", text: "check check check.health: fail" }
    ]
  })
})

test("deposed, moved and imported objects and unknown values have separate lines", () => {
  const objects = [
    resource("demo.a", [], { deposed: "0a1b2c3d" }),
    resource("demo.a", [], { previousAddress: "demo.z" }),
    resource("demo.a", [], { importing: { id: "i-1" } }),
    resource("demo.a", [{ name: "id", unknown: true }]),
    resource("demo.a", [{ name: "size", before: 1, after: 2, forcesReplacement: true }])
  ]
  for (const one of objects) {
    for (const other of objects) {
      const { lines } = differingLines({ resourceChanges: [one] }, { resourceChanges: [other] })
      expect(lines.length > 0).toBe(one !== other)
    }
  }
})

test("a long difference is cut off, and svc counts the omitted lines", () => {
  const resources = Array.from({ length: mostLines + 7 }, (_, index) => resource(`demo.a[${index}]`))
  const { lines, moreLines } = differingLines({}, { resourceChanges: resources })
  expect([lines.length, moreLines]).toEqual([mostLines, 7])
})
