import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { ManifestVersion } from "../../../schema/manifest/RepositoryManifest.ts"
import { parseRepositoryManifest } from "../../../schema/manifest/ManifestParser.ts"
import {
  bindingRequest,
  bytes,
  consume,
  diagnosticsOf,
  endpoint,
  feature,
  fullModule,
  iface,
  interfaceSpec,
  type JsonObject,
  label,
  manifest,
  oidc,
  parse,
  secret,
  sourceBuild,
  userInput,
  verdict
} from "./ManifestFixture.ts"

const v = "svc.com/v2.3"
const input = (more: JsonObject) => manifest(v, { inputs: [userInput("a", more)] })
const named = (name: string) => manifest(v, { inputs: [userInput(name)] })
const moduleKey = (key: string) => manifest(v, {}, { modules: { [key]: { inputs: [] } } })
const inputs = (count: number) => manifest(v, { inputs: Array.from({ length: count }, (_, at) => userInput(`v${at}`)) })
const modules = (count: number) =>
  manifest(v, {}, { modules: Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, { inputs: [] }])) })
const requires = (...requirements: ReadonlyArray<JsonObject>) => manifest(v, { requires: requirements })
const withIdentity = (more: JsonObject) => requires(endpoint(), oidc(more))
const interfaces = (...declarations: ReadonlyArray<JsonObject>) => manifest(v, { interfaces: declarations })
const spec = (more: JsonObject) => interfaces(iface({ spec: interfaceSpec(more) }))
const request = (more: JsonObject) => interfaces(iface({ bindingRequests: [bindingRequest(more)] }))
const build = (more: JsonObject) => manifest(v, { sourceBuild: sourceBuild(more) })
const argv = (...parts: ReadonlyArray<string>) => build({ commands: [{ argv: parts }] })
const callback = (path: string) => withIdentity({ callbackPath: path })
const list = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, index) => of(index))
const text = (length: number) => "x".repeat(length)
const at = "/install/modules/."

type Row = readonly [rule: string, document: JsonObject, expected: string]
const table = (title: string, rows: ReadonlyArray<Row>) =>
  describe(title, () => {
    test.each(rows.map((row) => [...row]))("%s", (_, document, expected) => {
      expect(verdict(document)).toBe(String(expected))
    })
  })

test("a module that uses every field is valid", () => {
  expect(verdict(manifest("svc.com/v2.4", fullModule))).toBe("valid")
  expect(verdict(manifest(v, fullModule, { defaultModule: "." }))).toBe("valid")
})

test("the parsed manifest is the document, and prototype names in it are data (J4)", () => {
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
  test("128 KiB and one more (J5)", () => {
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
    "%p is canonical",
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
  ])("%p is not, and is not repeated", (key) => {
    const [diagnostic] = diagnosticsOf(moduleKey(key))
    expect(diagnostic).toMatchObject({ code: "invalid_path" })
    expect(diagnostic?.path).toBe(key === ".." ? "/install/modules/.." : "/install/modules/*")
  })
  test.each(["", text(1025)])("%p has no possible length", (key) => {
    expect(verdict(moduleKey(key))).toBe("invalid_length /install/modules/*")
  })
})

describe("versions (J6)", () => {
  const newer: Readonly<Record<string, JsonObject>> = {
    interfaces: manifest("svc.com/v1", { interfaces: [] }),
    "defaultModule before v2.1": manifest("svc.com/v2", {}, { defaultModule: "." }),
    "defaultModule in v2.4": manifest("svc.com/v2.4", {}, { defaultModule: "." }),
    "sourceBuild before v2.3": manifest("svc.com/v2.2", { sourceBuild: sourceBuild() })
  }
  test.each(Object.entries(newer))("%s is an unknown field", (_, document) => {
    expect(diagnosticsOf(document).map(({ code }) => code)).toEqual(["unknown_field"])
  })

  test("interface.consume begins with v2.2", () => {
    const consuming = (version: ManifestVersion) => verdict(manifest(version, { requires: [consume()] }))
    expect(ManifestVersion.literals.map(consuming)).toEqual([
      ...Array.from({ length: 3 }, () => `invalid_value ${at}/requires/0/kind`),
      "valid",
      "valid",
      "valid"
    ])
  })

  test("runtime OIDC bindings begin with v2.4", () => {
    const bound = (version: ManifestVersion) =>
      verdict(
        manifest(version, {
          requires: [
            endpoint(),
            oidc({ deliver: { bindings: { accountsUrl: "A", issuerUrl: "B", clientId: "C", redirectUri: "D" } } })
          ]
        })
      )
    expect(ManifestVersion.literals.map(bound)).toEqual([
      ...Array.from({ length: 5 }, () => `oidc_bindings_need_v2_4 ${at}/requires/1/deliver/bindings`),
      "valid"
    ])
  })

  test("every version accepts what all of them share", () => {
    for (const version of ManifestVersion.literals) {
      expect(
        verdict(
          manifest(version, { inputs: [userInput("a")], requires: [secret("b")], features: [feature("f", ["a"])] })
        )
      ).toBe("valid")
    }
  })

  test("every object of the full document is closed", () => {
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

table("inputs", [
  ["0 of them", inputs(0), "valid"],
  ["128 of them", inputs(128), "valid"],
  ["129 of them", inputs(129), `invalid_count ${at}/inputs`],
  ["inputs are required", manifest(v, {}, { modules: { ".": {} } }), `missing_field ${at}/inputs`],
  ["name of 128 characters", named(text(128)), "valid"],
  ["name of 129 characters", named(text(129)), `invalid_length ${at}/inputs/0/name`],
  ["empty name", named(""), `invalid_length ${at}/inputs/0/name`],
  ["name with a leading underscore", named("_a9"), "valid"],
  ["name with a leading digit", named("9a"), `invalid_pattern ${at}/inputs/0/name`],
  ["name with a dash", named("a-b"), `invalid_pattern ${at}/inputs/0/name`],
  ["name with a line feed (J10)", named("abc\n"), `invalid_pattern ${at}/inputs/0/name`],
  ["name with outer white space (J9)", named(" a"), `invalid_pattern ${at}/inputs/0/name`],
  ["a prototype name (J4)", named("__proto__"), "valid"],
  [
    "no label",
    manifest(v, { inputs: [{ name: "a", source: { kind: "user" } }] }),
    `missing_field ${at}/inputs/0/label`
  ],
  ["no source", manifest(v, { inputs: [{ name: "a", label }] }), `missing_field ${at}/inputs/0/source`],
  ["unknown source kind", input({ source: { kind: "output" } }), `invalid_value ${at}/inputs/0/source/kind`],
  ["more in source", input({ source: { kind: "user", from: "x" } }), `unknown_field ${at}/inputs/0/source/from`],
  ["label without en", input({ label: { ja: "a" } }), `missing_field ${at}/inputs/0/label/en`],
  ["label as a string", input({ label: "a" }), `wrong_type ${at}/inputs/0/label`],
  ["label in a third language", input({ label: { ...label, fr: "a" } }), `unknown_field ${at}/inputs/0/label/fr`],
  ["label of 160 characters", input({ label: { ja: text(160), en: "a" } }), "valid"],
  ["label of 160 emoji, counted as characters (J8)", input({ label: { ja: "😀".repeat(160), en: "a" } }), "valid"],
  ["label of 161 characters", input({ label: { ja: text(161), en: "a" } }), `invalid_length ${at}/inputs/0/label/ja`],
  [
    "label of 161 emoji (J8)",
    input({ label: { ja: "😀".repeat(161), en: "a" } }),
    `invalid_length ${at}/inputs/0/label/ja`
  ],
  ["empty label", input({ label: { ja: "", en: "a" } }), `invalid_length ${at}/inputs/0/label/ja`],
  ["blank label", input({ label: { ja: "  ", en: "a" } }), `blank ${at}/inputs/0/label/ja`],
  ["label of invisible characters", input({ label: { ja: "\u200b\u2060", en: "a" } }), `blank ${at}/inputs/0/label/ja`],
  ...[" a", "a ", "a\n", "\u00a0a", "a\u3000", "\ufeffa"].map(
    (ja): Row => [
      `label ${JSON.stringify(ja)} (J9)`,
      input({ label: { ja, en: "a" } }),
      `not_canonical ${at}/inputs/0/label/ja`
    ]
  ),
  ["label with tab, line feed, carriage return inside", input({ label: { ja: "a\tb\nc\rd", en: "a" } }), "valid"],
  ...["a\u0000b", "a\u001b[2Jb", "a\u007fb", "a\u0085b", "a\u009bb", "a\u202eb", "a\u2066b"].map(
    (ja): Row => [
      `label ${JSON.stringify(ja)} (J8)`,
      input({ label: { ja, en: "a" } }),
      `control_character ${at}/inputs/0/label/ja`
    ]
  ),
  ["roles", input({ role: "service_name" }), "valid"],
  ["unknown role", input({ role: "admin" }), `invalid_value ${at}/inputs/0/role`],
  ...["string", "number", "boolean", "json"].map((type): Row => [`type ${type}`, input({ type }), "valid"]),
  ["unknown type", input({ type: "map" }), `invalid_value ${at}/inputs/0/type`],
  ["format of 64 characters", input({ format: text(64) }), "valid"],
  ["format of 65 characters", input({ format: text(65) }), `invalid_length ${at}/inputs/0/format`],
  ["format signs", input({ format: "a9._:/-" }), "valid"],
  ["format beginning with a sign", input({ format: "-a" }), `invalid_pattern ${at}/inputs/0/format`],
  ["required as a string (J14)", input({ required: "true" }), `wrong_type ${at}/inputs/0/required`],
  ["helper of 2,000 characters", input({ helper: { ja: text(2000), en: "a" } }), "valid"],
  [
    "helper of 2,001 characters",
    input({ helper: { ja: text(2001), en: "a" } }),
    `invalid_length ${at}/inputs/0/helper/ja`
  ],
  ["placeholder of 256 characters", input({ placeholder: text(256) }), "valid"],
  ["placeholder of 257 characters", input({ placeholder: text(257) }), `invalid_length ${at}/inputs/0/placeholder`],
  ["blank placeholder", input({ placeholder: " " }), `blank ${at}/inputs/0/placeholder`],
  ["advanced as a number (J14)", input({ advanced: 1 }), `wrong_type ${at}/inputs/0/advanced`],
  ["null for an optional field (J14)", input({ secret: null }), `wrong_type ${at}/inputs/0/secret`],
  ["an array for an object (J14)", manifest(v, { inputs: [[]] }), `wrong_type ${at}/inputs/0`]
])

table("requirements", [
  [
    "16 of them",
    requires(
      ...list(8, (n) => `s${n}`).map((name) => secret(name)),
      ...list(8, (n) => `k${n}`).map((key) => consume({ key }))
    ),
    "valid"
  ],
  [
    "17 of them",
    requires(
      ...list(8, (n) => `s${n}`).map((name) => secret(name)),
      ...list(9, (n) => `k${n}`).map((key) => consume({ key }))
    ),
    `invalid_count ${at}/requires`
  ],
  ["unknown kind", requires({ kind: "database" }), `invalid_value ${at}/requires/0/kind`],
  [
    "both lanes",
    requires(secret("a", { deliver: { variables: { value: "a" }, bindings: { value: "B" } } })),
    `invalid_count ${at}/requires/0/deliver`
  ],
  ["no lane", requires(secret("a", { deliver: {} })), `invalid_count ${at}/requires/0/deliver`],
  [
    "no slot",
    requires(secret("a", { deliver: { variables: {} } })),
    `invalid_count ${at}/requires/0/deliver/variables`
  ],
  ["bindings", requires(secret("a", { deliver: { bindings: { value: "SESSION_KEY" } } })), "valid"],
  [
    "slot of another kind",
    requires(secret("a", { deliver: { variables: { url: "a" } } })),
    `unknown_field ${at}/requires/0/deliver/variables/url`
  ],
  [
    "a prototype name as slot (J4)",
    requires(secret("a", { deliver: { variables: { value: "a", constructor: "b" } } })),
    `unknown_field ${at}/requires/0/deliver/variables/constructor`
  ],
  ["target of 128 characters", requires(secret(text(128))), "valid"],
  ["target of 129 characters", requires(secret(text(129))), `invalid_length ${at}/requires/0/deliver/variables/value`],
  ["target with a dash", requires(secret("a-b")), `invalid_pattern ${at}/requires/0/deliver/variables/value`],
  ["16 bytes", requires(secret("a", { bytes: 16 })), "valid"],
  ["15 bytes", requires(secret("a", { bytes: 15 })), `invalid_number ${at}/requires/0/bytes`],
  ["64 bytes", requires(secret("a", { bytes: 64 })), "valid"],
  ["65 bytes", requires(secret("a", { bytes: 65 })), `invalid_number ${at}/requires/0/bytes`],
  ["16.5 bytes", requires(secret("a", { bytes: 16.5 })), `invalid_number ${at}/requires/0/bytes`],
  ["bytes as a string (J14)", requires(secret("a", { bytes: "16" })), `wrong_type ${at}/requires/0/bytes`],
  ["encoding base64", requires(secret("a", { encoding: "base64" })), `invalid_value ${at}/requires/0/encoding`],
  ["a value in secret.generated", requires(secret("a", { value: "x" })), `unknown_field ${at}/requires/0/value`],
  [
    "endpoint slots",
    requires({ kind: "http.endpoint", deliver: { variables: { url: "a", subdomain: "b", routePattern: "c" } } }),
    "valid"
  ],
  ["more in an endpoint", requires({ ...endpoint(), port: 80 }), `unknown_field ${at}/requires/0/port`],
  ...["/", "/cb", "/a/b.c", "/a//b", `/${text(511)}`].map(
    (path): Row => [`callback ${path.slice(0, 12)}`, callback(path), "valid"]
  ),
  ...["cb", "//cb", "/a?b", "/a#b", "/a\\b", "/a/../b", "/a/./b", "/..", "/%2e%2e/a", "/a b", "/\n", "/é"].map(
    (path): Row => [`callback ${JSON.stringify(path)}`, callback(path), `invalid_path ${at}/requires/1/callbackPath`]
  ),
  ["callback of 513 characters", callback(`/${text(512)}`), `invalid_length ${at}/requires/1/callbackPath`],
  ["16 scopes", withIdentity({ scopes: ["openid", ...list(15, (n) => `s${n}`)] }), "valid"],
  [
    "17 scopes",
    withIdentity({ scopes: ["openid", ...list(16, (n) => `s${n}`)] }),
    `invalid_count ${at}/requires/1/scopes`
  ],
  ["no scopes", withIdentity({ scopes: [] }), `invalid_count ${at}/requires/1/scopes`],
  ["a scope twice", withIdentity({ scopes: ["openid", "openid"] }), `not_unique ${at}/requires/1/scopes`],
  ["scope of 128 characters", withIdentity({ scopes: ["openid", text(128)] }), "valid"],
  [
    "scope of 129 characters",
    withIdentity({ scopes: ["openid", text(129)] }),
    `invalid_length ${at}/requires/1/scopes/1`
  ],
  ["scope with a space", withIdentity({ scopes: ["openid", "a b"] }), `invalid_pattern ${at}/requires/1/scopes/1`],
  ["scopes as a string (J14)", withIdentity({ scopes: "openid" }), `wrong_type ${at}/requires/1/scopes`],
  ["a client secret", withIdentity({ clientSecret: "x" }), `unknown_field ${at}/requires/1/clientSecret`],
  [
    "consume with deliver",
    requires(consume({ deliver: { variables: { value: "a" } } })),
    `unknown_field ${at}/requires/0/deliver`
  ],
  [
    "consume with an Interface id",
    requires(consume({ interfaceId: "x" })),
    `unknown_field ${at}/requires/0/interfaceId`
  ],
  [
    "consume without a version",
    requires(consume({ interface: { type: "a" } })),
    `missing_field ${at}/requires/0/interface/version`
  ],
  ["consume type of 256 characters", requires(consume({ interface: { type: text(256), version: "1" } })), "valid"],
  [
    "consume type of 257 characters",
    requires(consume({ interface: { type: text(257), version: "1" } })),
    `invalid_length ${at}/requires/0/interface/type`
  ],
  ["consume with 16 permissions", requires(consume({ permissions: list(16, (n) => `p${n}`) })), "valid"],
  [
    "consume with 17 permissions",
    requires(consume({ permissions: list(17, (n) => `p${n}`) })),
    `invalid_count ${at}/requires/0/permissions`
  ],
  [
    "consume with more in delivery",
    requires(consume({ delivery: { type: "none", to: "x" } })),
    `unknown_field ${at}/requires/0/delivery/to`
  ]
])

table("features", [
  [
    "32 of them",
    manifest(v, {
      inputs: list(32, (n) => `v${n}`).map((name) => userInput(name)),
      features: list(32, (n) => `${n}`).map((n) => feature(`f${n}`, [`v${n}`]))
    }),
    "valid"
  ],
  [
    "33 of them",
    manifest(v, {
      inputs: list(33, (n) => `v${n}`).map((name) => userInput(name)),
      features: list(33, (n) => `${n}`).map((n) => feature(`f${n}`, [`v${n}`]))
    }),
    `invalid_count ${at}/features`
  ],
  ...["a", "a9", "a.b_c-d", text(96)].map(
    (id): Row => [
      `id ${id.slice(0, 10)}`,
      manifest(v, { inputs: [userInput("a")], features: [feature(id, ["a"])] }),
      "valid"
    ]
  ),
  ...["A", "-a", "a-", ".", "a\n", "a b"].map(
    (id): Row => [
      `id ${JSON.stringify(id)}`,
      manifest(v, { inputs: [userInput("a")], features: [feature(id, ["a"])] }),
      `invalid_pattern ${at}/features/0/id`
    ]
  ),
  [
    "id of 97 characters",
    manifest(v, { inputs: [userInput("a")], features: [feature(text(97), ["a"])] }),
    `invalid_length ${at}/features/0/id`
  ],
  ["no inputs", manifest(v, { features: [feature("f", [])] }), `invalid_count ${at}/features/0/inputs`],
  [
    "an input twice",
    manifest(v, { inputs: [userInput("a")], features: [feature("f", ["a", "a"])] }),
    `not_unique ${at}/features/0/inputs`
  ],
  [
    "optional as a string (J14)",
    manifest(v, { inputs: [userInput("a")], features: [feature("f", ["a"], { optional: "no" })] }),
    `wrong_type ${at}/features/0/optional`
  ]
])

const deep = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth))
table("interfaces", [
  ["32 of them", interfaces(...list(32, (n) => `k${n}`).map((key) => iface({ key, name: key }))), "valid"],
  [
    "33 of them",
    interfaces(...list(33, (n) => `k${n}`).map((key) => iface({ key, name: key }))),
    `invalid_count ${at}/interfaces`
  ],
  ["key of 128 characters", interfaces(iface({ key: text(128) })), "valid"],
  ["key of 129 characters", interfaces(iface({ key: text(129) })), `invalid_length ${at}/interfaces/0/key`],
  ["key beginning with a sign", interfaces(iface({ key: "/a" })), `invalid_pattern ${at}/interfaces/0/key`],
  ["name of 128 characters", interfaces(iface({ name: text(128) })), "valid"],
  ["name of 129 characters", interfaces(iface({ name: text(129) })), `invalid_length ${at}/interfaces/0/name`],
  ["name beginning with a digit", interfaces(iface({ name: "9a" })), `invalid_pattern ${at}/interfaces/0/name`],
  ["type of 256 characters", spec({ type: text(256) }), "valid"],
  ["type of 257 characters", spec({ type: text(257) }), `invalid_length ${at}/interfaces/0/spec/type`],
  ["version beginning with a sign", spec({ version: "~1" }), `invalid_pattern ${at}/interfaces/0/spec/version`],
  ["document null", spec({ document: null }), "valid"],
  [
    "no document",
    interfaces(iface({ spec: { type: "a", version: "1", access: { visibility: "workspace" } } })),
    `missing_field ${at}/interfaces/0/spec/document`
  ],
  ["document 32 deep", spec({ document: deep(32) }), "valid"],
  ["document 33 deep", spec({ document: deep(33) }), `value_too_deep ${at}/interfaces/0/spec/document`],
  ["literal 32 deep", spec({ inputs: { a: { source: "literal", value: deep(32) } } }), "valid"],
  ["literal 33 deep", spec({ inputs: { a: { source: "literal", value: deep(33) } } }), `json_too_deep `],
  [
    "64 inputs",
    spec({
      inputs: Object.fromEntries(list(64, (n) => `i${n}`).map((name) => [name, { source: "literal", value: 1 }]))
    }),
    "valid"
  ],
  [
    "65 inputs",
    spec({
      inputs: Object.fromEntries(list(65, (n) => `i${n}`).map((name) => [name, { source: "literal", value: 1 }]))
    }),
    `invalid_count ${at}/interfaces/0/spec/inputs`
  ],
  [
    "input name beginning with a digit",
    spec({ inputs: { "9a": { source: "literal", value: 1 } } }),
    `invalid_pattern ${at}/interfaces/0/spec/inputs/9a`
  ],
  [
    "input of an unknown source",
    spec({ inputs: { a: { source: "variable" } } }),
    `invalid_value ${at}/interfaces/0/spec/inputs/a/source`
  ],
  [
    "literal without a value",
    spec({ inputs: { a: { source: "literal" } } }),
    `missing_field ${at}/interfaces/0/spec/inputs/a/value`
  ],
  [
    "output of an unknown type",
    spec({ inputs: { a: { source: "output", outputName: "u", outputType: "map" } } }),
    `invalid_value ${at}/interfaces/0/spec/inputs/a/outputType`
  ],
  [
    "visibility public",
    spec({ access: { visibility: "public" } }),
    `invalid_value ${at}/interfaces/0/spec/access/visibility`
  ],
  [
    "policyRef",
    spec({ access: { visibility: "workspace", policyRef: "x" } }),
    `unknown_field ${at}/interfaces/0/spec/access/policyRef`
  ],
  ["1 binding request", interfaces(iface({ bindingRequests: [bindingRequest()] })), "valid"],
  [
    "2 binding requests",
    interfaces(iface({ bindingRequests: [bindingRequest(), bindingRequest({ key: "b" })] })),
    `invalid_count ${at}/interfaces/0/bindingRequests`
  ],
  [
    "another subject",
    request({ subject: { source: "workspace" } }),
    `invalid_value ${at}/interfaces/0/bindingRequests/0/subject/source`
  ],
  [
    "a principal",
    request({ subject: { source: "installing_principal", id: "x" } }),
    `unknown_field ${at}/interfaces/0/bindingRequests/0/subject/id`
  ],
  ["no permissions", request({ permissions: [] }), `invalid_count ${at}/interfaces/0/bindingRequests/0/permissions`],
  ["16 permissions", request({ permissions: list(16, (n) => `p${n}`) }), "valid"],
  [
    "17 permissions",
    request({ permissions: list(17, (n) => `p${n}`) }),
    `invalid_count ${at}/interfaces/0/bindingRequests/0/permissions`
  ],
  [
    "a permission twice",
    request({ permissions: ["a", "a"] }),
    `not_unique ${at}/interfaces/0/bindingRequests/0/permissions`
  ],
  ["permission of 256 characters", request({ permissions: [text(256)] }), "valid"],
  [
    "permission of 257 characters",
    request({ permissions: [text(257)] }),
    `invalid_length ${at}/interfaces/0/bindingRequests/0/permissions/0`
  ],
  [
    "permission of every visible sign but two",
    request({ permissions: ["!#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~"] }),
    "valid"
  ],
  ...['a"b', "a\\b", "a b", "aé", "a\u007f"].map(
    (permission): Row => [
      `permission ${JSON.stringify(permission)}`,
      request({ permissions: [permission] }),
      `invalid_pattern ${at}/interfaces/0/bindingRequests/0/permissions/0`
    ]
  ),
  [
    "delivery type of 129 characters",
    request({ delivery: { type: text(129) } }),
    `invalid_length ${at}/interfaces/0/bindingRequests/0/delivery/type`
  ]
])

const command = { argv: ["make"] }
table("sourceBuild", [
  ["8 commands", build({ commands: Array.from({ length: 8 }, () => command) }), "valid"],
  [
    "9 commands",
    build({ commands: Array.from({ length: 9 }, () => command) }),
    `invalid_count ${at}/sourceBuild/commands`
  ],
  ["0 commands", build({ commands: [] }), `invalid_count ${at}/sourceBuild/commands`],
  ["32 arguments", argv(...list(32, () => "a")), "valid"],
  ["33 arguments", argv(...list(33, () => "a")), `invalid_count ${at}/sourceBuild/commands/0/argv`],
  ["0 arguments", argv(), `invalid_count ${at}/sourceBuild/commands/0/argv`],
  ["an empty argument", argv("a", ""), `invalid_length ${at}/sourceBuild/commands/0/argv/1`],
  ["argument of 4,096 characters", argv(text(4096)), "valid"],
  ["argument of 4,097 characters", argv(text(4097)), `invalid_length ${at}/sourceBuild/commands/0/argv/0`],
  ["argument with NUL", argv("a\u0000b"), `control_character ${at}/sourceBuild/commands/0/argv/0`],
  [
    "a shell string for argv (J14)",
    build({ commands: [{ argv: "npm ci" }] }),
    `wrong_type ${at}/sourceBuild/commands/0/argv`
  ],
  ["env", build({ commands: [{ argv: ["a"], env: {} }] }), `unknown_field ${at}/sourceBuild/commands/0/env`],
  ["provider", build({ provider: "x" }), `unknown_field ${at}/sourceBuild/provider`],
  ["working directory .", build({ commands: [{ argv: ["a"], workingDirectory: "." }] }), "valid"],
  ...["../a", "/a", "a/", "a//b", "a\\b", " a"].map(
    (path): Row => [
      `working directory ${JSON.stringify(path)}`,
      build({ commands: [{ argv: ["a"], workingDirectory: path }] }),
      `invalid_path ${at}/sourceBuild/commands/0/workingDirectory`
    ]
  ),
  ["16 outputs", build({ outputs: list(16, (n) => `o${n}`) }), "valid"],
  ["17 outputs", build({ outputs: list(17, (n) => `o${n}`) }), `invalid_count ${at}/sourceBuild/outputs`],
  ["0 outputs", build({ outputs: [] }), `invalid_count ${at}/sourceBuild/outputs`],
  ...[".", "..", "../a", "/a", "a/", "a//b", "a/./b", "a\\b", "a "].map(
    (path): Row => [
      `output ${JSON.stringify(path)}`,
      build({ outputs: [path] }),
      `invalid_path ${at}/sourceBuild/outputs/0`
    ]
  )
])

test("a report has at most 100 diagnostics, and a large document only its first fault", () => {
  const faults = (count: number) => manifest(v, { inputs: Array.from({ length: count }, () => ({})) })
  expect(diagnosticsOf(faults(120)).length).toBe(100)
  expect(diagnosticsOf(faults(10_000)).length).toBe(1)
})
