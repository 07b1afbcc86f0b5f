import { Effect } from "effect"
import { Command } from "effect/cli"
import { newestKnown } from "../database/Migrations.ts"
import { CommandFailed, jsonFlag, misuse, print } from "./Output.ts"
import { configFlag, settingsOf } from "./SettingFlags.ts"

/** Loads the PostgreSQL client only for this command. */
const postgres = Effect.promise(() => import("../database/postgres/PostgresDatabase.ts"))

export const migrateCommand = Command.make(
  "migrate",
  { config: configFlag, json: jsonFlag },
  Effect.fn("migrate")(function* ({ config, json }) {
    const { databaseUrl } = yield* settingsOf({}, config)
    if (databaseUrl === undefined) {
      return yield* new CommandFailed({
        ...misuse,
        message: "SVC_DATABASE_URL is not set. A server migrates the database of its data folder when it starts."
      })
    }
    const { migratePostgres } = yield* postgres
    yield* migratePostgres(databaseUrl)
    yield* print(json, { version: newestKnown }, `The database has the tables of version ${newestKnown}.`)
  })
).pipe(
  Command.withDescription(
    "Create or migrate the tables in PostgreSQL, before servers start; several may run at once, and a server does it too"
  )
)
