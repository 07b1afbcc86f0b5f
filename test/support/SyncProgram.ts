import { mkdirSync, renameSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Layer } from "effect"
import { SyncProcessCommand } from "../../runner/snapshot/SyncProcessCommand.ts"

const entry = fileURLToPath(new URL("../../runner/git/SyncMain.ts", import.meta.url))
const cache = fileURLToPath(new URL("../../node_modules/.cache/svc-test/", import.meta.url))

let program: string | undefined

/** Bundles the sync program once per test process: otherwise a small sync spends most of its time loading sources. */
const bundled = (): string => {
  if (program !== undefined) return program
  mkdirSync(cache, { recursive: true })
  const fresh = `${cache}SyncMain.${process.pid}.js`
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "build", "--target=bun", `--outfile=${fresh}`, entry])
  if (exitCode !== 0) throw new Error(`The program of a sync could not be bundled: ${stderr.toString()}`)
  program = `${cache}SyncMain.js`
  renameSync(fresh, program)
  return program
}

/** Syncs start from a bundle. A service in a separate process, like `svc serve`, starts them from the sources. */
export const bundledSync = Layer.succeed(SyncProcessCommand, {
  program: process.execPath,
  get args() {
    return [bundled()]
  }
})
