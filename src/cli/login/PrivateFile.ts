import { userInfo } from "node:os"
import { Config, Context, Effect, FileSystem, Option, Path, PlatformError, Schema } from "effect"
import { CommandFailed } from "../Output.ts"

/** Error messages about an invalid file. */
export interface PrivateFileWords {
  readonly exposed: (file: string) => string
  readonly unreadable: (file: string, cause: string) => string
}

const reasonOf = (cause: unknown): string =>
  cause instanceof PlatformError.PlatformError ? cause.reason._tag : "it is not valid"

const ownerOnly = 0o077

/** The user's home folder according to the system's list of accounts, or `undefined` if there is none. */
export const AccountHome = Context.Reference<string | undefined>("svc/src/cli/login/AccountHome", {
  defaultValue: () => Option.getOrUndefined(Option.liftThrowable(() => userInfo().homedir)())
})

/**
 * Finds the folder for the user's settings. Accepts only absolute paths: with an empty or relative HOME, files would be created
 * in the current folder, where somebody might commit them.
 */
const settingsFolder = Effect.gen(function* () {
  const path = yield* Path.Path
  const absolute = (name: string) =>
    Config.String(name).pipe(Config.option, Effect.map(Option.filter((value) => path.isAbsolute(value))))
  // Windows does not set HOME, but it has a settings folder for each user.
  const named = yield* absolute("XDG_CONFIG_HOME")
  const usual = process.platform === "win32" ? yield* absolute("APPDATA") : Option.none<string>()
  const home = yield* absolute("HOME")
  const account = Option.filter(Option.fromUndefinedOr(yield* AccountHome), (value) => path.isAbsolute(value))
  return named.pipe(
    Option.orElse(() => usual),
    Option.orElse(() =>
      Option.map(
        Option.orElse(home, () => account),
        (folder) => path.join(folder, ".config")
      )
    ),
    Option.map((folder) => path.join(folder, "svc"))
  )
})

/** Opens a file in the user's settings folder that only this user can read. Writes replace it atomically. */
export const privateFile = Effect.fn("privateFile")(function* <A>(
  name: string,
  schema: Schema.Codec<A, string>,
  empty: A,
  words: PrivateFileWords
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const settings = yield* settingsFolder
  // Without a settings folder, store nothing. Commands that are given a token still work.
  if (Option.isNone(settings)) {
    const missing = new CommandFailed({
      message: `There is no folder to store ${name} in: HOME and XDG_CONFIG_HOME are not absolute paths, and the system lists no home folder for this account. Set HOME to the account's home folder.`
    })
    const storable: Effect.Effect<void, CommandFailed> = Effect.fail(missing)
    return { storable, read: Effect.succeed(empty), write: (): Effect.Effect<void, CommandFailed> => storable }
  }
  const folder = settings.value
  const file = path.join(folder, name)
  const unreadable = (cause: unknown) => new CommandFailed({ message: words.unreadable(file, reasonOf(cause)) })

  const unwritten = (cause: unknown) =>
    new CommandFailed({
      message: `${file} cannot be written (${reasonOf(cause)}). Check the folder's permissions, or name another one in XDG_CONFIG_HOME.`
    })

  const read = Effect.gen(function* () {
    if (!(yield* files.exists(file))) return empty
    const { mode } = yield* files.stat(file)
    if ((mode & ownerOnly) !== 0) return yield* new CommandFailed({ message: words.exposed(file) })
    return yield* Schema.decodeEffect(schema)(yield* files.readFileString(file))
  }).pipe(Effect.catchTags({ PlatformError: (cause) => unreadable(cause), SchemaError: (cause) => unreadable(cause) }))

  // Writes a temporary file with its final mode from the first byte, and renames it.
  const write = Effect.fnUntraced(function* (content: A) {
    const text = yield* Schema.encodeEffect(schema)(content)
    yield* files.makeDirectory(folder, { recursive: true, mode: 0o700 })
    const fresh = `${file}.new`
    yield* files.remove(fresh, { force: true })
    yield* files.writeFileString(fresh, text, { flag: "wx", mode: 0o600 })
    yield* files.rename(fresh, file)
  }, Effect.mapError(unwritten))

  return { storable: Effect.void, read, write }
})
