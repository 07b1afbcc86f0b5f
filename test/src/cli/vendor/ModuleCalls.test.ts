import { describe, expect, test } from "bun:test"
import { withSources } from "../../../../src/cli/vendor/ModuleCalls.ts"

const sources = new Map([["vpc", "./vendor/vpc-5.1.0/modules/a"]])

describe("Module calls", () => {
  test("vendoring changes the source of the named call, removes the version, and keeps all other text", () => {
    const text = `# module "vpc" { source = "kept" }
module "other" {
  source  = "terraform-aws-modules/vpc/aws"
  version = "5.1.0"
}

module "vpc" {
  source  = "terraform-aws-modules/vpc/aws//modules/a" # pinned
  version = "5.1.0"
  cidr    = "source = \\"x\\""
  nested = {
    source = "kept", version = "kept"
  }
}
`
    expect(withSources("main.tf", text, sources)).toBe(
      text.replace(
        `  source  = "terraform-aws-modules/vpc/aws//modules/a" # pinned\n  version = "5.1.0"\n  cidr`,
        `  source  = "./vendor/vpc-5.1.0/modules/a" # pinned\n  cidr`
      )
    )
  })

  test("vendoring also changes a named call in a JSON file, whether in an object or in a list", () => {
    const call = { source: "git::https://example.com/vpc.git", version: "1", count: 2 }
    const changed = { source: "./vendor/vpc-5.1.0/modules/a", count: 2 }
    const json = (value: unknown) => JSON.stringify({ module: value, locals: { source: "kept" } })
    const read = (text: string | undefined): unknown => JSON.parse(text ?? "null")
    const vendored = (value: unknown) => read(withSources("main.tf.json", json(value), sources))
    expect(vendored({ vpc: call, other: call })).toEqual({
      module: { vpc: changed, other: call },
      locals: { source: "kept" }
    })
    expect(vendored([{ vpc: [call] }])).toEqual({ module: [{ vpc: [changed] }], locals: { source: "kept" } })
  })

  test("vendoring does not change a file without the call, a broken file or a file of another kind", () => {
    for (const [name, text] of [
      ["main.tf", 'module "other" {\n  source = "x/y/z"\n}\n'],
      ["main.tf", 'module "vpc" {'],
      ["main.tf.json", "{"],
      ["README.md", 'module "vpc" {\n  source = "x/y/z"\n}\n']
    ] as const) {
      expect(withSources(name, text, sources)).toBeUndefined()
    }
  })
})
