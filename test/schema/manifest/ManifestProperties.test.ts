import { expect, test } from "bun:test"
import { Result } from "effect"
import * as fc from "fast-check"
import { maxDiagnostics } from "../../../schema/manifest/ManifestDiagnostic.ts"
import { parseRepositoryManifest } from "../../../schema/manifest/ManifestParser.ts"
import { ManifestVersion } from "../../../schema/manifest/RepositoryManifest.ts"
import { bytes, diagnosticsOf, fullModule, manifest, parse } from "./ManifestFixture.ts"
import { nearValid } from "./NearValid.ts"

const canary = "qzcanary"
const marked = (value: unknown): unknown => {
  if (typeof value === "string") return `${canary} ${value}`
  if (Array.isArray(value)) return value.map(marked)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, marked(item)]))
}

test("near-valid documents get a verdict of bounded size, and a valid document equals its parsed form", () => {
  fc.assert(
    fc.property(nearValid(manifest("svc.com/v2.4", fullModule)), (document) => {
      const parsed = parse(document)
      if (Result.isSuccess(parsed)) expect(JSON.parse(JSON.stringify(parsed.success))).toEqual(document)
      else expect(parsed.failure.diagnostics.length).toBeLessThanOrEqual(maxDiagnostics)
    }),
    { numRuns: 500 }
  )
})

test("no diagnostic repeats a value from the document", () => {
  const marking = nearValid(fullModule).map((module) => ({
    apiVersion: "svc.com/v2.4",
    kind: "Repository",
    install: { modules: { ".": marked(module) } }
  }))
  fc.assert(
    fc.property(marking, (document) => {
      const diagnostics = diagnosticsOf(document)
      expect(diagnostics.length).toBeGreaterThan(0)
      expect(JSON.stringify(diagnostics)).not.toContain(canary)
    }),
    { numRuns: 300 }
  )
})

test("the newest manifest version accepts everything that older versions accept", () => {
  let upgraded = 0
  const modules = nearValid({ ".": { inputs: fullModule["inputs"], features: fullModule["features"] } })
  fc.assert(
    fc.property(modules, fc.constantFrom(...ManifestVersion.literals), (changed, apiVersion) => {
      const document = { apiVersion, kind: "Repository", install: { modules: changed } }
      if (Result.isFailure(parse(document))) return
      upgraded++
      expect(Result.isSuccess(parse({ ...document, apiVersion: "svc.com/v2.4" }))).toBe(true)
    }),
    { numRuns: 1000 }
  )
  expect(upgraded).toBeGreaterThan(5)
})

test("the manifest parser never throws, even for arbitrary bytes", () => {
  const valid = bytes(manifest("svc.com/v2.4", fullModule))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (changes) => {
        const document = Uint8Array.from(valid)
        for (const [at, byte] of changes) document[at] = byte
        const parsed = parseRepositoryManifest(document)
        expect(Result.isSuccess(parsed) || parsed.failure.diagnostics.length > 0).toBe(true)
      }
    ),
    { numRuns: 500 }
  )
})
