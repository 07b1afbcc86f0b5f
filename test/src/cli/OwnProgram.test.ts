import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "bun:test"
import { Effect } from "effect"
import { ownProgram } from "../../../src/OwnProgram.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const module = fileURLToPath(new URL("../../../src/OwnProgram.ts", import.meta.url))

test("svc finds the path of its own executable if the executable has not been replaced", () => {
  expect(ownProgram()).toBe(process.execPath)
})

it.live("svc finds the new file if its program was replaced during startup", () =>
  Effect.gen(function* () {
    const program = join(yield* temporaryFolder, "svc")
    copyFileSync(process.execPath, program)
    copyFileSync(process.execPath, `${program}.new`)
    const code = `
      require("node:fs").renameSync("${program}.new", "${program}")
      const { ownProgram } = await import("${module}")
      console.log(JSON.stringify([process.execPath, ownProgram()]))`
    const { stdout } = Bun.spawnSync([program, "-e", code])
    expect(JSON.parse(stdout.toString())).toEqual([`${program} (deleted)`, program])
  })
)
