import { describe, expect, test } from "bun:test"
import { type LinkProblem, readInstallLink } from "../../src/dashboard/screens/install/InstallLink.ts"

const git = "git=https%3A%2F%2Fgit.example%2Fa%2Fb.git"
const problem = (search: string) => {
  const reading = readInstallLink(search)
  return reading.kind === "refused" ? reading.problem : reading.kind
}

describe("Install links", () => {
  test("an install link fills in the form", () => {
    expect(readInstallLink(`?${git}&ref=v1&sourcePath=infra&path=modules/app&name=Shop`)).toEqual({
      kind: "link",
      link: {
        url: "https://git.example/a/b.git",
        ref: "v1",
        sourcePath: "infra",
        modulePath: "modules/app",
        name: "Shop"
      }
    })
  })

  test("an install link's module address is split into its parts", () => {
    expect(
      readInstallLink(`?source=${encodeURIComponent("git::https://git.example/a/b.git//modules/app?ref=v2")}`)
    ).toEqual({
      kind: "link",
      link: { url: "https://git.example/a/b.git", ref: "v2", modulePath: "modules/app" }
    })
  })

  test("an install link to a document with options identifies that document", () => {
    expect(readInstallLink(`?kind=capsule-source-options&${git}&path=install/options.json`)).toEqual({
      kind: "options",
      link: { url: "https://git.example/a/b.git", path: "install/options.json" }
    })
  })

  test("an install link without a query gives an empty form", () => {
    expect(problem("")).toBe("empty")
  })

  const refusals: ReadonlyArray<readonly [search: string, problem: LinkProblem]> = [
    [`?${git}&var.x=1`, "unknown"],
    [`?${git}&${git}`, "duplicate"],
    ["?ref=main", "source"],
    ["?=product", "unknown"],
    [`?${git}&source=git::https://x.example/y`, "source"],
    ["?git=ssh://git.example/a", "url"],
    ["?git=https://user:pass@git.example/a", "url"],
    ["?git=https://git.example/a%3Ftoken=1", "url"],
    ["?git=javascript:alert(1)", "url"],
    ["?source=git::https://x.example/y?depth=1", "url"],
    [`?${git}&path=../up`, "path"],
    [`?${git}&path=/abs`, "path"],
    [`?${git}&sourcePath=a//b`, "path"],
    [`?${git}&sourcePath=C:x`, "path"],
    [`?${git}&ref=-x`, "ref"],
    [`?${git}&name=%20`, "name"],
    [`?${git}&product=app`, "handOff"],
    [`?${git}&return_uri=https://app.example/back`, "handOff"],
    [`?${git}&product=App&return_uri=https://app.example/back`, "handOff"],
    [`?${git}&product=app&return_uri=javascript://x`, "handOff"],
    [`?${git}&product=app&return_uri=http://app.example/back`, "handOff"],
    [`?${git}&product=app&return_uri=https://app.example/back%3Fa=1`, "handOff"],
    [`?${git}&kind=something-else&path=options.json`, "options"],
    [`?${git}&kind=capsule-source-options`, "path"],
    [`?${git}&kind=capsule-source-options&path=../options.json`, "path"],
    [`?${git}&kind=capsule-source-options&path=options.json&name=x`, "unknown"],
    [`?${git}&kind=capsule-source-options&path=options.json&ref=-x`, "ref"],
    ["?kind=capsule-source-options&path=options.json", "source"]
  ]
  for (const [search, expected] of refusals) {
    test(`the install form rejects the entire link ${search}`, () => {
      expect(problem(search)).toBe(expected)
    })
  }

  test("an install link can hand off to an address with a custom scheme", () => {
    const reading = readInstallLink(`?${git}&product=notes&return_uri=${encodeURIComponent("notes-app://connected")}`)
    expect(reading).toMatchObject({ link: { handOff: { product: "notes", returnUri: "notes-app://connected" } } })
  })
})
