import { Effect, Option, Path, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { loadKeyring } from "../../actors/base/vault/MasterKeyStore.ts"
import { DataFolder, masterKeyName } from "../database/DataFolder.ts"
import type { MoveResult } from "../database/move/DatabaseMove.ts"
import type { DatabasePlace } from "../database/move/MoveMarks.ts"
import { sqlFailure } from "../database/move/MoveRefused.ts"
import type { UnstorableValue } from "../database/move/UnstorableValues.ts"
import { DatabaseUrl, masterKeySource, type Settings } from "../settings/Settings.ts"
import { CommandFailed, jsonFlag, misuse, print, progress, refused } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const to = Flag.String("to").pipe(
  Flag.withDescription(
    "Receives the rows: `postgres` for the database in SVC_DATABASE_URL, the URL of a database that needs no password, or `sqlite` for the data folder"
  ),
  Flag.withMetavar("database")
)

const usage = (message: string) => new CommandFailed({ ...misuse, message })

/** Returns the address of the PostgreSQL database, which is the source or the target of the move. */
const urlOf = Effect.fnUntraced(function* (given: string, { databaseUrl }: Settings) {
  if (given === "sqlite" || given === "postgres") {
    return (
      databaseUrl ?? (yield* usage("SVC_DATABASE_URL is not set. Set it to the address of the database in PostgreSQL."))
    )
  }
  const url = Schema.decodeOption(DatabaseUrl)(given)
  if (Option.isNone(url)) {
    return yield* usage("--to accepts postgres, sqlite, or an address as postgres://user@host:port/database.")
  }
  const { password, searchParams } = new URL(Redacted.value(url.value))
  if (password !== "" || searchParams.has("password")) {
    return yield* usage(
      "Other users of this machine can read a password in a command line. Set SVC_DATABASE_URL, and use `--to postgres`."
    )
  }
  return url.value
})

/** Reads the master keys, which are needed to verify the copy. Creates no key. */
const keyringOf = Effect.fnUntraced(function* (settings: Settings) {
  const path = yield* Path.Path
  const source = masterKeySource(settings, path.join(settings.dataDir, masterKeyName))
  return yield* Effect.mapError(
    loadKeyring(source.kind === "file" ? { ...source, create: false } : source, []),
    ({ message }) => new CommandFailed({ message: `The copy is verified with the master key. ${message}` })
  )
})

const namedValue = ({ column, key, problem, table }: UnstorableValue): string => {
  const named = Object.entries(key).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  return `${table}.${column} of ${named.join(", ")}: ${problem}`
}

const next = (place: DatabasePlace): string =>
  place.kind === "postgres"
    ? "Start the server with SVC_DATABASE_URL set to this database. Only agents execute modules there, so give Capsules without a pool of agents a pool."
    : "Start the server without SVC_DATABASE_URL."

interface Moved extends MoveResult {
  readonly from: DatabasePlace
  readonly to: DatabasePlace
}

const described = ({ chains, faults, from, resumed, tables, to }: Moved): string => {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return [
    `Moved ${from.text} to ${to.text}: ${rows} rows of ${tables.length} tables are the same in both${resumed ? ", copied by an interrupted move" : ""}.`,
    `Every sealed value was opened, and ${chains} audit chains were checked.`,
    ...faults.map((fault) => `The old database has this fault too: ${fault}`),
    "No server starts on the old database any more. Files of the data folder were not changed.",
    next(to)
  ].join("\n")
}

/** Loads the PostgreSQL client only for this command. */
const parts = Effect.promise(() =>
  Promise.all([
    import("../database/move/DatabaseMove.ts"),
    import("../database/move/PostgresEnd.ts"),
    import("../database/move/SqliteEnd.ts")
  ])
)

export const moveCommand = Command.make(
  "move",
  { ...dataFlags, to, json: jsonFlag },
  Effect.fn("move")(function* ({ config, json, to, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const url = yield* urlOf(to, settings)
    const keyring = yield* keyringOf(settings)
    const [{ moveDatabase }, { postgresSource, postgresTarget }, { sqliteSource, sqliteTarget }] = yield* parts
    const moved = Effect.gen(function* () {
      if (to !== "sqlite") {
        const source = yield* sqliteSource
        const target = postgresTarget(url)
        return { from: source.place, to: target.place, ...(yield* moveDatabase(source, target, keyring, progress)) }
      }
      const source = yield* postgresSource(url)
      const target = yield* sqliteTarget
      return { from: source.place, to: target.place, ...(yield* moveDatabase(source, target, keyring, progress)) }
    })
    const result = yield* moved.pipe(
      Effect.provide(DataFolder.layer(settings.dataDir)),
      Effect.catchTags({
        SqlError: (error) => Effect.fail(new CommandFailed({ message: sqlFailure(error) })),
        ValuesUnstorable: ({ message, values }) =>
          Effect.andThen(
            print(json, { message, values }, [message, ...values.map(namedValue)].join("\n")),
            Effect.fail(refused(message))
          )
      })
    )
    yield* print(json, result, described(result))
  })
).pipe(
  Command.withDescription(
    "Move the installation between the data folder and PostgreSQL, with the server stopped. The copy is compared row by row, and no server starts on the old database afterwards"
  )
)
