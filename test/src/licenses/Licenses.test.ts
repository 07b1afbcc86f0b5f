import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { gzipSync } from "node:zlib"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { compileLibrary } from "../../../scripts/packages/Library.ts"
import { libraryPackages } from "../../../scripts/packages/LibraryPackages.ts"
import { licenseProblem } from "../../../src/licenses/AllowedLicenses.ts"
import { packagesOf, programs } from "../../../src/licenses/BundledPackages.ts"
import { collectLicenses, goModulesOf } from "../../../src/licenses/CollectLicenses.ts"
import { LicenseReportJson, reportText } from "../../../src/licenses/LicenseReport.ts"
import { licenseList } from "../../../src/licenses/Licenses.ts"
import { suite } from "../../support/Effect.ts"

// Bundles the sources to find the packages that they include.
setDefaultTimeout(120_000)
const root = fileURLToPath(new URL("../../..", import.meta.url))
const tests = suite(NodeServices.layer)
afterAll(tests.dispose)

const decodeReport = Schema.decodeUnknownEffect(LicenseReportJson)

tests.live("every bundled package has its licence text, and an allowed licence", () =>
  Effect.gen(function* () {
    const report = yield* collectLicenses(root)
    const licenses = new Map(report.components.map(({ license, name }) => [name, license]))
    for (const [name, license] of [
      ["@cdktn/hcl2json", "MPL-2.0"],
      ["github.com/hashicorp/hcl/v2", "MPL-2.0"],
      ["Go", "BSD-3-Clause"],
      ["Bun", "MIT"],
      ["effect", "MIT"],
      ["react-dom", "MIT"],
      ["@fontsource-variable/geist", "OFL-1.1"],
      ["@fontsource-variable/geist-mono", "OFL-1.1"]
    ] as const) {
      expect([name, licenses.get(name)]).toEqual([name, license])
    }
    for (const name of ["openpgp", "oxlint", "playwright-core", "typescript"]) expect(licenses.has(name)).toBe(false)
    // NOTICE lists every package under the LGPL.
    expect([...licenses].filter(([, license]) => /GPL/.test(license)).map(([name]) => name)).toEqual([
      "JavaScriptCore and WebKit, in Bun",
      "TinyCC, in Bun"
    ])
    // The packages listed in the runtime's LICENSE.md, with their own licence texts instead of references.
    for (const [library, words] of [
      ["BoringSSL", "The OpenSSL Project"],
      ["brotli", "the Brotli Authors"],
      ["c-ares", "Massachusetts Institute of Technology"],
      ["ICU", "UNICODE LICENSE V3"],
      ["libarchive", "Tim Kientzle"],
      ["libjpeg-turbo", "Independent JPEG Group"],
      ["LLVM libc++abi", "LLVM Exceptions"],
      ["lsquic", "The Chromium Authors"],
      ["zlib-ng", "This software is provided 'as-is'"],
      ["zstd", "Redistribution and use"],
      ["vm-browserify", "James Halliday"]
    ] as const) {
      const texts = report.components.find(({ name }) => name === `${library}, in Bun`)?.texts ?? []
      expect([library, texts.map(({ text }) => text).join("\n")]).toEqual([library, expect.stringContaining(words)])
    }
    const printed = reportText(report)
    for (const { name, texts, version } of report.components) {
      expect(printed).toContain(`${name} ${version}`)
      for (const { text } of texts) expect(printed).toContain(text.trim())
    }
    expect(printed).toContain(report.product.notice.trim())
    expect(yield* decodeReport(yield* Schema.encodeEffect(LicenseReportJson)(report))).toEqual(report)
  })
)

/** Creates a repository with a single service package. */
const repositoryOf = Effect.fnUntraced(function* (options: {
  readonly license?: string
  readonly text?: string
  readonly parser?: string
}) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-licenses-" })
  const write = Effect.fnUntraced(function* (file: string, content: string | Uint8Array) {
    const at = `${folder}/${file}`
    yield* files.makeDirectory(at.slice(0, at.lastIndexOf("/")), { recursive: true })
    yield* files.writeFile(at, typeof content === "string" ? new TextEncoder().encode(content) : content)
  })
  for (const program of Object.values(programs)) yield* write(program, "export {}\n")
  yield* write(programs.service, `export { one } from "one"\n`)
  for (const name of [
    "app/Main.tsx",
    "signed-out/SignedOut.tsx",
    "styles/Dashboard.css",
    "signed-out/Boot.ts",
    "app/Start.ts",
    "value-difference/DifferenceWorker.ts",
    "readme/ReadmeWorker.ts"
  ]) {
    yield* write(`src/dashboard/${name}`, "")
  }
  yield* files.copy(`${root}/licenses`, `${folder}/licenses`)
  for (const name of ["LICENSE", "NOTICE"]) yield* files.copy(`${root}/${name}`, `${folder}/${name}`)
  yield* write("node_modules/@cdktn/hcl2json/main.wasm.gz", gzipSync(options.parser ?? "go1.25.0"))
  yield* write("node_modules/one/index.js", "export const one = 1\n")
  yield* write(
    "node_modules/one/package.json",
    JSON.stringify({ name: "one", version: "1.2.3", license: options.license ?? "MIT", main: "index.js" })
  )
  if (options.text !== undefined) yield* write("node_modules/one/LICENSE", options.text)
  return folder
})

describe("Bundled packages", () => {
  tests.live("a bundled package is collected together with its licence text", () =>
    Effect.gen(function* () {
      const { components } = yield* collectLicenses(yield* repositoryOf({ text: "as you like" }))
      expect(components.find(({ name }) => name === "one")).toEqual({
        name: "one",
        version: "1.2.3",
        license: "MIT",
        origin: "npm package one",
        texts: [{ file: "LICENSE", text: "as you like" }]
      })
    })
  )

  for (const [why, options, message] of [
    ["without a text", {}, "one 1.2.3 is shipped without the text"],
    ["with an empty text", { text: " \n" }, "one 1.2.3 is shipped without the text"],
    ["under the LGPL", { text: "t", license: "LGPL-3.0+" }, `one 1.2.3 is under "LGPL-3.0+"`],
    ["under no licence", { text: "t", license: "" }, `one 1.2.3 is under ""`],
    ["with an unknown Go module", { text: "t", parser: "go1.25.0 example.com/x/y@v1.0.0" }, "example.com/x/y 1.0.0"]
  ] as const) {
    tests.live(`a bundled package ${why} is rejected`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(collectLicenses(yield* repositoryOf(options)))
        expect(error).toMatchObject({ _tag: "LicensesIncomplete", message: expect.stringContaining(message) })
      })
    )
  }
})

tests.live("a licence expression is allowed if every part of an AND, or one part of an OR, is allowed", () =>
  Effect.sync(() => {
    const isAllowed = (license: string, name = "one") => licenseProblem({ name, version: "1", license }) === undefined
    for (const license of ["MIT", "(MIT AND Zlib)", "GPL-2.0-only OR MIT", "MIT OR Apache-2.0"]) {
      expect([license, isAllowed(license)]).toEqual([license, true])
    }
    for (const license of ["GPL-2.0-only", "MIT AND GPL-2.0-only", "MPL-2.0", "UNLICENSED", "SEE LICENSE IN X", ""]) {
      expect([license, isAllowed(license)]).toEqual([license, false])
    }
    expect(isAllowed("(MIT OR GPL-2.0-only) AND GPL-2.0-only")).toBe(false)
    expect(isAllowed("MPL-2.0", "@cdktn/hcl2json")).toBe(true)
    expect(isAllowed("LGPL-3.0-or-later", "@cdktn/hcl2json")).toBe(false)
  })
)

tests.live("packages are identified by their innermost folder, and Go modules by their file paths", () =>
  Effect.sync(() => {
    const inputs = [
      "src/Main.ts",
      "node_modules/a/x.js",
      "node_modules/@b/c/d/e.js",
      "node_modules/a/node_modules/f/g.js"
    ]
    expect([...packagesOf(inputs)]).toEqual(["node_modules/a", "node_modules/@b/c", "node_modules/a/node_modules/f"])
    expect([...goModulesOf("/mod/github.com/x/y/v2@v2.3.4/z.go\0go1.25.0\0")]).toEqual([
      ["github.com/x/y/v2", "2.3.4"],
      ["Go", "1.25.0"]
    ])
  })
)

tests.live(
  "the server's package and image contain the licence, the notice and the licences of all dependencies",
  () =>
    Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const files = yield* FileSystem.FileSystem
      yield* files.makeDirectory(`${root}/dist/test`, { recursive: true })
      const folder = yield* files.makeTempDirectoryScoped({ directory: `${root}/dist/test`, prefix: "licenses-" })
      yield* compileLibrary(root, `${folder}/library`, { declarations: false })
      yield* libraryPackages(root, `${folder}/library`, folder)
      const handle = yield* spawner.spawn(
        ChildProcess.make("npm", ["pack", "--dry-run", "--json", "--offline"], {
          cwd: `${folder}/server`,
          extendEnv: true
        })
      )
      const [output] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.stdout)), handle.exitCode])
      const [packed] = JSON.parse(output)
      const names = packed.files.map(({ path }: { readonly path: string }) => path)
      for (const name of ["LICENSE", "NOTICE", "README.md", `dist/${licenseList}`, "dist/src/Main.js"]) {
        expect(names).toContain(name)
      }
      expect(
        names.filter(
          (name: string) => /^(?:dist\/)?(?:test|scripts)\//.test(name) || /^dist\/.*(?<!\.d)\.tsx?$/.test(name)
        )
      ).toEqual([])
      const report = yield* decodeReport(yield* files.readFileString(`${folder}/server/dist/${licenseList}`))
      expect(report.components.map(({ name }) => name)).toContain("@cdktn/hcl2json")
      const image = yield* files.readFileString(`${root}/docs/operations/Containerfile`)
      expect(image).toContain("COPY dist/LICENSE dist/NOTICE dist/THIRD-PARTY-LICENSES.txt /usr/share/doc/svc/")
    }).pipe(Effect.scoped),
  // The timeout is long because the test first compiles the library.
  240_000
)
