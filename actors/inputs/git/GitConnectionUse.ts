import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ConnectionStore } from "../connection/ConnectionStore.ts"
import { ConnectionUses, type UseStarter } from "../connection/ConnectionUses.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import type { ConnectionId, SourceId, WorkspaceId } from "../../../schema/records/Ids.ts"

const AdoptedRef = rowShape({ ref: Schema.String })

type SourceDefault = Pick<SourceRow, "default_ref" | "default_ref_by_manager">

/**
 * Returns the default refs for a use rule. Members can also set a Source's default ref, so the result includes it only if an
 * owner or admin set it, or if it is the repository's default. A new Source uses the repository's default ref.
 */
export const chosenDefault = (source: SourceDefault | undefined): ReadonlyArray<string> =>
  source === undefined ? ["HEAD"] : source.default_ref_by_manager === 1 ? [source.default_ref] : []

const Shown = rowShape({ id: Schema.String })

/** Returns true if a snapshot shows that svc itself resolved one of these refs of the Source to the commit. */
export const isCommitOf = Effect.fn("isCommitOf")(function* (
  sourceId: SourceId | undefined,
  refs: ReadonlyArray<string>,
  commit: string
) {
  if (sourceId === undefined || refs.length === 0) return false
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(Shown.rows(sql)`SELECT id FROM source_snapshots
    WHERE source_id = ${sourceId} AND ${sql.in("ref", refs)} AND resolved_commit = ${commit} LIMIT 1`)
  return rows.length > 0
})

/** A fetch that sends the credentials of a Git Connection. */
export interface GitFetch {
  readonly workspaceId: WorkspaceId
  readonly url: string
  readonly ref: string
  readonly source: (SourceDefault & Pick<SourceRow, "id">) | undefined
}

/**
 * Returns the authority for a sync's fetch. Schedules and webhooks use the authority of the person who attached the Connection.
 */
export const fetchStarter = (
  run: Pick<RunRow, "created_by" | "trigger_kind">,
  source: Pick<SourceRow, "auth_connection_by"> | undefined
): UseStarter =>
  run.trigger_kind === "user"
    ? { subject: run.created_by ?? undefined, automatic: false }
    : { subject: source?.auth_connection_by ?? undefined, automatic: true }

/** Checks the use rule of a Git Connection. A missing Connection is recorded on the Run. */
export const checkGitUse = Effect.fn("checkGitUse")(function* (
  connectionId: ConnectionId | null | undefined,
  starter: UseStarter,
  { workspaceId, url, ref, source }: GitFetch
) {
  const connections = yield* ConnectionStore
  const uses = yield* ConnectionUses
  const row = connectionId == null ? undefined : yield* connections.find(connectionId)
  if (row === undefined) return
  const sql = yield* SqlClient.SqlClient
  const adopted = yield* Effect.orDie(AdoptedRef.rows(sql)`SELECT DISTINCT adopted_ref AS ref FROM capsules
    WHERE source_id = ${source?.id ?? ""} AND adopted_ref IS NOT NULL AND ${sql.literal(livingCapsule())}`)
  const defaultRefs = [...chosenDefault(source), ...adopted.map((lane) => lane.ref)]
  yield* uses.grant(row, starter, {
    workspaceId,
    module: { url, path: undefined },
    ref,
    defaultRefs,
    isOfLane: yield* isCommitOf(source?.id, defaultRefs, ref)
  })
})
