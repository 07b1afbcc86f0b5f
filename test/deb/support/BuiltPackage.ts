import { Effect, FileSystem } from "effect"
import { fileURLToPath } from "node:url"
import { succeed } from "./DebianRoot.ts"

const repository = fileURLToPath(new URL("../../..", import.meta.url))

/** Builds the program for the package. */
export const built = succeed(process.execPath, ["scripts/build.ts"], repository)

/** Assembles a package of this revision from the built program, and returns its path. */
export const packaged = Effect.fnUntraced(function* (revision: number) {
  const files = yield* FileSystem.FileSystem
  const out = yield* files.makeTempDirectoryScoped({ prefix: "svc-deb-" })
  const args = ["scripts/deb.ts", "--out", out, "--revision", String(revision)]
  yield* succeed(process.execPath, args, repository)
  const [name = ""] = yield* files.readDirectory(out)
  return `${out}/${name}`
})
