import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs"
import { Effect, FileSystem, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { holds } from "./CrashClient.ts"
import { serve, type ServeOptions } from "./ServerProcess.ts"

type Needs = FileSystem.FileSystem | ChildProcessSpawner.ChildProcessSpawner | Scope.Scope

/** Prepares a data folder that the server must refuse, and checks the error message. */
export interface FolderFault {
  readonly name: string
  readonly check: (program: string, root: string) => Effect.Effect<void, unknown, Needs>
}

const optionsIn = (program: string, root: string): ServeOptions => ({
  program,
  dataDir: `${root}/data`,
  gitOrigin: "http://127.0.0.1:9",
  mirror: root,
  notesDir: root,
  logFile: `${root}/server.log`
})

/** Prepares a data folder that a server has used before shutting down cleanly. */
const used = Effect.fnUntraced(function* (program: string, root: string) {
  const files = yield* FileSystem.FileSystem
  yield* files.makeDirectory(root, { recursive: true })
  const options = optionsIn(program, root)
  yield* Effect.scoped(
    Effect.gen(function* () {
      const server = yield* serve(options)
      yield* server.signal("SIGTERM")
      const { code } = yield* server.ended
      yield* holds(code === 0, `The first server ended with ${code}`)
    })
  )
  return options
})

/** Expects a refusal with exit code 1 and a message that contains each of `expected`. */
const isRefused = Effect.fnUntraced(function* (options: ServeOptions, ...expected: ReadonlyArray<string>) {
  const { code, message } = yield* Effect.flip(serve(options))
  yield* holds(code === 1, `It ended with ${code}: ${message}`)
  const missing = expected.filter((words) => !message.includes(words))
  yield* holds(missing.length === 0, `The refusal does not say ${missing.join(", ")}: ${message}`)
})

const overwrite = (file: string, offset: number, bytes: Uint8Array) => {
  const handle = openSync(file, "r+")
  writeSync(handle, bytes, 0, bytes.length, offset)
  closeSync(handle)
}

const garbage = (length: number) => new Uint8Array(length).map((_, index) => (index * 37 + 11) % 251)

const pageSize = 4096

const onDisk = Effect.fnUntraced(function* (options: ServeOptions, script: string) {
  // An unprivileged user may mount file systems in a separate user namespace.
  const unshare = ["unshare", process.getuid?.() === 0 ? "-m" : "-Urm"] as const
  const [program, flag] = unshare
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const probe = yield* spawner.exitCode(ChildProcess.make(program, [flag, "true"]))
  yield* holds(Number(probe) === 0, "No file system can be mounted here, not even in a user namespace")
  const wrapped: ServeOptions = {
    ...options,
    wrapper: [...unshare, "sh", "-c", `d=$0; ${script} && exec "$@"`, options.dataDir]
  }
  return wrapped
})

export const folderFaults: ReadonlyArray<FolderFault> = [
  {
    name: "another server has the data folder: the second refuses, the first continues",
    check: Effect.fnUntraced(function* (program, root) {
      const options = optionsIn(program, root)
      const first = yield* serve(options)
      const second = { ...options, logFile: `${options.logFile}.second` }
      yield* isRefused(second, `(process ${first.pid}) already uses the data folder`)
      const { status } = yield* Effect.promise(() => fetch(`${first.url}/readyz`))
      yield* holds(status === 200, `The first server answers ${status}`)
    })
  },
  {
    name: "the master key is missing: no new key replaces it over sealed data",
    check: Effect.fnUntraced(function* (program, root) {
      const options = yield* used(program, root)
      const key = `${options.dataDir}/master.key`
      rmSync(key)
      yield* isRefused(options, "master key")
      yield* holds(!existsSync(key), "A new master key was made")
    })
  },
  {
    name: "the master key is a different one",
    check: Effect.fnUntraced(function* (program, root) {
      const options = yield* used(program, root)
      const other = yield* used(program, `${root}/other`)
      overwrite(`${options.dataDir}/master.key`, 0, readFileSync(`${other.dataDir}/master.key`))
      yield* isRefused(options, "master key")
    })
  },
  {
    name: "the database has a damaged header: left unchanged",
    check: Effect.fnUntraced(function* (program, root) {
      const options = yield* used(program, root)
      const database = `${options.dataDir}/svc.sqlite`
      overwrite(database, 0, garbage(512))
      const before = readFileSync(database)
      yield* isRefused(options, "damaged", "backup")
      yield* holds(readFileSync(database).equals(before), "The damaged database was written to")
    })
  },
  {
    name: "the database has damaged pages: refused with the way out",
    check: Effect.fnUntraced(function* (program, root) {
      const options = yield* used(program, root)
      const database = `${options.dataDir}/svc.sqlite`
      const pages = Math.floor(statSync(database).size / pageSize)
      for (const page of [Math.floor(pages / 3), Math.floor(pages / 2), pages - 2]) {
        overwrite(database, page * pageSize, garbage(pageSize))
      }
      yield* isRefused(options, "damaged", "backup")
    })
  },
  {
    name: "the disk is read-only",
    check: Effect.fnUntraced(function* (program, root) {
      const options = yield* used(program, root)
      const script = 'mount --bind "$d" "$d" && mount -o remount,bind,ro "$d"'
      yield* isRefused(yield* onDisk(options, script), "cannot write")
    })
  },
  {
    name: "the disk has no room for a new data folder",
    check: Effect.fnUntraced(function* (program, root) {
      const options = optionsIn(program, root)
      const files = yield* FileSystem.FileSystem
      yield* files.makeDirectory(options.dataDir, { mode: 0o700 })
      yield* isRefused(yield* onDisk(options, 'mount -t tmpfs -o size=64k t "$d"'), "The disk is full")
    })
  }
]
