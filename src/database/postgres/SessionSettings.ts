import * as PgConnection from "@effect/sql-pg/PgConnection"
import { type Duration, Effect, type Redacted } from "effect"
import { version } from "../../Version.ts"
import { makeCodecs } from "./PostgresConnection.ts"
import { serverMark } from "./SilentSessions.ts"

const keepAlive: Duration.Input = "15 seconds"
const preparedStatements = 500

const applicationName = `svc ${version}`

/**
 * Lets PostgreSQL notice within seconds that the machine of a session is gone. By default, operating systems take minutes or
 * hours.
 */
const goneMachine = {
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "10000"
}

/** Lets PostgreSQL end a statement whose client is gone. A PostgreSQL server on Windows refuses this setting. */
const goneClient = { client_connection_check_interval: "2000" }

/** Returns the settings of the sessions of a process. The sessions of a server can be recognised by their names. */
export const sessionSettings = Effect.fn("sessionSettings")(function* (url: Redacted.Redacted, isServer: boolean) {
  const session = {
    url,
    applicationName: isServer ? `${applicationName}${serverMark}` : applicationName,
    keepAlive,
    preparedStatementCacheSize: preparedStatements,
    types: makeCodecs()
  }
  // Set explicitly, so that the settings of the PostgreSQL server cannot change the meaning of a statement.
  const parameters = { TimeZone: "UTC", standard_conforming_strings: "on", ...goneMachine }
  const startupParameters = { ...parameters, ...goneClient }
  const isAccepted = yield* Effect.isSuccess(Effect.scoped(PgConnection.make({ ...session, startupParameters })))
  return (more: Readonly<Record<string, string>> = {}) => ({
    ...session,
    types: makeCodecs(),
    startupParameters: { ...(isAccepted ? startupParameters : parameters), ...more }
  })
})
