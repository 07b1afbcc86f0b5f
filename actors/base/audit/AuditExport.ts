import { Effect, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { ExportedAuditEvent } from "../../../schema/records/ExportedAuditEvent.ts"
import { jsonText } from "../database/StoredRecord.ts"
import { eventsOf, readChain } from "./AuditChain.ts"
import { AuditChainRow, type AuditScope } from "./AuditChainRow.ts"
import { type AuditFilter, matching } from "./AuditFilter.ts"
import { AuditDataJson, AuditRow, recordFields } from "./AuditRow.ts"

/** Number of positions that one statement reads, even if the filter matches only a few of them. */
const placesAtOnce = 500

const Line = jsonText(ExportedAuditEvent)

const lineOf = (row: AuditRow): string =>
  `${Line.write({
    position: row.position ?? 0,
    ...recordFields(row),
    workspaceId: row.workspace_id,
    ...(row.capsule_id === null ? {} : { capsuleId: row.capsule_id }),
    data: AuditDataJson.read(row.data),
    mac: row.mac ?? ""
  })}\n`

/** The first lines of an export, and a stream of the remaining lines. */
interface BegunExport {
  readonly lines: ReadonlyArray<string>
  readonly rest: Option.Option<Stream.Stream<string, never, SqlClient.SqlClient>>
}

/**
 * Exports a chain as JSON lines, oldest first, from the position after `after` to the current end. Positions never change,
 * so an export can resume after the last exported line. Keeps only one page in memory; a short export consists of a single
 * page.
 */
export const beginExport = Effect.fn("Audit.beginExport")(function* (
  scope: AuditScope,
  filter: AuditFilter,
  after: number
): Effect.fn.Return<BegunExport, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const chain = yield* Effect.orDie(readChain(scope))
  const end = chain?.position ?? 0
  const pageBehind = (from: number) => {
    const to = Math.min(from + placesAtOnce, end)
    const rows = AuditRow.rows(sql)`SELECT * FROM audit_events WHERE ${sql.and([
      eventsOf(sql, scope),
      sql`position > ${from}`,
      sql`position <= ${to}`,
      ...matching(sql, filter)
    ])} ORDER BY position`
    const next = to < end ? Option.some(to) : Option.none<number>()
    return Effect.map(Effect.orDie(rows), (found) => [found.map(lineOf), next] as const)
  }
  const [lines, next] = yield* pageBehind(Math.max(after, chain?.pruned_position ?? 0))
  return { lines, rest: Option.map(next, (from) => Stream.paginate(from, pageBehind)) }
})

/** Returns the complete export as one stream. */
export const exportChain = (scope: AuditScope, filter: AuditFilter, after: number) =>
  Stream.unwrap(
    Effect.map(beginExport(scope, filter, after), ({ lines, rest }) =>
      Stream.concat(
        Stream.fromIterable(lines),
        Option.getOrElse(rest, () => Stream.empty)
      )
    )
  )

/** Exports all chains: first the chain of the installation, then those of the Workspaces, ordered by Workspace id. */
export const exportAll = (filter: AuditFilter) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const chains = yield* Effect.orDie(
        AuditChainRow.some(sql, "scope")`SELECT scope FROM audit_chains ORDER BY scope`
      )
      return Stream.fromIterable(chains).pipe(Stream.flatMap(({ scope }) => exportChain(scope, filter, 0)))
    })
  )
