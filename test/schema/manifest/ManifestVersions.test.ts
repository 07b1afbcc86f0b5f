import { describe, expect, test } from "bun:test"
import { ManifestVersion } from "../../../schema/manifest/RepositoryManifest.ts"
import {
  consume,
  diagnosticsOf,
  endpoint,
  feature,
  fullModule,
  manifest,
  oidc,
  secret,
  sourceBuild,
  userInput,
  verdict,
  type JsonObject
} from "./ManifestFixture.ts"
import { at } from "./RuleTable.ts"

describe("versions (J6)", () => {
  const newer: Readonly<Record<string, JsonObject>> = {
    interfaces: manifest("svc.com/v1", { interfaces: [] }),
    "defaultModule before v2.1": manifest("svc.com/v2", {}, { defaultModule: "." }),
    "defaultModule in v2.4": manifest("svc.com/v2.4", {}, { defaultModule: "." }),
    "sourceBuild before v2.3": manifest("svc.com/v2.2", { sourceBuild: sourceBuild() })
  }
  test.each(Object.entries(newer))("an earlier manifest version rejects %s as an unknown field", (_, document) => {
    expect(diagnosticsOf(document).map(({ code }) => code)).toEqual(["unknown_field"])
    // The error must contain the version that the author should declare.
    expect(diagnosticsOf(document)[0]?.message).toMatch(/(needs?|only) svc\.com\/v2/)
  })

  test("interface.consume requires v2.2", () => {
    const consuming = (version: ManifestVersion) => verdict(manifest(version, { requires: [consume()] }))
    expect(diagnosticsOf(manifest("svc.com/v2.1", { requires: [consume()] }))[0]?.message).toContain(
      "interface.consume needs svc.com/v2.2"
    )
    expect(ManifestVersion.literals.map(consuming)).toEqual([
      ...Array.from({ length: 3 }, () => `invalid_value ${at}/requires/0/kind`),
      "valid",
      "valid",
      "valid"
    ])
  })

  test("a manifest cannot influence the delivery of an identity", () => {
    const bindings = { accountsUrl: "A", issuerUrl: "B", clientId: "C", redirectUri: "D" }
    const bound = (version: ManifestVersion) =>
      verdict(manifest(version, { requires: [endpoint(), oidc({ deliver: { bindings } })] }))
    expect(ManifestVersion.literals.map(bound)).toEqual(ManifestVersion.literals.map(() => "valid"))
  })

  test("every version accepts the fields that all versions share", () => {
    for (const version of ManifestVersion.literals) {
      expect(
        verdict(
          manifest(version, { inputs: [userInput("a")], requires: [secret("b")], features: [feature("f", ["a"])] })
        )
      ).toBe("valid")
    }
  })

  test("no object in the full document accepts unknown fields", () => {
    const objects: Array<string> = []
    const withExtra = (value: unknown, path: string, target: string): unknown => {
      if (Array.isArray(value)) return value.map((item, index) => withExtra(item, `${path}/${index}`, target))
      if (typeof value !== "object" || value === null) return value
      if (target === "") objects.push(path)
      const copy = Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, withExtra(item, `${path}/${key}`, target)])
      )
      return path === target && target !== "" ? { ...copy, extra: 1 } : copy
    }
    const document = manifest("svc.com/v2.4", fullModule)
    withExtra(document, "", "")
    const open = [/\/document/, /\/theme\/value/, /\/modules$/, /\/spec\/inputs$/]
    const closed = objects.filter((path) => path !== "" && !open.some((pattern) => pattern.test(path)))
    expect(closed.length).toBeGreaterThan(40)
    for (const path of closed) {
      const found = diagnosticsOf(withExtra(document, "", path)).map(({ code }) => code)
      expect(`${path}: ${found.join()}`).toBe(`${path}: unknown_field`)
    }
    expect(verdict({ ...document, extra: 1 })).toBe("unknown_field /extra")
  })
})
