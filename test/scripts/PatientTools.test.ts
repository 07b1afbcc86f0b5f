import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { patientPath } from "../../scripts/PatientTools.ts"
import { it } from "../support/Effect.ts"

const folders = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const root = yield* files.makeTempDirectoryScoped({ prefix: "svc-patient-" })
  const [tools, scripts] = [`${root}/tools`, `${root}/scripts`]
  yield* files.makeDirectory(tools)
  yield* files.makeDirectory(scripts)
  return { files, scripts, tools }
})

describe("Test tools", () => {
  it.live(
    "a test run starts each tool through a script of the same name, which sets variables and executes the tool",
    () =>
      Effect.gen(function* () {
        const { files, scripts } = yield* folders
        const where = "/usr/local/bin:/usr/bin"
        const searchPath = yield* patientPath(where, scripts)
        expect(searchPath).toBe(`${scripts}:${where}`)
        for (const name of ["terraform", "tofu"]) {
          const tool = Bun.which(name, { PATH: where })
          if (tool === null) continue
          expect(Bun.which(name, { PATH: searchPath })).toBe(`${scripts}/${name}`)
          expect(yield* files.readFileString(`${scripts}/${name}`)).toContain(
            `GOGC=400 GOMEMLIMIT=1GiB GOMAXPROCS=1 exec '${tool}' "$@"`
          )
          const { stdout } = Bun.spawnSync([name, "version", "-json"], { env: { PATH: searchPath } })
          expect(JSON.parse(stdout.toString())).toHaveProperty("terraform_version")
        }
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("a test run uses the tools directly if a sandbox does not expose the scripts", () =>
    Effect.gen(function* () {
      const { files, scripts, tools } = yield* folders
      yield* files.writeFileString(`${tools}/tofu`, "#!/bin/sh\n", { mode: 0o755 })
      const searchPath = yield* patientPath(tools, scripts)
      expect(yield* files.readDirectory(scripts)).toEqual([])
      expect(Bun.which("tofu", { PATH: searchPath })).toBe(`${tools}/tofu`)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
