import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import {
  type CapsuleId,
  PullRequestId,
  type RunId,
  type Subject,
  type WorkspaceId
} from "../../../schema/records/Ids.ts"
import type {
  AttentionGroup,
  AttentionItem,
  AttentionKind,
  CapsuleHealth
} from "../../../schema/records/AttentionItem.ts"
import { PlanSummary } from "../../../schema/records/PlanDetails.ts"
import { ownStanding, type Reader } from "../../access/approval/RunApprovalReads.ts"
import { Connections } from "../../inputs/connection/Connections.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { stuckWork, type StuckWork } from "../../base/DueWork.ts"
import { stoppedEndpoints } from "../../base/notice/NoticeRows.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import type { PageRequest } from "../../base/paging/RowPages.ts"
import { CommitDescriptionJson } from "../../ledger/source/SourceRow.ts"
import { Sources } from "../../ledger/source/Sources.ts"
import { capsuleItems, comparePlaces, groupOf, newerSnapshot, type OpenItem, placeOf } from "./AttentionDecision.ts"
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
import { type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import { ApprovalRuleRow } from "../../access/approval/ApprovalRows.ts"
import { approvedChanges } from "../../access/approval/ApprovedChanges.ts"
import { planApproval } from "../../access/approval/PlanApproval.ts"
import { currentRights } from "../../access/team/CurrentRights.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { capsuleProgress, isStale } from "../../ledger/pull-request-report/CapsuleProgress.ts"
import { PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import type { FailingLane } from "../../ledger/source/SourceLanes.ts"
import { MembershipRow } from "../../ledger/workspace/MembershipRow.ts"

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

/** Maximum number of plans for which the approval rules are evaluated. */
const mostChanges = 200

const Change = rowShape({
  ...Struct.pick(RunRow.columns, [
    "id",
    "type",
    "purpose",
    "capsule_id",
    "source_snapshot_id",
    "created_by",
    "trigger_kind"
  ]),
  ...Struct.pick(CapsuleRow.columns, ["name", "environment"]),
  ...Struct.pick(PullRequestRow.columns, ["number", "title"]),
  pull_request_id: PullRequestId,
  at: Schema.String
})
type Change = RowOf<typeof Change.columns>

const matches = `a.workspace_id = c.workspace_id AND (a.project_id IS NULL OR a.project_id = c.project_id)
  AND (a.environment IS NULL OR a.environment = c.environment)`

/**
 * Selects the plans of open pull requests with a change that people may approve now. Unless a rule carries approvals over to
 * the apply, approving the change has no effect, so no entry asks for an approval.
 */
const changesOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Change.rows(sql)`SELECT r.id, r.type, r.purpose, r.capsule_id, r.source_snapshot_id, r.created_by,
      r.trigger_kind, COALESCE(r.finished_at, r.created_at) AS at, c.name, c.environment, p.id AS pull_request_id,
      p.number, p.title
    FROM pull_requests p JOIN pull_request_capsules j ON j.pull_request_id = p.id AND j.head_commit = p.head_commit
      JOIN runs r ON r.id = j.run_id JOIN capsules c ON c.id = j.capsule_id
    WHERE p.merge_group IS NULL AND p.workspace_id = ${workspaceId} AND p.state = 'open' AND COALESCE(p.draft, 0) = 0 AND j.touched = 1
      AND r.status = 'succeeded' AND r.change_digest IS NOT NULL
      AND EXISTS (SELECT 1 FROM approval_rules a WHERE ${sql.literal(matches)})
      AND NOT EXISTS (SELECT 1 FROM approval_rules a WHERE ${sql.literal(matches)} AND a.carry_over = 'off')
    ORDER BY p.created_at DESC, p.id, c.name, r.id LIMIT ${mostChanges}`
  const progress = yield* capsuleProgress(
    sql,
    [...new Set(rows.map(({ pull_request_id }) => pull_request_id))],
    (ids) => Effect.provideService(approvedChanges(ids), SqlClient.SqlClient, sql)
  )
  const open = new Set(
    progress.flatMap((one) =>
      one.row.run_id !== null && one.verdict === "planned" && !isStale(one) ? [one.row.run_id] : []
    )
  )
  return rows.filter(({ id }) => open.has(id))
}, Effect.orDie)

const byPullRequest = (changes: ReadonlyArray<Change>) => {
  const found = new Map<PullRequestId, Array<Change>>()
  for (const change of changes) {
    found.set(change.pull_request_id, [...(found.get(change.pull_request_id) ?? []), change])
  }
  return found
}

/**
 * Returns one entry for each open pull request with a change that needs approvals. The entry contains the Capsules whose change
 * this person may approve, or else the Capsules that wait for other people.
 */
const changeItems = Effect.fn("changeItems")(function* (workspaceId: WorkspaceId, reader: Reader) {
  const own: Array<Change> = []
  const others: Array<Change> = []
  for (const change of yield* changesOf(workspaceId)) {
    const approval = yield* planApproval(change)
    const { status } = yield* ownStanding(approval, reader)
    if (status === "counts") own.push(change)
    else others.push(change)
  }
  const [ofReader, ofOthers] = [byPullRequest(own), byPullRequest(others)]
  return [...new Set([...ofReader.keys(), ...ofOthers.keys()])].flatMap((id): ReadonlyArray<OpenItem> => {
    const shown = ofReader.get(id) ?? ofOthers.get(id) ?? []
    const [first] = shown
    if (first === undefined) return []
    return [
      {
        key: `waiting_change ${id}`,
        group: "decision",
        kind: "waiting_change",
        also: [],
        since: shown.reduce((latest, { at }) => (at > latest ? at : latest), first.at),
        capsules: shown.flatMap(({ capsule_id, environment, name }) =>
          capsule_id === null ? [] : [{ id: capsule_id, name, environment }]
        ),
        pullRequest: { id, number: first.number, ...(first.title === null ? {} : { title: first.title }) },
        ...(ofReader.has(id) ? {} : { waitsForOthers: true })
      }
    ]
  })
})

/** The lowest role that can act on an entry. The approval rules apply to a plan or change that is waiting for approval. */
const actingRole: Readonly<Record<Exclude<AttentionKind, "waiting_approval" | "waiting_change">, Role>> = {
  unknown_safety: "member",
  failed: "member",
  uncertain_ground: "owner",
  approved: "admin",
  waiting_credential: "admin",
  check_failed: "member",
  update_held: "member",
  lane_failed: "member",
  work_stuck: "admin",
  origins_unconfirmed: "admin",
  connection_expired: "admin",
  connection_unrenewed: "admin",
  connection_unrevoked: "admin",
  notices_stopped: "admin",
  automation_paused: "admin",
  drifted: "member",
  stale: "member",
  update_open: "member",
  connection_expiring: "admin"
}

/** Maximum number of plans for which the approval rules are evaluated. If there are more plans, only the role is checked. */
const mostRuledPlans = 200

const PlaceRow = rowShape(Struct.pick(CapsuleRow.columns, ["id", "project_id", "environment"]))
const PlanRow = rowShape(
  Struct.pick(RunRow.columns, [
    "id",
    "type",
    "purpose",
    "capsule_id",
    "source_snapshot_id",
    "created_by",
    "trigger_kind"
  ])
)

/** Returns the person's role for each Capsule. Roles from teams depend on the Project and the environment. */
const rolesOf = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  subject: Subject,
  capsuleIds: ReadonlyArray<CapsuleId>
) {
  const sql = yield* SqlClient.SqlClient
  const places =
    capsuleIds.length === 0
      ? []
      : yield* PlaceRow.rows(sql)`SELECT id, project_id, environment FROM capsules WHERE ${sql.in("id", capsuleIds)}`
  const byPlace = new Map<string, Role | undefined>()
  const roles = new Map<CapsuleId, Role | undefined>()
  for (const { environment, id, project_id } of places) {
    const key = `${project_id} ${environment}`
    if (!byPlace.has(key)) {
      const rights = yield* currentRights({ workspaceId, projectId: project_id, environment }, [subject])
      byPlace.set(key, rights.get(subject)?.role)
    }
    roles.set(id, byPlace.get(key))
  }
  return roles
}, Effect.orDie)

/** Returns the plans for which the person's approval would count, alone or together with the approvals of others. */
const countingPlans = Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>, reader: Reader) {
  const sql = yield* SqlClient.SqlClient
  const plans =
    runIds.length === 0
      ? []
      : yield* PlanRow.rows(sql)`SELECT id, type, purpose, capsule_id, source_snapshot_id, created_by, trigger_kind
          FROM runs
          WHERE ${sql.in("id", runIds)}`
  const counting = new Set<RunId>()
  for (const plan of plans) {
    const { status } = yield* ownStanding(yield* planApproval(plan), reader)
    if (status === "counts" || status === "not_needed") counting.add(plan.id)
  }
  return counting
}, Effect.orDie)

/** Returns the keys of the entries that are waiting for somebody else, because the person cannot act on them. */
const othersTurns = Effect.fn("othersTurns")(function* (
  workspaceId: WorkspaceId,
  entries: ReadonlyArray<OpenItem>,
  reader: Reader
) {
  const sql = yield* SqlClient.SqlClient
  const [membership] = yield* Effect.orDie(MembershipRow.some(sql, "role")`SELECT role FROM memberships
    WHERE workspace_id = ${workspaceId} AND subject = ${reader.subject} AND status = 'active'`)
  const roles = yield* rolesOf(
    workspaceId,
    reader.subject,
    entries.flatMap(({ capsules }) => capsules.slice(0, 1).map(({ id }) => id))
  )
  const roleFor = ({ capsules: [capsule] }: OpenItem) =>
    (capsule === undefined ? undefined : roles.get(capsule.id)) ?? membership?.role
  const reaches = (entry: OpenItem, needed: Role) => {
    const role = roleFor(entry)
    return role !== undefined && roleAtLeast(role, needed)
  }
  const waiting = entries.flatMap((entry) =>
    entry.kind === "waiting_approval" && entry.runId !== undefined && reaches(entry, "admin") ? [entry.runId] : []
  )
  const rules = yield* Effect.orDie(
    ApprovalRuleRow.some(sql, "id")`SELECT id FROM approval_rules WHERE workspace_id = ${workspaceId} LIMIT 1`
  )
  const ruled = rules.length === 0 ? [] : waiting.slice(0, mostRuledPlans)
  const counting = yield* countingPlans(ruled, reader)
  const isOwn = (entry: OpenItem): boolean => {
    // Members cannot act on an entry whose turn is `operator`.
    if (entry.kind === "waiting_change") return entry.waitsForOthers !== true
    if (entry.turn === "operator") return false
    if (entry.turn !== undefined) return reaches(entry, entry.turn)
    if (entry.kind !== "waiting_approval") return reaches(entry, actingRole[entry.kind])
    if (!reaches(entry, "admin")) return false
    return entry.runId === undefined || !ruled.includes(entry.runId) || counting.has(entry.runId)
  }
  return new Set(entries.flatMap((entry) => (isOwn(entry) ? [] : [entry.key])))
})

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
