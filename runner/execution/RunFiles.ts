import { constants } from "node:fs"
import { type FileHandle, mkdir, open, readFile, realpath, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, type Option, Schema, type Scope } from "effect"

/**
 * A file of a run could not be read or written. `message` contains the operation and the system's error code, never the content.
 * `code` is the system's error code, such as `ENOENT`.
 */
export class RunFileFailed extends Schema.TaggedError<RunFileFailed>()("RunFileFailed", {
  message: Schema.String,
  code: Schema.optionalKey(Schema.String)
}) {}

const failure = (doing: string, cause: unknown): RunFileFailed => {
  if (cause instanceof RunFileFailed) return cause
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "unknown error"
  return new RunFileFailed({ message: `Could not ${doing}: ${code}.`, code })
}

/** Wraps a system call. `doing` is a phrase such as "write the lock file". */
export const fileOperation = <A>(doing: string, evaluate: () => Promise<A>): Effect.Effect<A, RunFileFailed> =>
  Effect.tryPromise({ try: evaluate, catch: (cause) => failure(doing, cause) })

/**
 * Like `fileOperation`, but for a synchronous call that is faster than switching to another thread, such as a short append.
 */
export const promptFileOperation = <A>(doing: string, evaluate: () => A): Effect.Effect<A, RunFileFailed> =>
  Effect.try({ try: evaluate, catch: (cause) => failure(doing, cause) })

const optional = <A>(operation: Effect.Effect<A, RunFileFailed>): Effect.Effect<Option.Option<A>, RunFileFailed> =>
  operation.pipe(
    Effect.asSome,
    Effect.catchIf(
      (problem) => problem.code === "ENOENT",
      () => Effect.succeedNone
    )
  )

/**
 * A folder with an open handle, so that svc finds the folder's files even if module code renames the folder or replaces it
 * with a link. Reads never follow links, because a link could expose the server's files to the module's author.
 */
export interface HeldFolder {
  /** Returns `none` if the file does not exist. Fails for links, pipes and files longer than `maxBytes`. */
  readonly read: (name: string, maxBytes: number) => Effect.Effect<Option.Option<Uint8Array>, RunFileFailed>
  /** Returns a value that changes whenever the file is written, or `undefined` if the file does not exist. */
  readonly version: (name: string) => Effect.Effect<string | undefined>
}

const withFile = <A>(path: string, use: (file: FileHandle) => Promise<A>): Promise<A> =>
  open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).then((file) =>
    use(file).finally(() => file.close())
  )

const readWhole = async (file: FileHandle, name: string, maxBytes: number): Promise<Uint8Array> => {
  const entry = await file.stat()
  if (!entry.isFile()) throw new RunFileFailed({ message: `${name} is not a regular file.` })
  if (entry.size > maxBytes) throw new RunFileFailed({ message: `${name} is larger than ${maxBytes} bytes.` })
  return new Uint8Array(await file.readFile())
}

/** Opens a folder until the scope closes. Call it before any module code runs. */
export const holdFolder = Effect.fnUntraced(function* (
  folder: string
): Effect.fn.Return<HeldFolder, RunFileFailed, Scope.Scope> {
  const handle = yield* Effect.acquireRelease(
    fileOperation(`open ${folder}`, () =>
      open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    ),
    (held) => Effect.promise(() => held.close())
  )
  const base = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : folder
  return {
    read: (name, maxBytes) =>
      optional(
        fileOperation(`read ${name}`, () => withFile(join(base, name), (file) => readWhole(file, name, maxBytes)))
      ),
    version: (name) =>
      Effect.tryPromise(() =>
        withFile(join(base, name), (file) =>
          file.stat({ bigint: true }).then(({ ino, mtimeNs, size }) => `${ino}.${mtimeNs}.${size}`)
        )
      ).pipe(Effect.orElseSucceed(() => undefined))
  }
})

/**
 * Creates a file that only the server's user can read. Fails if the file exists, because somebody else may have created it to
 * receive the content.
 */
export const createPrivateFile = (path: string, content: string | Uint8Array, doing: string) =>
  fileOperation(doing, async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(path, content, { mode: 0o600, flag: "wx" })
  })

/** Replaces a file atomically. Returns once the new file would survive a power failure. */
export const replaceDurably = (path: string, content: string | Uint8Array, doing: string) =>
  fileOperation(doing, async () => {
    await writeFile(`${path}.new`, content, { mode: 0o600, flush: true })
    await rename(`${path}.new`, path)
    const folder = await open(dirname(path), constants.O_RDONLY)
    await folder.sync().finally(() => folder.close())
  })

export const readOptional = (path: string, doing: string): Effect.Effect<Option.Option<Uint8Array>, RunFileFailed> =>
  optional(fileOperation(doing, () => readFile(path).then((bytes) => new Uint8Array(bytes))))

export const removeTree = (path: string, doing: string) =>
  // Retry, because a process that is being killed may still write into a folder that was just emptied.
  fileOperation(doing, () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }))

/** Returns true if the path exists and no component of it below `root` is a symbolic link. */
export const isInPlace = (root: string, relative: string): Effect.Effect<boolean> =>
  Effect.tryPromise(() => Promise.all([realpath(root), realpath(join(root, relative))])).pipe(
    Effect.map(([realRoot, realFolder]) => realFolder === join(realRoot, relative)),
    Effect.orElseSucceed(() => false)
  )
