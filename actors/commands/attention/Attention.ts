import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { CapsuleHealth, AttentionItem, AttentionGroup } from "../../../schema/records/AttentionItem.ts"
import { PlanSummary } from "../../../schema/records/PlanDetails.ts"
import type { Reader } from "../../access/approval/RunApprovalReads.ts"
import { Connections } from "../../inputs/connection/Connections.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { stuckWork, type StuckWork } from "../../base/DueWork.ts"
import { stoppedEndpoints } from "../../base/notice/NoticeRows.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import type { PageRequest } from "../../base/paging/RowPages.ts"
import { CommitDescriptionJson } from "../../ledger/source/SourceRow.ts"
import { Sources } from "../../ledger/source/Sources.ts"
import { changeItems } from "./ChangeItems.ts"
import { capsuleItems, comparePlaces, groupOf, newerSnapshot, type OpenItem, placeOf } from "./AttentionDecision.ts"
import { othersTurns } from "./AttentionTurns.ts"
import {
  approvedPlans,
  commitsOf,
  openUpdates,
  pausedAt,
  type ShownRunRow,
  shownRuns,
  type SnapshotCommit,
  standingRows,
  waitingPlans
} from "./AttentionRows.ts"
import type { Connection } from "../../../schema/records/Connection.ts"
import type { FailingLane } from "../../ledger/source/SourceLanes.ts"

interface Records {
  /** Connections whose origins a person must confirm. */
  readonly unconfirmed: ReadonlyArray<Connection>
  /** Connections that have expired or expire soon. */
  readonly expiring: ReadonlyArray<Connection>
  /** Connections whose tokens could not be renewed or revoked at the issuer. */
  readonly failing: ReadonlyArray<Connection>
  readonly lanes: ReadonlyArray<FailingLane>
  readonly stuck: ReadonlyArray<StuckWork>
  /** Notice endpoints that svc stopped. */
  readonly stopped: Effect.Success<ReturnType<typeof stoppedEndpoints>>
  /** Time at which automation was paused. */
  readonly pausedAt: string | undefined
}

type About = Omit<AttentionItem, "key" | "group" | "also" | "capsules" | "run" | "commit">

const entry = (id: string, about: About): OpenItem => ({
  key: `${about.kind} ${id}`,
  group: groupOf[about.kind],
  also: [],
  capsules: [],
  ...about
})

const connectionItem = ({ displayName, id }: Connection, about: About): OpenItem =>
  entry(id, { connectionId: id, connectionName: displayName, ...about })

/** Returns items that concern the Workspace instead of one Capsule: Connections, refs of Sources, paused automation. */
const workspaceItems = ({
  expiring,
  failing,
  lanes,
  pausedAt,
  stopped,
  stuck,
  unconfirmed
}: Records): ReadonlyArray<OpenItem> => [
  ...unconfirmed.map((connection) =>
    connectionItem(connection, { kind: "origins_unconfirmed", since: connection.updatedAt })
  ),
  ...expiring.map((connection) =>
    connectionItem(connection, {
      kind: connection.status === "expired" ? "connection_expired" : "connection_expiring",
      since: connection.expiresAt ?? connection.updatedAt
    })
  ),
  ...failing.flatMap((connection): ReadonlyArray<OpenItem> => {
    const fault = connection.oauth?.fault
    if (fault === undefined) return []
    const kind = fault.code === "revocation_failed" ? "connection_unrevoked" : "connection_unrenewed"
    return [connectionItem(connection, { kind, reason: fault.message, since: fault.at })]
  }),
  ...lanes.map(({ path, ref, since, sourceId, sourceName }) =>
    entry(`${sourceId} ${ref} ${path}`, { kind: "lane_failed", sourceId, sourceName, ref, since })
  ),
  ...stuck.map(({ kind, record_id, since }) =>
    entry(`${kind} ${record_id}`, { kind: "work_stuck", work: kind, recordId: record_id, since })
  ),
  ...stopped.map(({ id, name, reason, updated_at }) =>
    entry(id, {
      kind: "notices_stopped",
      noticeEndpointId: id,
      noticeEndpointName: name,
      since: updated_at,
      ...(reason === null ? {} : { reason })
    })
  ),
  ...(pausedAt === undefined ? [] : [entry("", { kind: "automation_paused", since: pausedAt })])
]

const PlanSummaryJson = jsonText(PlanSummary)

export interface AttentionPage {
  readonly items: ReadonlyArray<AttentionItem>
  readonly nextCursor?: string | undefined
  /** Total number of entries on all pages. */
  readonly total: number
  readonly counts: Readonly<Record<AttentionGroup, number>>
  /** The number of entries in `counts` that are waiting for other people. */
  readonly forOthers: Readonly<Record<AttentionGroup, number>>
  readonly health: CapsuleHealth
}

/** Lists the items in a Workspace that need a person's attention, most urgent first. Read-only. */
export class Attention extends Context.Service<
  Attention,
  {
    /** Lists entries that the person can act on before those that are waiting for other people. */
    readonly list: (
      workspaceId: WorkspaceId,
      reader: Reader,
      page: PageRequest
    ) => Effect.Effect<AttentionPage, ApiError>
  }
>()("svc/actors/commands/attention/Attention") {
  static readonly layer = Layer.effect(
    Attention,
    Effect.suspend(() => make)
  )
}

const shownRun = (row: ShownRunRow): NonNullable<AttentionItem["run"]> => ({
  id: row.id,
  type: row.type,
  ...(row.plan_summary === null ? {} : { planSummary: PlanSummaryJson.read(row.plan_summary) }),
  ...(row.plan_digest === null ? {} : { planDigest: row.plan_digest }),
  ...(row.asked_by === null || row.asked_at === null
    ? {}
    : { approvalAsked: { subject: row.asked_by, at: row.asked_at } }),
  ...(row.error_code === null ? {} : { error: { code: row.error_code, message: row.error_message ?? "" } }),
  ...(row.drifted > 0 ? { driftedResources: row.drifted } : {})
})

const described = (commit: SnapshotCommit | undefined) =>
  commit === undefined || commit.commit_description === null
    ? {}
    : { description: CommitDescriptionJson.read(commit.commit_description) }

const countOf = (entries: ReadonlyArray<OpenItem>): Readonly<Record<AttentionGroup, number>> => {
  const counts = { failed: 0, decision: 0, blocked: 0, drifted: 0, update: 0, expiring: 0 }
  for (const { group } of entries) counts[group] += 1
  return counts
}

const make = Effect.gen(function* () {
  const sql = yield* ReadSql
  const cursors = yield* Cursors
  const connections = yield* Connections
  const sources = yield* Sources
  const inDatabase = Effect.provideService(SqlClient.SqlClient, sql)

  const openItems = Effect.fnUntraced(function* (workspaceId: WorkspaceId, reader: Reader) {
    const capsules = yield* standingRows(sql, workspaceId)
    const commits = yield* commitsOf(
      sql,
      capsules.flatMap((row) => newerSnapshot(row) ?? [])
    )
    const { entries, health } = capsuleItems({
      capsules,
      commits,
      waiting: yield* waitingPlans(sql, workspaceId),
      approved: yield* approvedPlans(sql, workspaceId),
      updates: yield* openUpdates(sql, workspaceId)
    })
    const others = workspaceItems({
      unconfirmed: yield* connections.awaitingOrigins(workspaceId),
      expiring: yield* connections.expiring(workspaceId),
      failing: yield* connections.failing(workspaceId),
      lanes: yield* sources.failingLanes(workspaceId),
      stuck: yield* stuckWork(sql, workspaceId),
      stopped: yield* stoppedEndpoints(sql, workspaceId),
      pausedAt: yield* pausedAt(sql, workspaceId)
    })
    const changes = yield* inDatabase(changeItems(workspaceId, reader))
    return { entries: [...entries, ...changes, ...others], health }
  })

  /** Adds the Runs and commits to the entries of one page. */
  const shown = Effect.fnUntraced(function* (entries: ReadonlyArray<OpenItem>) {
    const runs = yield* shownRuns(
      sql,
      entries.flatMap(({ runId }) => runId ?? [])
    )
    const commits = yield* commitsOf(
      sql,
      [...runs.values()].flatMap(({ source_snapshot_id }) => source_snapshot_id ?? [])
    )
    return entries.map(({ newer, runId, ...entry }): AttentionItem => {
      const row = runId === undefined ? undefined : runs.get(runId)
      const of = newer ?? (row?.source_snapshot_id == null ? undefined : commits.get(row.source_snapshot_id))
      const commit =
        of === undefined
          ? row?.resolved_commit == null
            ? undefined
            : { id: row.resolved_commit }
          : { id: of.resolved_commit, sourceId: of.source_id, ...described(of) }
      return {
        ...entry,
        ...(row === undefined ? {} : { run: shownRun(row) }),
        ...(commit === undefined ? {} : { commit })
      }
    })
  })

  const list = Effect.fn("Attention.list")(function* (workspaceId: WorkspaceId, reader: Reader, page: PageRequest) {
    const binding = { route: "dashboard.needs", subject: page.subject ?? "", filter: [workspaceId] }
    const anchor = page.cursor === undefined ? undefined : yield* cursors.decode(binding, page.cursor, 3)
    const { entries: open, health } = yield* openItems(workspaceId, reader)
    const others = yield* inDatabase(othersTurns(workspaceId, open, reader))
    const entries = open.map((entry): OpenItem => (others.has(entry.key) ? { ...entry, waitsForOthers: true } : entry))
    const sorted = entries
      .map((entry) => ({ entry, place: placeOf(entry) }))
      .sort((a, b) => comparePlaces(a.place, b.place))
    const [rank = "", since = "", key = ""] = anchor ?? []
    const rest =
      anchor === undefined ? sorted : sorted.filter(({ place }) => comparePlaces(place, [rank, since, key]) > 0)
    const taken = rest.slice(0, page.limit)
    const last = taken[taken.length - 1]
    return {
      items: yield* shown(taken.map(({ entry }) => entry)),
      total: entries.length,
      counts: countOf(entries),
      forOthers: countOf(entries.filter(({ waitsForOthers }) => waitsForOthers === true)),
      health,
      ...(last === undefined || rest.length <= page.limit
        ? {}
        : { nextCursor: yield* cursors.encode(binding, last.place) })
    }
  })

  return Attention.of({ list })
})
