import { expect, test } from "bun:test"
import { Result } from "effect"
import { parseSourceOptions } from "../../../schema/manifest/SourceOptions.ts"
import { bytes, type JsonObject } from "./ManifestFixture.ts"
import { option, validOptions } from "./SourceOptionsFixture.ts"

const verdict = (document: unknown) =>
  Result.match(parseSourceOptions(bytes(document)), {
    onSuccess: () => "valid",
    onFailure: ({ diagnostics }) => diagnostics.map(({ code, path }) => `${code} ${path}`).join("; ")
  })
const options = (count: number) => ({
  ...validOptions,
  options: Array.from({ length: count }, (_, at) => option(`o${at}`))
})
const one = (more: JsonObject) => ({ ...validOptions, options: [option("a", more)] })
const source = (more: JsonObject) => one({ source: { url: "https://git.example.com/team/app", path: ".", ...more } })
const metadata = (more: JsonObject) => ({ ...validOptions, metadata: { name: "app", title: "App", ...more } })
const text = (length: number) => "x".repeat(length)

test.each<readonly [string, unknown, string]>([
  ["a full document", validOptions, "valid"],
  ["another version", { ...validOptions, apiVersion: "install.svc.com/v1" }, "invalid_value /apiVersion"],
  ["another kind", { ...validOptions, kind: "Repository" }, "invalid_value /kind"],
  ["$schema", { ...validOptions, $schema: "x" }, "unknown_field /$schema"],
  ["0 options", options(0), "invalid_count /options"],
  ["1 option", options(1), "valid"],
  ["32 options", options(32), "valid"],
  ["33 options", options(33), "invalid_count /options"],
  ["an id twice", { ...validOptions, options: [option("a"), option("b"), option("a")] }, "not_unique /options"],
  ["id of 128 characters", one({ id: text(128) }), "valid"],
  ["id of 129 characters", one({ id: text(129) }), "invalid_length /options/0/id"],
  [
    "no title",
    { ...validOptions, options: [{ id: "a", source: { url: "https://g.example/a", path: "." } }] },
    "missing_field /options/0/title"
  ],
  ["a title with outer white space", one({ title: " a" }), "not_canonical /options/0/title"],
  ["no description", metadata({}), "valid"],
  ["description of 2,000 characters", metadata({ description: text(2000) }), "valid"],
  ["description of 2,001 characters", metadata({ description: text(2001) }), "invalid_length /metadata/description"],
  ["no name", { ...validOptions, metadata: { title: "App" } }, "missing_field /metadata/name"],
  ["name of 128 characters", metadata({ name: text(128) }), "valid"],
  ["name of 129 characters", metadata({ name: text(129) }), "invalid_length /metadata/name"],
  ["title of 160 characters", metadata({ title: text(160) }), "valid"],
  ["title of 161 characters", metadata({ title: text(161) }), "invalid_length /metadata/title"],
  ["title of an option of 161 characters", one({ title: text(161) }), "invalid_length /options/0/title"],
  ["pricing in metadata", metadata({ price: "1" }), "unknown_field /metadata/price"],
  ["region in an option", one({ region: "eu" }), "unknown_field /options/0/region"],
  ["credentials in a source", source({ token: "x" }), "unknown_field /options/0/source/token"],
  ["no path", one({ source: { url: "https://git.example.com/team/app" } }), "missing_field /options/0/source/path"],
  ["path .", source({ path: "." }), "valid"],
  ["path outside", source({ path: "../a" }), "invalid_path /options/0/source/path"],
  ["url by http", source({ url: "http://git.example.com/team/app" }), "invalid_url /options/0/source/url"],
  ["url by ssh", source({ url: "ssh://git@git.example.com/team/app" }), "invalid_url /options/0/source/url"],
  [
    "url with credentials",
    source({ url: "https://u:p@git.example.com/team/app" }),
    "invalid_url /options/0/source/url; secret_material /options/0/source/url"
  ],
  ["path of 1,024 characters", source({ path: text(1024) }), "valid"],
  ["path of 1,025 characters", source({ path: text(1025) }), "invalid_length /options/0/source/path"],
  ["ref of 255 characters", source({ ref: text(255) }), "valid"],
  ["ref of 256 characters", source({ ref: text(256) }), "invalid_length /options/0/source/ref"],
  ["Interfaces in an option", one({ interfaces: [] }), "unknown_field /options/0/interfaces"],
  ["an automatic install", { ...validOptions, install: true }, "unknown_field /install"],
  ["ref that is an option", source({ ref: "--upload-pack=x" }), "invalid_pattern /options/0/source/ref"],
  ["a credential in a title", one({ title: "ghp_0123456789abcdefABCD" }), "secret_material /options/0/title"],
  ["not an object", [], "wrong_type "]
])("%s", (_, document, expected) => {
  expect(verdict(document)).toBe(expected)
})

test("the source options file must be UTF-8 JSON of at most 128 KiB, and errors are typed (J5)", () => {
  const padded = (size: number) => {
    const document = new Uint8Array(size).fill(0x20)
    document.set(bytes(validOptions))
    return parseSourceOptions(document)
  }
  expect(Result.isSuccess(padded(131_072))).toBe(true)
  const refused = padded(131_073)
  expect(Result.isFailure(refused) && refused.failure._tag).toBe("SourceOptionsRefusal")
  expect(Result.isFailure(refused) && refused.failure.message).toContain("131072 bytes")
  const notText = parseSourceOptions(Uint8Array.from([0x7b, 0xff, 0x7d]))
  expect(Result.isFailure(notText) && notText.failure.diagnostics.map(({ code }) => code)).toEqual([
    "json_invalid_utf8"
  ])
})
