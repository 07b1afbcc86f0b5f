import { Effect } from "effect"
import { Command } from "effect/cli"
import { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"
import { storage } from "../composition/Storage.ts"
import { jsonFlag, print, requireEmbedded } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

/** Converts a database from an earlier release to a format that allows the database file to shrink. */
export const compactCommand = Command.make(
  "compact",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("compact")(function* ({ config, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    yield* requireEmbedded(settings)
    const { after, before } = yield* Effect.gen(function* () {
      const file = yield* DatabaseFile
      const before = yield* file.pages
      yield* file.rebuild
      return { before, after: yield* file.pages }
    }).pipe(Effect.provide(storage(settings)))
    yield* print(
      json,
      { before, after },
      `The database has ${after.total} pages instead of ${before.total}, and now shrinks automatically.`
    )
  })
).pipe(
  Command.withDescription(
    "Rewrite the database without empty pages; with the server stopped, and with free disk space of its size"
  )
)
