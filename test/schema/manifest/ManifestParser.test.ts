import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { parseRepositoryManifest } from "../../../schema/manifest/ManifestParser.ts"
import { bytes, diagnosticsOf, fullModule, manifest, parse, verdict } from "./ManifestFixture.ts"
import { table, text } from "./RuleTable.ts"

const v = "svc.com/v2.3"
const moduleKey = (key: string) => manifest(v, {}, { modules: { [key]: { inputs: [] } } })
const modules = (count: number) =>
  manifest(v, {}, { modules: Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, { inputs: [] }])) })

test("a manifest with every field of a module is valid", () => {
  expect(verdict(manifest("svc.com/v2.4", fullModule))).toBe("valid")
  expect(verdict(manifest(v, fullModule, { defaultModule: "." }))).toBe("valid")
})

test("the parsed manifest equals the document, and prototype names in it are ordinary data (J4)", () => {
  const document = JSON.stringify(manifest(v)).replace(
    '{".":{"inputs":[]}}',
    '{"__proto__":{"inputs":[]},"constructor":{"inputs":[]}}'
  )
  const parsed = Result.getOrThrow(parseRepositoryManifest(new TextEncoder().encode(document)))
  expect(Object.keys(parsed.install.modules)).toEqual(["__proto__", "constructor"])
  expect(Object.hasOwn(parsed.install.modules, "__proto__")).toBe(true)
  expect(Object.hasOwn(Object.prototype, "inputs")).toBe(false)
  expect(Result.getOrThrow(parse(manifest(v, fullModule)))).toEqual(JSON.parse(JSON.stringify(manifest(v, fullModule))))
})

describe("bytes", () => {
  test("a manifest of 128 KiB is accepted, and one more byte is rejected (J5)", () => {
    const padded = (size: number) => {
      const encoded = bytes(manifest(v))
      const document = new Uint8Array(size).fill(0x20)
      document.set(encoded)
      return parseRepositoryManifest(document)
    }
    expect(Result.isSuccess(padded(131_072))).toBe(true)
    const refused = padded(131_073)
    expect(Result.isFailure(refused) && refused.failure.diagnostics[0].code).toBe("json_too_large")
  })

  test.each([
    ["", "json_syntax"],
    ["null", "wrong_type"],
    ["[]", "wrong_type"],
    ['"svc.com/v1"', "wrong_type"],
    ["{}", "unknown_version"],
    ['{"apiVersion":"svc.com/v1","apiVersion":"svc.com/v2"}', "json_duplicate_key"],
    ['{"apiVersion":"svc.com/v1","a":1e999}', "json_number_out_of_range"],
    ['{"apiVersion":"\\ud800"}', "json_lone_surrogate"],
    ["[".repeat(100_000), "json_too_deep"]
  ])("%p", (document, code) => {
    const parsed = parseRepositoryManifest(new TextEncoder().encode(document))
    const codes = Result.isFailure(parsed)
      ? parsed.failure.diagnostics.map((diagnostic) => String(diagnostic.code))
      : []
    expect(codes).toEqual([code])
  })
})

table("root", [
  ["kind", { ...manifest(v), kind: "repository" }, "invalid_value /kind"],
  ["no kind", { apiVersion: v, install: { modules: { ".": { inputs: [] } } } }, "missing_field /kind"],
  ["no install", { apiVersion: v, kind: "Repository" }, "missing_field /install"],
  ["$schema", { $schema: "x", ...manifest(v) }, "unknown_field /$schema"],
  ["schemaVersion", { schemaVersion: "install-ux/v1", ...manifest(v) }, "unknown_field /schemaVersion"],
  ["unknown version", { ...manifest(v), apiVersion: "svc.com/v2.5" }, "unknown_version /apiVersion"],
  ["version of another type", { ...manifest(v), apiVersion: 2 }, "unknown_version /apiVersion"],
  ["version by prototype name", { ...manifest(v), apiVersion: "constructor" }, "unknown_version /apiVersion"],
  ["version with a line feed (J10)", { ...manifest(v), apiVersion: "svc.com/v2.3\n" }, "unknown_version /apiVersion"],
  ["modulePath in install", manifest(v, {}, { modulePath: "." }), "unknown_field /install/modulePath"],
  ["no modules", { ...manifest(v), install: {} }, "missing_field /install/modules"],
  ["modules as an array", manifest(v, {}, { modules: [] }), "wrong_type /install/modules"],
  ["0 modules", modules(0), "invalid_count /install/modules"],
  ["32 modules", modules(32), "valid"],
  ["33 modules", modules(33), "invalid_count /install/modules"],
  ["defaultModule names a key", manifest(v, {}, { defaultModule: "." }), "valid"],
  [
    "defaultModule names no key",
    manifest(v, {}, { defaultModule: "app" }),
    "unknown_default_module /install/defaultModule"
  ],
  [
    "defaultModule by prototype name (J4)",
    manifest(v, {}, { defaultModule: "constructor" }),
    "unknown_default_module /install/defaultModule"
  ]
])

describe("module keys", () => {
  test.each([".", "app", "modules/app", "a.b/c-d_e", "..a", ".well-known", "日本", text(1024), "modules/%25"])(
    "the module key %p is canonical",
    (key) => {
      expect(verdict(moduleKey(key))).toBe("valid")
    }
  )
  test.each([
    "./app",
    "/app",
    "app/",
    "a//b",
    "a/../b",
    "..",
    "a/./b",
    "C:/a",
    "c:a",
    "a\\b",
    " a",
    "a ",
    "a\u00a0",
    "\u3000a",
    "\ufeffa",
    "a\u0000b",
    "a\nb",
    "%2e%2e/a",
    "a%2Fb",
    "e\u0301"
  ])("the module key %p is refused without being repeated", (key) => {
    const [diagnostic] = diagnosticsOf(moduleKey(key))
    expect(diagnostic).toMatchObject({ code: "invalid_path" })
    expect(diagnostic?.path).toBe(key === ".." ? "/install/modules/.." : "/install/modules/*")
  })
  test.each(["", text(1025)])("the module key %p has an invalid length", (key) => {
    expect(verdict(moduleKey(key))).toBe("invalid_length /install/modules/*")
  })
})

test("the manifest parser reports at most 100 diagnostics, and only the first fault of a large document", () => {
  const faults = (count: number) => manifest(v, { inputs: Array.from({ length: count }, () => ({})) })
  expect(diagnosticsOf(faults(120)).length).toBe(100)
  expect(diagnosticsOf(faults(10_000)).length).toBe(1)
})
