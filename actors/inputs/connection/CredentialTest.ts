import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GitCredentials } from "../../../runner/git/GitCredentials.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { storedRef } from "../../../runner/git/RefTarget.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import type { CredentialTestKind } from "../../../schema/records/Connection.ts"
import { type ConnectionSecrets, originsOf } from "./ConnectionStore.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { Forge } from "../../../runner/forge/Forge.ts"
import { forgeOf, repositoryPathOf } from "./ForgeConnections.ts"
import { providedOf } from "./PoolCredentials.ts"
import { SourceRow } from "../../ledger/source/SourceRow.ts"

/** The credentials were rejected. The message contains none of their values. */
export class CredentialsRefused extends Schema.TaggedError<CredentialsRefused>()("CredentialsRefused", {
  message: Schema.String
}) {}

/** Returns the credentials of a Git Connection, to be tested on each server in the Connection's origins. */
export const gitCredentials = (row: ConnectionRow, { values }: ConnectionSecrets): GitCredentials =>
  GitCredentials.basic(
    { username: Redacted.make(values["username"] ?? "git"), password: Redacted.make(values["token"] ?? "") },
    originsOf(row)
  )

interface FetchedSource {
  readonly name: string
  readonly url: string
  readonly default_ref: string
}

/**
 * Tests credentials as far as possible without a Run. Contacts Git servers and forges, but not the services that providers
 * use.
 */
export class CredentialTest extends Context.Service<
  CredentialTest,
  {
    /** Tests the credentials. Returns a description of what was tested. */
    readonly test: (
      row: ConnectionRow,
      secrets: Redacted.Redacted<ConnectionSecrets>
    ) => Effect.Effect<CredentialTestKind, CredentialsRefused>
  }
>()("svc/actors/inputs/connection/CredentialTest") {
  static readonly layer = Layer.effect(
    CredentialTest,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const remote = yield* GitRemote
      const policy = yield* GitPolicy
      const forges = yield* Forge

      const asked = Effect.fnUntraced(function* (source: FetchedSource, credentials: GitCredentials) {
        yield* Effect.gen(function* () {
          const url = yield* Effect.fromResult(fetchableAddress(source.url, policy))
          const ref = yield* Effect.fromResult(storedRef(source.default_ref))
          yield* remote.resolve({ url, ref, credentials })
        }).pipe(
          Effect.mapError(
            ({ message }) => new CredentialsRefused({ message: `The Source ${source.name} cannot be read: ${message}` })
          )
        )
      })

      /** Tests a forge's credential with the repositories of all Sources that use it. */
      const atForge = Effect.fnUntraced(function* (row: ConnectionRow, secrets: ConnectionSecrets) {
        const access = forgeOf(row, secrets)
        if (access === undefined) return yield* new CredentialsRefused({ message: "The Connection has no forge." })
        const sources = yield* Effect.orDie(
          SourceRow.some(sql, "url")`SELECT url FROM sources
            WHERE forge_connection_id = ${row.id} AND status <> 'disabled' ORDER BY url`
        )
        const paths = sources.flatMap(({ url }) => repositoryPathOf(access.address, url) ?? [])
        const { account, missing } = yield* forges
          .test(access, [...new Set(paths)])
          .pipe(Effect.mapError(({ message }) => new CredentialsRefused({ message })))
        if (missing.length > 0) {
          return yield* new CredentialsRefused({
            message: `The account ${account.login} lacks: ${missing.join("; ")}.`
          })
        }
      })

      const test = Effect.fn("CredentialTest.test")(function* (
        row: ConnectionRow,
        secrets: Redacted.Redacted<ConnectionSecrets>
      ) {
        if (providedOf(row) !== undefined) return "pool"
        const { files, values } = Redacted.value(secrets)
        if (Object.keys(values).length + files.length === 0 && row.auth_mode !== "none") {
          return yield* new CredentialsRefused({ message: "The Connection has no values." })
        }
        if (row.kind === "forge") {
          yield* atForge(row, Redacted.value(secrets))
          return "forge"
        }
        if (row.kind !== "git_https" || row.origins === null) return "completeness"
        const sources = yield* Effect.orDie(SourceRow.some(
          sql,
          "name",
          "url",
          "default_ref"
        )`SELECT name, url, default_ref FROM sources
          WHERE auth_connection_id = ${row.id} AND status <> 'disabled' ORDER BY name, id`)
        if (sources.length === 0) return "completeness"
        const credentials = gitCredentials(row, Redacted.value(secrets))
        yield* Effect.forEach(sources, (source) => asked(source, credentials), { discard: true })
        return "git_server"
      })

      return CredentialTest.of({ test })
    })
  )
}
