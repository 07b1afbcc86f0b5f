import { chmod, mkdir } from "node:fs/promises"
import { join, posix } from "node:path"
import { Effect } from "effect"
import { fileOperation, removeTree } from "./RunFiles.ts"

/**
 * The only folder of a run that its programs can see and write to. The runner's own records are stored next to it, where the
 * programs cannot reach them.
 */
const sandboxFolder = "capsule"

/** Name of a file next to the sandbox root. */
export const processNoteName = "processes.ndjson"

/** Paths below the sandbox root, separated by `/`. */
export const sandboxPaths = {
  source: "source",
  home: "home",
  temporary: "tmp",
  settings: "settings",
  credentials: "settings/credentials",
  cliConfiguration: "settings/cli.tfrc",
  inputs: "settings/inputs.tfvars.json"
} as const

export const planFileName = "plan.bin"

/** The root module's folder below the sandbox root. */
export const moduleFolder = (modulePath: string): string => posix.join(sandboxPaths.source, modulePath)

export interface RunFolderPaths {
  readonly root: string
  readonly sandbox: string
  readonly build: string
  readonly buildArchive: string
  /** Lists the changes that an apply has started and finished, one JSON object per line. */
  readonly journal: string
  /** Written before an apply may change anything. If this file exists, something may have changed. */
  readonly applyRecord: string
  /** Lists the processes that must not survive the run, so that a server that is restarted after a crash can kill them. */
  readonly processes: string
  /** The last complete state that an apply wrote. */
  readonly checkpoint: string
}

export const runFolderPaths = (runFolder: string): RunFolderPaths => ({
  root: runFolder,
  sandbox: join(runFolder, sandboxFolder),
  build: join(runFolder, "build"),
  buildArchive: join(runFolder, "build.tar"),
  journal: join(runFolder, "journal.ndjson"),
  applyRecord: join(runFolder, "apply.json"),
  processes: join(runFolder, processNoteName),
  checkpoint: join(runFolder, "checkpoint.tfstate")
})

/** Creates the folder and an empty sandbox root. Removes files that an earlier attempt left in the sandbox. */
export const createRunFolder = Effect.fnUntraced(function* (paths: RunFolderPaths) {
  yield* fileOperation("create the run folder", async () => {
    await mkdir(paths.root, { recursive: true, mode: 0o700 })
    // Restore private permissions, because an earlier attempt may have given run users access to the folder.
    await chmod(paths.root, 0o700)
  })
  yield* removeTree(paths.sandbox, "empty the run folder")
  yield* fileOperation("create the run folder", async () => {
    await mkdir(paths.sandbox, { mode: 0o700 })
    for (const folder of ["source", "home", "temporary", "settings"] as const) {
      await mkdir(join(paths.sandbox, sandboxPaths[folder]), { mode: 0o700 })
    }
  })
})

/** Removes plaintext inputs and credentials, which only running programs need. */
export const removeSecrets = (paths: RunFolderPaths) =>
  removeTree(join(paths.sandbox, sandboxPaths.settings), "remove the run's inputs")
