import { Context, Effect, Layer, Option, Schema } from "effect"
import type { CommandFailed } from "../Output.ts"
import { privateFile, type PrivateFileWords } from "./PrivateFile.ts"

/** The result of signing in to a server. Tokens are redacted when printed. */
export const StoredLogin = Schema.Struct({
  accessToken: Schema.RedactedFromValue(Schema.String),
  refreshToken: Schema.optionalKey(Schema.RedactedFromValue(Schema.String)),
  /** Milliseconds since the Unix epoch. */
  expiresAt: Schema.Int
})
export type StoredLogin = typeof StoredLogin.Type

const LoginFile = Schema.fromJsonString(
  Schema.Struct({ version: Schema.Literal(1), servers: Schema.Record(Schema.String, StoredLogin) })
)
type Servers = Readonly<Record<string, StoredLogin>>

const words: PrivateFileWords = {
  exposed: (file) =>
    `Others on this machine can read ${file}, so the tokens in it are not safe. Log in again after \`chmod 600\`, and revoke what was stored.`,
  unreadable: (file, cause) =>
    `The stored logins in ${file} cannot be used: ${cause}. Remove the file and log in again.`
}

/** This user's logins on this machine, stored in a file with mode 0600 in the settings folder. */
export class StoredLogins extends Context.Service<
  StoredLogins,
  {
    /** Fails if this machine has no folder in which to store a login. */
    readonly storable: Effect.Effect<void, CommandFailed>
    /** Origins of the servers with a login. */
    readonly origins: Effect.Effect<ReadonlyArray<string>, CommandFailed>
    readonly find: (origin: string) => Effect.Effect<Option.Option<StoredLogin>, CommandFailed>
    readonly store: (origin: string, login: StoredLogin) => Effect.Effect<void, CommandFailed>
    readonly remove: (origin: string) => Effect.Effect<void, CommandFailed>
  }
>()("svc/src/cli/login/StoredLogins") {
  static readonly layer = Layer.effect(
    StoredLogins,
    Effect.gen(function* () {
      const { read, storable, write } = yield* privateFile("logins.json", LoginFile, { version: 1, servers: {} }, words)
      const servers = Effect.map(read, (content): Servers => content.servers)
      const store = (changed: Servers) => write({ version: 1, servers: changed })

      return StoredLogins.of({
        storable,
        origins: Effect.map(servers, (known) => Object.keys(known)),
        find: (origin) => Effect.map(servers, (known) => Option.fromUndefinedOr(known[origin])),
        store: Effect.fn("StoredLogins.store")(function* (origin, login) {
          yield* store({ ...(yield* servers), [origin]: login })
        }),
        remove: Effect.fn("StoredLogins.remove")(function* (origin) {
          const rest = Object.entries(yield* servers).filter(([known]) => known !== origin)
          yield* store(Object.fromEntries(rest))
        })
      })
    })
  )
}
