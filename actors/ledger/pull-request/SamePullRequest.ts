import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { isAddress, readServerAddress } from "../../../schema/git/ServerAddress.ts"
import type { PullRequestId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../../base/database/Table.ts"
import type { SourceRow } from "../source/SourceRow.ts"
import { PullRequestRow } from "./PullRequestRow.ts"

/** Identifies a repository at its forge. A renamed repository keeps its key, and Connections to one forge share its keys. */
export const repositoryKey = (forge: { readonly kind: string; readonly address: string }, id: string): string => {
  const { host, pathname } = new URL(forge.address)
  const path = pathname
    .split("/")
    .filter((part) => part !== "")
    .map((part) => `/${part}`)
  return `${forge.kind} ${host}${path.join("")} ${id}`
}

/** Returns the forge's own id of the repository. */
export const repositoryIdOf = (key: string): string => key.slice(key.lastIndexOf(" ") + 1)

/** Returns a text that is equal for the addresses of one repository, or `undefined` if the address cannot be read. */
const plainAddress = (url: string): string | undefined => {
  const read = readServerAddress(url)
  if (!isAddress(read)) return undefined
  const host = read.port === "" || read.scheme === "ssh" ? read.hostname : `${read.hostname}:${read.port}`
  return `${host}/${read.segments.join("/").replace(/\.git$/, "")}`.toLowerCase()
}

const Located = rowShape({ url: Schema.String, repository: Schema.String })

/**
 * Returns the key of the Source's repository as another Source of the Workspace has read it, for a Source that has no forge
 * Connection.
 */
export const repositoryOfOther = Effect.fn("repositoryOfOther")(function* (
  sql: SqlClient.SqlClient,
  source: Pick<SourceRow, "id" | "url" | "workspace_id">
) {
  const others = yield* Located.rows(sql)`SELECT s.url, p.repository FROM sources s
    JOIN pull_requests p ON p.id = (SELECT n.id FROM pull_requests n
      WHERE n.source_id = s.id AND n.repository IS NOT NULL ORDER BY n.number DESC LIMIT 1)
    WHERE s.workspace_id = ${source.workspace_id} AND s.id <> ${source.id} AND s.removed_at IS NULL
      AND s.forge_connection_id IS NOT NULL ORDER BY s.created_at, s.id`
  const address = plainAddress(source.url)
  return others.find(({ url }) => address !== undefined && plainAddress(url) === address)?.repository
}, Effect.orDie)

/** Selects the rows `q` that are the same pull request as the row `p`, each of another Source. */
export const isSamePullRequest = `q.workspace_id = p.workspace_id AND q.repository = p.repository AND q.ref = p.ref`

/**
 * Selects the first row of the pull request of `p`. Its report holds the comment of the pull request, even after the row's
 * Source was removed, so that the comment does not depend on the Source that writes it.
 */
export const firstRow = `COALESCE((SELECT q.id FROM pull_requests q WHERE ${isSamePullRequest}
  ORDER BY q.created_at, q.id LIMIT 1), p.id)`

/** Returns the rows of all Sources for one pull request, first row first. */
export const samePullRequests = Effect.fn("samePullRequests")(function* (sql: SqlClient.SqlClient, id: PullRequestId) {
  const [row] = yield* PullRequestRow.rows(sql)`SELECT * FROM pull_requests WHERE id = ${id}`
  if (row === undefined || row.repository === null) return row === undefined ? [] : [row]
  return yield* PullRequestRow.rows(sql)`SELECT * FROM pull_requests WHERE workspace_id = ${row.workspace_id}
    AND repository = ${row.repository} AND ref = ${row.ref} ORDER BY created_at, id`
}, Effect.orDie)
