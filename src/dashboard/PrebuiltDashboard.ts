import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { Effect, Schema } from "effect"
import { packageScope } from "../PackageScope.ts"
import type { EmbeddedFile } from "./EmbeddedFiles.ts"

/** The list of files in the folder of a prebuilt dashboard. Each entry is a path relative to that folder. */
export const dashboardList = "Dashboard.json"

export const DashboardList = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      path: Schema.String,
      contentType: Schema.String,
      sha256: Schema.String,
      immutable: Schema.Boolean,
      identity: Schema.String,
      br: Schema.optionalKey(Schema.String),
      gzip: Schema.optionalKey(Schema.String)
    })
  )
)

const decodeList = Schema.decodeUnknownEffect(DashboardList)

class NotInstalled extends Schema.TaggedError<NotInstalled>()("NotInstalled", {}) {}

/** The optional package that contains the files. */
const read = Effect.tryPromise({
  try: async () => {
    const list = createRequire(import.meta.url).resolve(`${packageScope}/dashboard/${dashboardList}`)
    return { folder: dirname(list), text: await readFile(list, "utf8") }
  },
  catch: () => new NotInstalled()
})

/**
 * The files of the prebuilt dashboard. There are no files if the package is not installed. An unreadable list is a defect.
 */
export const prebuiltDashboard = read.pipe(
  Effect.matchEffect({
    onFailure: () => Effect.succeed<ReadonlyArray<EmbeddedFile>>([]),
    onSuccess: ({ folder, text }) =>
      decodeList(text).pipe(
        Effect.orDie,
        Effect.map((files) =>
          files.map(
            (file): EmbeddedFile => ({
              ...file,
              identity: join(folder, file.identity),
              ...(file.br === undefined ? {} : { br: join(folder, file.br) }),
              ...(file.gzip === undefined ? {} : { gzip: join(folder, file.gzip) })
            })
          )
        )
      )
  })
)
