import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { endProcessesIn } from "./FolderProcesses.ts"

const prefixes = { network: "network-", confinement: "probe-" } as const

/**
 * Creates a folder that contains an empty `root`, for one probe of this machine. Deletes the folder when the scope closes.
 */
export const probeFolder = (ownFolder: string, tried: keyof typeof prefixes) =>
  Effect.acquireRelease(
    Effect.tryPromise(async () => {
      await mkdir(ownFolder, { recursive: true, mode: 0o700 })
      const folder = await mkdtemp(join(ownFolder, prefixes[tried]))
      await mkdir(join(folder, "root"), { mode: 0o700 })
      return folder
    }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )

/**
 * Cleans up after probes whose server was killed: removes their folders, and kills sandboxes that are still waiting for the
 * dead server.
 */
export const removeStaleProbes = Effect.fnUntraced(
  function* (ownFolder: string) {
    const names = yield* Effect.tryPromise(() => readdir(ownFolder))
    for (const name of names) {
      if (!Object.values(prefixes).some((prefix) => name.startsWith(prefix))) continue
      const folder = join(ownFolder, name)
      yield* endProcessesIn(folder)
      yield* Effect.tryPromise(() => rm(folder, { recursive: true, force: true }))
    }
  },
  // Ignore the error if a folder cannot be read: the next write to the folder will report the problem.
  (effect) => Effect.ignore(effect)
)
