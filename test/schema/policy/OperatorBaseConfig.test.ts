import { describe, expect, test } from "bun:test"
import { Schema } from "effect"
import { baseConfigFor, OperatorBaseConfig, placeOf } from "../../../schema/policy/OperatorBaseConfig.ts"

const decode = Schema.decodeUnknownSync(OperatorBaseConfig, { onExcessProperty: "error" })
const origin = "https://git.example.com"
const configs = [
  { name: "all", origin },
  { name: "team", origin, path: "team" },
  { name: "app", origin, path: "/team/app.git" },
  { name: "web of all", origin, module: "modules/web" },
  { name: "web of app", origin: `${origin}/team`, path: "app", module: "modules/web" },
  { name: "root of app", origin, path: "team/app", module: "." }
].map((config) => decode(config))

describe("Base configurations", () => {
  test("a module gets only the base configuration with the most specific location", () => {
    const found = (url: string, path: string) => baseConfigFor(configs, { url, path })?.name
    expect(found(`${origin}/team/app.git`, "modules/web")).toBe("web of app")
    expect(found(`${origin}/team/app`, "modules/web")).toBe("web of app")
    expect(found(`${origin}/team/app.git`, ".")).toBe("root of app")
    expect(found(`${origin}/team/app.git`, "other")).toBe("app")
    expect(found(`${origin}/team/other.git`, "modules/web")).toBe("web of all")
    expect(found(`${origin}/team/other.git`, "x")).toBe("team")
    // A location matches complete path segments only, and only within the same origin.
    expect(found(`${origin}/teams/app.git`, "x")).toBe("all")
    for (const other of ["https://git.example.com:8443", "http://git.example.com", "https://git.example.org"]) {
      expect(found(`${other}/team/app.git`, "modules/web")).toBeUndefined()
    }
  })

  test("all spellings of a location refer to the same base configuration", () => {
    expect(placeOf(decode({ origin: `${origin}/team`, path: "app.git" }))).toBe(
      placeOf(decode({ origin, path: "/team/app" }))
    )
    expect(placeOf(decode({ origin, path: "team", module: "." }))).not.toBe(placeOf(decode({ origin, path: "team" })))
  })

  test("a base configuration rejects unknown fields, including host properties", () => {
    for (const field of ["isolation", "allowOrigins", "providerBindings", "env", "connectionId"]) {
      expect(() => decode({ origin, [field]: "x" })).toThrow()
    }
    for (const wrong of [
      { origin: "https://user:password@git.example.com" },
      { origin, path: "a b" },
      { origin, module: "../up" },
      { origin, lifecycle: { postApply: [{ name: "a", kind: "exec", target: { endpoint: true } }] } },
      { origin, lifecycle: { postApply: [{ name: "a", kind: "http", target: { url: "https://x.example" } }] } },
      { origin, lifecycle: { postApply: [{ name: "a", kind: "http", target: { endpoint: true }, path: "//x" }] } },
      { origin, lifecycle: { preApply: [] } }
    ]) {
      expect(() => decode(wrong)).toThrow()
    }
  })
})
