// Starts Bun from node_modules for people who only have npm. npm may have been told not to run install scripts,
// in which case node_modules/bun holds a stub: run its installer once, then go on.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const packaged = join(root, "node_modules", "bun", "bin", "bun.exe")
const stubSize = 100_000

const find = () => {
  if (process.versions.bun) return process.execPath
  if (!existsSync(packaged)) {
    process.stderr.write("Bun is not installed. Run `npm ci --include=dev` (or `bun install`) in this folder first.\n")
    process.exit(1)
  }
  if (statSync(packaged).size < stubSize) {
    const installed = spawnSync(process.execPath, [join(root, "node_modules", "bun", "install.js")], {
      stdio: "inherit"
    })
    if (installed.status !== 0) process.exit(installed.status ?? 1)
  }
  return packaged
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" })
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
child.on("error", (error) => {
  process.stderr.write(`Bun could not be started: ${error.message}\n`)
  process.exit(1)
})
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
