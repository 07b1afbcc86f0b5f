import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import manifest from "../package.json" with { type: "json" }

const page = readFileSync(new URL("../docs/builders/dependencies.md", import.meta.url), "utf8")
const pinned = new Map(Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))

/** The packages of the page's tables as `name@version`. A row of several packages has one version or one for each. */
const documented = new Set(
  [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].flatMap(([, names = "", versions = ""]) => {
    const each = versions.split(", ")
    const [first = ""] = names.split(", ")
    const scope = first.includes("/") ? `${first.split("/")[0]}/` : ""
    return names
      .split(", ")
      .map((name, at) => `${pinned.has(name) ? name : `${scope}${name}`}@${each.length === 1 ? each[0] : each[at]}`)
  })
)

describe("Documented dependencies", () => {
  test("the page of dependencies has every package of package.json with its version", () => {
    expect(pinned.size).toBeGreaterThan(40)
    const wrong = [...pinned].filter(
      ([name, version]) => !documented.has(`${name}@${version}`) && !documented.has(`${name}@pinned`)
    )
    expect(wrong).toEqual([])
  })
})
