import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { type ModuleAt, moduleChange } from "../../../runner/scan/ModuleChange.ts"
import { moduleFootprint } from "../../../runner/scan/ModuleFootprint.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { suite } from "../../support/Effect.ts"
import { memoryTree } from "./MemoryTree.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

type Files = Readonly<Record<string, string>>

const at = Effect.fnUntraced(function* (files: Files, manifest: string | null = "absent") {
  const footprint = yield* moduleFootprint(memoryTree(files), "apps/a")
  return { files: new Map(Object.entries(files)), footprint, manifest } satisfies ModuleAt
})

const base: Files = {
  "apps/a/main.tf": 'module "net" {\n  source = "../../shared/net"\n}\n',
  "apps/a/nested/note.txt": "1",
  "apps/a/files/page.html": "1",
  "apps/b/main.tf": 'output "b" {\n  value = 1\n}\n',
  "shared/net/main.tf": 'output "n" {\n  value = 1\n}\n',
  "shared/net/inner/extra.tf": 'output "i" {\n  value = 1\n}\n',
  "shared/page.html": "1",
  "shared/list/one.json": "1",
  "README.md": "1"
}

const changeOf = (applied: Files, newer: Files) =>
  Effect.gen(function* () {
    return moduleChange(yield* at(applied), yield* at(newer))
  })

const untouched = { kind: "untouched" as const }
const touched = (because: string) => ({ kind: "touched" as const, because })

/** Adds this configuration to the module at `apps/a` on both sides. The sides differ only in `changed`. */
const reading = (config: string, changed: string, more: Files = {}) => {
  const files = { ...base, ...more, "apps/a/read.tf": config }
  return changeOf(files, { ...files, [changed]: "2" })
}

const value = (expression: string) => `locals {\n  x = ${expression}\n}\n`

describe("Module changes", () => {
  const changes: ReadonlyArray<readonly [string, Files, ReturnType<typeof touched> | typeof untouched]> = [
    ["nothing", {}, untouched],
    ["another module", { "apps/b/main.tf": "\n" }, untouched],
    ["a file of no module", { "README.md": "2" }, untouched],
    ["an unreferenced folder below", { "apps/a/nested/note.txt": "2" }, untouched],
    ["a folder below a local module that is never called", { "shared/net/inner/extra.tf": "\n" }, untouched],
    ["a new module", { "apps/c/main.tf": "\n" }, untouched],
    ["its own file", { "apps/a/main.tf": `${base["apps/a/main.tf"]}\n` }, touched("apps/a/main.tf changed")],
    ["a new file of its folder", { "apps/a/notes.md": "1" }, touched("apps/a/notes.md changed")],
    ["its lock file", { "apps/a/.terraform.lock.hcl": "1" }, touched("apps/a/.terraform.lock.hcl changed")],
    ["its values", { "apps/a/terraform.tfvars": "1" }, touched("apps/a/terraform.tfvars changed")],
    ["a local module", { "shared/net/main.tf": "\n" }, touched("shared/net/main.tf changed")]
  ]
  for (const [name, change, expected] of changes) {
    scanner.live("a module's changes include the folders that either tool reads", () =>
      Effect.gen(function* () {
        const both = { ...base, "apps/a/main.tofu": 'output "o" {\n  value = 1\n}\n' }
        for (const file of ["shared/net/main.tf", "apps/a/main.tf", "apps/a/main.tofu"]) {
          expect(yield* changeOf(both, { ...both, [file]: "# other" })).toEqual(touched(`${file} changed`))
        }
      })
    )

    scanner.live(name, () =>
      Effect.gen(function* () {
        expect(yield* changeOf(base, { ...base, ...change })).toEqual(expected)
        // Swapping the sides gives the same kind of change, unless the scan has more information about one side than about the
        // other.
        expect((yield* changeOf({ ...base, ...change }, base)).kind).toBe(expected.kind)
      })
    )
  }

  scanner.live("a module's changes include the manifest, even if it was never read", () =>
    Effect.gen(function* () {
      const changed = touched("The manifest changed")
      expect(moduleChange(yield* at(base, "sha256:1"), yield* at(base, "sha256:1"))).toEqual(untouched)
      expect(moduleChange(yield* at(base, "sha256:1"), yield* at(base, "sha256:2"))).toEqual(changed)
      expect(moduleChange(yield* at(base), yield* at(base, "sha256:2"))).toEqual(changed)
      expect(moduleChange(yield* at(base, null), yield* at(base, null))).toEqual(changed)
    })
  )

  scanner.live("a module counts as changed if its graph is unknown on either side", () =>
    Effect.gen(function* () {
      const broken = { ...base, "apps/a/main.tf": 'module "m" {\n  source = "acme/vpc/aws"\n}\n' }
      expect((yield* changeOf(broken, broken)).kind).toBe("touched")
      expect((yield* changeOf(base, broken)).kind).toBe("touched")
      expect((yield* changeOf(broken, base)).kind).toBe("touched")
      expect(yield* changeOf(base, { "README.md": "1" })).toEqual(touched("The commit has no such module"))
      const json = { ...base, "apps/a/more.tf.json": "{}" }
      expect(yield* changeOf(json, json)).toEqual(touched("apps/a/more.tf.json is in JSON syntax"))
    })
  )
})

describe("Module reads", () => {
  const page = "shared/page.html"
  const proven: ReadonlyArray<readonly [string, string, string]> = [
    ["file", value('file("../../shared/page.html")'), page],
    ["below path.module", value('file("${path.module}/../../shared/page.html")'), page],
    ["below path.root", value('filemd5("${path.root}/../../shared/page.html")'), page],
    ["spread over lines", value('filebase64sha256(\n    # a note\n    "../../shared/page.html",\n  )'), page],
    ["with escapes", value('file("..\\u002f../shared/page.html")'), page],
    ["inside of a template", value('"<${upper(file("../../shared/page.html"))}>"'), page],
    ["in a heredoc", value('<<-EOT\n    ${file("../../shared/page.html")}\n  EOT'), page],
    ["templatefile", value('templatefile("../../shared/page.html", { x = 1 })'), page],
    ["fileset", value('fileset("${path.module}/../../shared", "list/*.json")'), "shared/list/one.json"],
    ["fileset of a nested folder", value('fileset(path.module, "files/*")'), "apps/a/files/page.html"],
    ["a text that names a file", value('["files/page.html"]'), "apps/a/files/page.html"],
    ["a text that names a folder", value('"../../shared/list"'), "shared/list/one.json"],
    ["an argument", 'resource "x_y" "z" {\n  source_dir = "../../shared/list"\n}\n', "shared/list/one.json"],
    ["arguments of a list", value('{ files = ["../../shared/page.html"] }'), page]
  ]
  for (const [name, config, file] of proven) {
    scanner.live(`a module depends on the file at a literal path: ${name}`, () =>
      Effect.gen(function* () {
        expect(yield* reading(config, file)).toEqual(touched(`${file} changed`))
        expect(yield* reading(config, "apps/b/main.tf")).toEqual(untouched)
      })
    )
  }

  const unproven: ReadonlyArray<readonly [string, string]> = [
    ["a variable", value("file(var.x)")],
    ["a template", value('file("../../shared/${local.y}")')],
    ["a sum of texts", value('file(join("/", ["..", "..", "shared"]))')],
    ["a condition behind the text", value('file("a" == local.y ? local.y : local.z)')],
    ["a pattern", value("fileset(path.module, local.y)")],
    ["a pattern that climbs", value('fileset(path.module, "../*")')],
    ["path.module alone", value("path.module")],
    ["path.cwd", value('"${path.cwd}/x"')],
    ["abspath", value('abspath(".")')],
    ["templatestring", value("templatestring(local.y, {})")],
    ["a folder with something computed below", value('"files/${local.y}"')],
    ["a provider's function", value('provider::local::direxists("x")')],
    ["a namespaced function", value("core::file(local.y)")],
    ["a program", 'data "external" "x" {\n  program = ["./run"]\n}\n'],
    ["a provisioner", 'resource "x_y" "z" {\n  provisioner "local-exec" {\n    command = "make"\n  }\n}\n'],
    ["an argument", 'resource "x_y" "z" {\n  source_file = local.y\n}\n'],
    ["an argument of a list", 'resource "x_y" "z" {\n  files = ["a", local.y]\n}\n'],
    ["a key in quotes", value('{ "filename" = local.y }')]
  ]
  for (const [name, config] of unproven) {
    scanner.live(`every commit may change a module that reads a computed path: ${name}`, () =>
      Effect.gen(function* () {
        const change = yield* reading(config, "README.md")
        expect(change.kind === "touched" ? change.because : "").toMatch(/ \(apps\/a\/read\.tf:\d+\)$/)
      })
    )
  }

  const harmless: ReadonlyArray<readonly [string, string]> = [
    ["a comment", '# file(var.x)\n/* path.module */ // provisioner "x"\nlocals {}\n'],
    ["words in a text", value('"file(var.x) and path.module"')],
    ["an escaped template", value('"$${file(var.x)}"')],
    ["a member of the same name", value("local.y.path.file")],
    ["an address", value('"https://${local.y}/shared/page.html"')],
    ["a plain argument of a module", 'module "n2" {\n  source = "../../shared/net"\n}\n']
  ]
  for (const [name, config] of harmless) {
    scanner.live(`text that is not read as a file creates no module dependency: ${name}`, () =>
      Effect.gen(function* () {
        expect(yield* reading(config, "shared/page.html")).toEqual(untouched)
        expect(yield* reading(config, "shared/net/inner/extra.tf")).toEqual(untouched)
      })
    )
  }

  scanner.live(
    "a module counts as changed if a template, a local module or a new expression reads a changed file",
    () =>
      Effect.gen(function* () {
        const template = { "apps/a/t.tpl": '${file("../../shared/page.html")}' }
        const change = yield* reading(value('templatefile("t.tpl", {})'), "README.md", template)
        expect(change).toEqual(touched("The template apps/a/t.tpl may read files"))
        const child = { "shared/net/read.tf": value('file("${path.module}/../page.html")') }
        expect(yield* reading("", page, child)).toEqual(touched(`${page} changed`))
        expect((yield* reading("", "README.md", { "shared/net/read.tf": value("file(var.x)") })).kind).toBe("touched")
        // The path is relative to the tool's working directory, not to the file.
        const relative = { "shared/net/read.tf": value('file("files/page.html")') }
        expect((yield* reading("", "apps/a/files/page.html", relative)).kind).toBe("touched")
      })
  )
})
