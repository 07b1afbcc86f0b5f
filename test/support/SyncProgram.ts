import { mkdirSync, renameSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Layer } from "effect"
import { SyncProcessCommand } from "../../runner/snapshot/SyncProcessCommand.ts"

const entry = fileURLToPath(new URL("../../runner/git/SyncMain.ts", import.meta.url))
const cache = fileURLToPath(new URL("../../node_modules/.cache/svc-test/", import.meta.url))

const bundle = "SyncMain.js"

let program: string | undefined

/** Compiles the sync program once per test process: otherwise a small sync spends most of its time loading sources. */
const bundled = (): string => {
  if (program !== undefined) return program
  const fresh = `${cache}${process.pid}/`
  mkdirSync(fresh, { recursive: true })
  const flags = ["--target=bun", "--format=cjs", "--minify", "--bytecode", `--outdir=${fresh}`]
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "build", ...flags, entry])
  if (exitCode !== 0) throw new Error(`The program of a sync could not be bundled: ${stderr.toString()}`)
  // Bun ignores bytecode of another source, so two test processes may do this at once.
  for (const name of [`${bundle}.jsc`, bundle]) renameSync(`${fresh}${name}`, `${cache}${name}`)
  rmSync(fresh, { recursive: true })
  program = `${cache}${bundle}`
  return program
}

/** Syncs start from a bundle. A service in a separate process, like `svc serve`, starts them from the sources. */
export const bundledSync = Layer.succeed(SyncProcessCommand, {
  program: process.execPath,
  get args() {
    return [bundled()]
  }
})
