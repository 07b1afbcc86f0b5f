import { cp, mkdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect } from "effect"
import { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"

const notCopied = /^(svc\.sqlite.*|instance\.(lock|holder).*)$/

/** Copies the data folder of a running process in the state in which a kill at this moment would leave the folder. */
export const copied = Effect.fnUntraced(function* (from: string, to: string) {
  yield* Effect.promise(async () => {
    await mkdir(to, { mode: 0o700 })
    await cp(from, to, { recursive: true, filter: (path) => !notCopied.test(basename(path)) })
  })
  yield* Effect.orDie((yield* DatabaseFile).backup(join(to, "svc.sqlite")))
})
