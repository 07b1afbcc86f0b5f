import { Config, Context, Effect, FileSystem, Layer, Option, Path, Schema } from "effect"
import { CommandFailed } from "../Output.ts"

/** The result of a sign-in at one server. Tokens print as redacted. */
export const StoredLogin = Schema.Struct({
  accessToken: Schema.RedactedFromValue(Schema.String),
  refreshToken: Schema.optionalKey(Schema.RedactedFromValue(Schema.String)),
  /** Milliseconds since 1970. */
  expiresAt: Schema.Int
})
export type StoredLogin = typeof StoredLogin.Type

const LoginFile = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), servers: Schema.Record(Schema.String, StoredLogin) })
)
type Servers = Readonly<Record<string, StoredLogin>>

const unreadable = (file: string) => (cause: unknown) =>
  new CommandFailed({
    message: `The stored logins in ${file} cannot be used: ${cause instanceof Error ? cause.name : "they are not valid"}. Remove the file and log in again.`
  })

/** The logins of this person on this machine: one file, mode 0600, in the folder for settings. */
export class StoredLogins extends Context.Service<
  StoredLogins,
  {
    /** The servers with a login, by origin. */
    readonly origins: Effect.Effect<ReadonlyArray<string>, CommandFailed>
    readonly find: (origin: string) => Effect.Effect<Option.Option<StoredLogin>, CommandFailed>
    readonly store: (origin: string, login: StoredLogin) => Effect.Effect<void, CommandFailed>
    readonly remove: (origin: string) => Effect.Effect<void, CommandFailed>
  }
>()("svc/cli/StoredLogins") {
  static readonly layer = Layer.effect(
    StoredLogins,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const home = yield* Config.String("HOME").pipe(Config.withDefault("."))
      const settings = yield* Config.String("XDG_CONFIG_HOME").pipe(Config.withDefault(path.join(home, ".config")))
      const folder = path.join(settings, "svc")
      const file = path.join(folder, "logins.json")

      const read = Effect.gen(function* () {
        if (!(yield* files.exists(file))) return {}
        const { mode } = yield* files.stat(file)
        if ((mode & 0o077) !== 0) {
          return yield* new CommandFailed({
            message: `Others on this machine can read ${file}, so the tokens in it are not safe. Log in again after \`chmod 600\`, and revoke what was stored.`
          })
        }
        const { servers } = yield* Schema.decodeEffect(LoginFile)(yield* files.readFileString(file))
        return servers
      }).pipe(
        Effect.catchTags({
          PlatformError: (cause) => unreadable(file)(cause),
          SchemaError: (cause) => unreadable(file)(cause)
        })
      )

      // Written beside and renamed, so that a login is never half written; the mode applies from the first byte.
      const write = Effect.fnUntraced(
        function* (servers: Servers) {
          const text = yield* Schema.encodeEffect(LoginFile)({ version: 1, servers })
          yield* files.makeDirectory(folder, { recursive: true, mode: 0o700 })
          const fresh = `${file}.new`
          yield* files.remove(fresh, { force: true })
          yield* files.writeFileString(fresh, text, { flag: "wx", mode: 0o600 })
          yield* files.rename(fresh, file)
        },
        Effect.mapError(unreadable(file))
      )

      return StoredLogins.of({
        origins: Effect.map(read, (servers) => Object.keys(servers)),
        find: (origin) => Effect.map(read, (servers) => Option.fromUndefinedOr(servers[origin])),
        store: Effect.fn("StoredLogins.store")(function* (origin, login) {
          yield* write({ ...(yield* read), [origin]: login })
        }),
        remove: Effect.fn("StoredLogins.remove")(function* (origin) {
          const rest = Object.entries(yield* read).filter(([known]) => known !== origin)
          yield* write(Object.fromEntries(rest))
        })
      })
    })
  )
}
