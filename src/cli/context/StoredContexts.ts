import { Context, Effect, Layer, Option, Schema } from "effect"
import { privateFile, type PrivateFileWords } from "../login/PrivateFile.ts"
import type { CommandFailed } from "../Output.ts"

/** A server and one of its Workspaces, stored under a name. Contains no secrets: tokens are stored with the logins. */
export const StoredContext = Schema.Struct({
  /** Origin of the server. */
  server: Schema.String,
  /** Handle or id of the Workspace. */
  workspace: Schema.optionalKey(Schema.String)
})
export type StoredContext = typeof StoredContext.Type

const ContextFile = Schema.fromJsonString(
  Schema.Struct({
    version: Schema.Literal(1),
    current: Schema.optionalKey(Schema.String),
    contexts: Schema.Record(Schema.String, StoredContext)
  })
)

export interface KnownContexts {
  readonly current?: string
  readonly contexts: Readonly<Record<string, StoredContext>>
}

const words: PrivateFileWords = {
  exposed: (file) => `Others on this machine can read ${file}. Set its mode with \`chmod 600\`.`,
  unreadable: (file, cause) => `The contexts in ${file} cannot be used: ${cause}. Remove the file and set them again.`
}

/** This user's contexts on this machine, stored in a file with mode 0600 in the settings folder. */
export class StoredContexts extends Context.Service<
  StoredContexts,
  {
    readonly known: Effect.Effect<KnownContexts, CommandFailed>
    readonly find: (name: string) => Effect.Effect<Option.Option<StoredContext>, CommandFailed>
    /** Replaces all contexts. */
    readonly store: (known: KnownContexts) => Effect.Effect<void, CommandFailed>
  }
>()("svc/src/cli/context/StoredContexts") {
  static readonly layer = Layer.effect(
    StoredContexts,
    Effect.gen(function* () {
      const { read, write } = yield* privateFile("config.json", ContextFile, { version: 1, contexts: {} }, words)
      return StoredContexts.of({
        known: Effect.map(
          read,
          ({ contexts, current }): KnownContexts => ({ contexts, ...(current === undefined ? {} : { current }) })
        ),
        find: (name) => Effect.map(read, ({ contexts }) => Option.fromUndefinedOr(contexts[name])),
        store: (known) => write({ version: 1, ...known })
      })
    })
  )
}
