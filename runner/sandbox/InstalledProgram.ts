import { constants } from "node:fs"
import { access, lstat, readFile, readlink } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { Effect } from "effect"
import type { SandboxLimits } from "./SandboxSettings.ts"
import { type SystemFolder, systemFolders, systemPath } from "./SandboxView.ts"

const attempt = <A>(evaluate: () => Promise<A>): Effect.Effect<A | undefined> =>
  Effect.tryPromise(evaluate).pipe(Effect.orElseSucceed(() => undefined))

export const isExecutable = (path: string) =>
  Effect.map(
    attempt(() => access(path, constants.X_OK).then(() => true)),
    (found) => found === true
  )

/**
 * Finds the absolute path of a program that is given by its name or path. Searches only folders in which the operating
 * system installs programs.
 */
export const findProgram = Effect.fnUntraced(function* (program: string) {
  const candidates = isAbsolute(program)
    ? [program]
    : systemPath.split(delimiter).map((folder) => join(folder, program))
  for (const candidate of candidates) {
    if (yield* isExecutable(candidate)) return candidate
  }
  return undefined
})

const describeFolder = Effect.fnUntraced(function* (path: string) {
  const entry = yield* attempt(() => lstat(path))
  if (entry === undefined) return undefined
  if (entry.isSymbolicLink()) {
    const target = yield* attempt(() => readlink(path))
    return target === undefined ? undefined : ({ path, kind: "link", target } satisfies SystemFolder)
  }
  return entry.isDirectory() ? ({ path, kind: "folder" } satisfies SystemFolder) : undefined
})

/** Lists the top-level folders of this system that a sandbox must contain. */
export const describeSystem = Effect.map(
  Effect.forEach(systemFolders, describeFolder, { concurrency: "unbounded" }),
  (found): ReadonlyArray<SystemFolder> => found.filter((folder) => folder !== undefined)
)

const hardLimit = (table: string, name: string): number => {
  const line = table.split("\n").find((candidate) => candidate.startsWith(name))
  const [, hard] = line?.slice(name.length).trim().split(/\s+/) ?? []
  return hard === undefined || hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard)
}

/** Lowers the requested limits to this process's own limits. */
export const allowedLimits = Effect.fnUntraced(function* (wanted: SandboxLimits): Effect.fn.Return<SandboxLimits> {
  const table = (yield* attempt(() => readFile("/proc/self/limits", "utf8"))) ?? ""
  return {
    ...wanted,
    processes: Math.min(wanted.processes, hardLimit(table, "Max processes")),
    openFiles: Math.min(wanted.openFiles, hardLimit(table, "Max open files")),
    fileBytes: Math.min(wanted.fileBytes, wanted.folderBytes, hardLimit(table, "Max file size"))
  }
})
