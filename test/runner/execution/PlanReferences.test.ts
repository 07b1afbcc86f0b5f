import { describe, expect, test } from "bun:test"
import type { PlannedModule } from "../../../runner/execution/PlanDocument.ts"
import { configurationAddress, planReferences } from "../../../runner/execution/PlanReferences.ts"

const refers = (...references: ReadonlyArray<string>) => ({ references })

const root: PlannedModule = {
  resources: [
    {
      address: "demo.plain",
      expressions: {
        written: { constant_value: "x" },
        computed: {},
        own: refers("var.size"),
        other: refers("demo.base.id", "demo.base"),
        read: refers("data.demo.found.id", "data.demo.found"),
        hidden: refers("local.name"),
        file: refers("path.module"),
        rule: [{ port: refers("var.port") }],
        deep: refers("module.inner.name", "module.inner")
      }
    },
    {
      address: "demo.many",
      for_each_expression: refers("var.names"),
      expressions: { name: refers("each.value") }
    },
    { address: "demo.base" }
  ],
  module_calls: {
    inner: {
      count_expression: refers("var.copies"),
      expressions: { label: refers("var.title", "demo.base.id", "demo.base") },
      module: {
        resources: [{ address: "demo.leaf", expressions: { label: refers("var.label"), kind: refers("var.kind") } }],
        outputs: { name: { expression: refers("demo.leaf.name", "demo.leaf", "var.label") } }
      }
    }
  }
}

const of = planReferences(root)

describe("Attribute references", () => {
  test("an attribute's references follow inputs, resources, modules and repetitions, and report where they end", () => {
    const names = ["computed", "deep", "file", "hidden", "other", "own", "read", "rule", "unset", "written"]
    expect(of("demo.plain", names)).toEqual([
      { attribute: "computed" },
      { attribute: "deep", inputs: ["title"], resources: ["demo.base", "module.inner.demo.leaf"] },
      { attribute: "file" },
      { attribute: "hidden", partial: true },
      { attribute: "other", resources: ["demo.base"] },
      { attribute: "own", inputs: ["size"] },
      { attribute: "read", resources: ["data.demo.found"] },
      { attribute: "rule", inputs: ["port"], partial: true },
      { attribute: "written", literal: true }
    ])
  })

  test("an attribute of an instance in a module also refers to everything that determines the instance count", () => {
    expect(of(`demo.many["a.b[\\"0\\"]"]`, ["name"])).toEqual([
      { inputs: ["names"] },
      { attribute: "name", inputs: ["names"] }
    ])
    expect(of("module.inner[0].demo.leaf", ["kind", "label"])).toEqual([
      { inputs: ["copies"] },
      { attribute: "kind" },
      { attribute: "label", inputs: ["title"], resources: ["demo.base"] }
    ])
  })

  test("an attribute's references are unknown for a resource outside the configuration", () => {
    expect(of("demo.gone", ["name"])).toBeUndefined()
    expect(planReferences(undefined)("demo.plain", ["own"])).toBeUndefined()
  })

  test("the search for references stays within its limit in a diamond of modules", () => {
    const layer = (depth: number): PlannedModule => ({
      outputs: {
        out: { expression: depth === 0 ? refers("var.in") : refers("module.a.out", "module.b.out", "var.in") }
      },
      ...(depth === 0
        ? {}
        : {
            module_calls: Object.fromEntries(
              ["a", "b"].map((name) => [name, { expressions: { in: refers("var.in") }, module: layer(depth - 1) }])
            )
          })
    })
    const deep = planReferences({
      resources: [{ address: "demo.top", expressions: { value: refers("module.m.out") } }],
      module_calls: { m: { expressions: { in: refers("var.given") }, module: layer(9) } }
    })
    expect(deep("demo.top", ["value"])).toEqual([{ attribute: "value", inputs: ["given"] }])
  })
})

test("an address in the configuration omits instance keys", () => {
  expect(configurationAddress(`module.a["x.y"].module.b[3].demo.c["say \\"[0]\\""]`)).toBe("module.a.module.b.demo.c")
})
