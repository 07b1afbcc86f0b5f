import { Context, Effect, FileSystem, Layer, Option } from "effect"

/** State of the database file that this server has open. */
export type DatabaseFile = "present" | "missing" | "replaced"

/**
 * Reports the state of the database file while the server runs. Always reports `present` if a host application provides the
 * database.
 */
export const DatabasePresence = Context.Reference<{ readonly look: Effect.Effect<DatabaseFile> }>(
  "svc/src/database/DatabasePresence",
  { defaultValue: () => ({ look: Effect.succeed("present") }) }
)

/**
 * Records which file was opened, and detects its removal or replacement. Writes to a removed or replaced file are lost when
 * this process exits.
 */
export const databasePresence = (file: string) =>
  Layer.effect(
    DatabasePresence,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const identity = Effect.map(Effect.option(fs.stat(file)), (found) =>
        Option.map(found, ({ dev, ino }) => `${dev}:${Option.getOrElse(ino, () => 0)}`)
      )
      const opened = yield* identity
      return {
        look: Effect.map(identity, (present): DatabaseFile => {
          if (Option.isNone(present)) return "missing"
          return Option.getOrUndefined(opened) === present.value ? "present" : "replaced"
        })
      }
    })
  )
