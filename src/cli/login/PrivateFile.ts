import { Config, Effect, FileSystem, Path, Schema } from "effect"
import { CommandFailed } from "../Output.ts"

/** Messages about an invalid file. */
export interface PrivateFileWords {
  readonly exposed: (file: string) => string
  readonly unreadable: (file: string, cause: string) => string
}

const ownerOnly = 0o077

/** A file in the user's settings folder that only they can read. It is replaced atomically. */
export const privateFile = Effect.fn("privateFile")(function* <A>(
  name: string,
  schema: Schema.Codec<A, string>,
  empty: A,
  words: PrivateFileWords
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const home = yield* Config.String("HOME").pipe(Config.withDefault("."))
  // Windows has no HOME, and has its own settings folder.
  const usual = yield* Config.String("APPDATA").pipe(Config.withDefault(path.join(home, ".config")))
  const settings = yield* Config.String("XDG_CONFIG_HOME").pipe(
    Config.withDefault(process.platform === "win32" ? usual : path.join(home, ".config"))
  )
  const folder = path.join(settings, "svc")
  const file = path.join(folder, name)
  const unreadable = (cause: unknown) =>
    new CommandFailed({ message: words.unreadable(file, cause instanceof Error ? cause.name : "it is not valid") })

  const read = Effect.gen(function* () {
    if (!(yield* files.exists(file))) return empty
    const { mode } = yield* files.stat(file)
    if ((mode & ownerOnly) !== 0) return yield* new CommandFailed({ message: words.exposed(file) })
    return yield* Schema.decodeEffect(schema)(yield* files.readFileString(file))
  }).pipe(Effect.catchTags({ PlatformError: (cause) => unreadable(cause), SchemaError: (cause) => unreadable(cause) }))

  // Written to a temporary file and renamed; the mode applies from the first byte.
  const write = Effect.fnUntraced(function* (content: A) {
    const text = yield* Schema.encodeEffect(schema)(content)
    yield* files.makeDirectory(folder, { recursive: true, mode: 0o700 })
    const fresh = `${file}.new`
    yield* files.remove(fresh, { force: true })
    yield* files.writeFileString(fresh, text, { flag: "wx", mode: 0o600 })
    yield* files.rename(fresh, file)
  }, Effect.mapError(unreadable))

  return { file, read, write }
})
