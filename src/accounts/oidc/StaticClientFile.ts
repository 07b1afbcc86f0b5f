import { Effect, FileSystem, Schema, SchemaIssue } from "effect"
import {
  type StaticClientDocument,
  StaticClientDocument as Document,
  StaticClientsRefused
} from "../../../actors/access/issuer/StaticClientConfig.ts"

const setting = "SVC_OIDC_CLIENTS_FILE"
const maxBytes = 1024 * 1024

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Document), { onExcessProperty: "error", errors: "all" })
const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Formats the paths of the problems, but not the values, because some values in this file are secrets. */
const places = (issue: SchemaIssue.Issue): string =>
  [
    ...new Set(
      formatIssues(issue).issues.map(({ path = [] }) =>
        path.length === 0 ? "the document" : path.map((part) => String(part)).join(".")
      )
    )
  ].join(", ")

const refused = (message: string) => new StaticClientsRefused({ message })

/**
 * Reads the installation's OpenID clients from the JSON file given by the setting `SVC_OIDC_CLIENTS_FILE`. Returns no
 * clients if the setting is absent. Fails with `StaticClientsRefused`, whose message describes the problem and never quotes
 * a value.
 */
export const readStaticClients = Effect.fn("readStaticClients")(function* (
  file: string | undefined
): Effect.fn.Return<StaticClientDocument, StaticClientsRefused, FileSystem.FileSystem> {
  if (file === undefined) return { clients: [] }
  const files = yield* FileSystem.FileSystem
  const unreadable = refused(`The file that ${setting} names cannot be read, or is larger than ${maxBytes} bytes.`)
  const { size } = yield* Effect.mapError(files.stat(file), () => unreadable)
  if (Number(size) > maxBytes) return yield* unreadable
  const text = yield* Effect.mapError(files.readFileString(file), () => unreadable)
  return yield* decode(text).pipe(
    Effect.mapError((error) =>
      refused(`The file that ${setting} names is not valid at ${places(error.issue)}. docs/oidc.md shows its fields.`)
    )
  )
})
