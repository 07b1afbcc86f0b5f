import { afterAll, describe, expect } from "bun:test"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { suite } from "../../support/Effect.ts"
import { fixtureFolder, scanFixture } from "./ScanFixtures.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

const terraform = Bun.which("terraform")

const Manifest = Schema.fromJsonString(
  Schema.Struct({
    Modules: Schema.Array(Schema.Struct({ Key: Schema.String, Source: Schema.String, Dir: Schema.String }))
  })
)

const run = (data: string, module: string, command: string) =>
  Effect.promise(async () => {
    const child = Bun.spawn([terraform ?? "terraform", `-chdir=${join(fixtureFolder, module)}`, command, "-no-color"], {
      env: { TF_DATA_DIR: data, TF_CLI_CONFIG_FILE: "/dev/null", HOME: data, CHECKPOINT_DISABLE: "1" },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [output, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited
    ])
    if (code !== 0) throw new Error(`terraform ${command}: ${errors}`)
    return output
  })

const providersIn = (tree: string) => {
  const addresses = [...tree.matchAll(/provider\[([^\]]+)\]/g)].map(([, address]) => address ?? "")
  const installed = addresses.filter((address) => !address.startsWith("terraform.io/builtin/"))
  return [...new Set(installed.map((address) => address.replace("registry.terraform.io/", "")))].sort()
}

const dataFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "terraform-oracle-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true }))
)

describe.skipIf(terraform === null)("Comparison of the scan with terraform", () => {
  for (const module of ["constructs", "json-syntax", "landing", "overrides"]) {
    scanner.live(`the scan finds the same providers and local modules as terraform in ${module}`, () =>
      Effect.gen(function* () {
        const data = yield* dataFolder
        yield* run(data, module, "get")
        const scan = yield* scanFixture(module)
        expect(scan.providerPackages.map(({ source }) => source)).toEqual(
          providersIn(yield* run(data, module, "providers"))
        )

        const text = yield* Effect.promise(() =>
          readFile(join(data, "modules/modules.json"), "utf8").catch(() => '{"Modules":[]}')
        )
        const { Modules } = yield* Schema.decodeEffect(Manifest)(text)
        const installed = Modules.filter(({ Key }) => Key !== "").map(({ Key, Source, Dir }) => ({
          key: Key,
          source: Source,
          dir: Dir
        }))
        expect(scan.localModules.map(({ key, source, dir }) => ({ key, source, dir }))).toEqual(installed)
      })
    )
  }
})
