import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type CapsuleId, PullRequestId, SourceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { ModuleChange } from "../../../runner/scan/ModuleChange.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { type ChangesOf, rowShape } from "../../base/database/Table.ts"
import { newId, now } from "../../base/Identity.ts"
import type { SourceRow } from "../source/SourceRow.ts"
import { ListedPullRequest, PullRequestCapsuleRow, PullRequestLookRow, PullRequestRow } from "./PullRequestRow.ts"
import { isSamePullRequest } from "./SamePullRequest.ts"
import { mergeGroupChanges, type Queues } from "./MergeGroups.ts"
import { pullRequestChanges, type Sighting, unread } from "./SeenPullRequests.ts"
import { markReport } from "../pull-request-report/ReportMarks.ts"

/** Time between two scheduled polls. It doubles after each failure, up to about five hours. */
const lookMillis = Duration.toMillis(Duration.minutes(5))
const mostDoublings = 6
/**
 * Maximum number of waiting pull requests that a poll marks as due. A poll marks some in case no Run has ended that would
 * have marked them.
 */
const mostMarked = 4

type Followed = Pick<SourceRow, "id" | "workspace_id">

/** A poll that is due. `asked` is the number of requests that the poll satisfies. */
const DueLook = rowShape({ id: SourceId, workspace_id: WorkspaceId, asked: Schema.Int })
export type DueLook = { readonly id: SourceId; readonly workspace_id: WorkspaceId; readonly asked: number }

/** A pull request with a step that is due. */
const DuePullRequest = rowShape({ id: PullRequestId, workspace_id: WorkspaceId })

const Found = rowShape({ id: SourceId, workspace_id: WorkspaceId })

/** The result of one poll. */
interface Seen {
  readonly sighting: Sighting
  readonly defaultBranch: string | null
  readonly fromNumber: number
  /** Present if the forge could not be read. */
  readonly forgeFault: string | undefined
  /**
   * The commits of the repository's merge queues. If `undefined`, the commits are unknown and svc keeps the recorded ones.
   */
  readonly queues: Queues | undefined
  /** The repository at its forge, if the poll has read it there. */
  readonly repository: string | undefined
}

/** The effect of a head on a Capsule. */
export interface CapsuleJudgement {
  readonly capsuleId: CapsuleId
  readonly change: ModuleChange
}

/**
 * The only writer of `pull_requests`, `pull_request_capsules` and `pull_request_looks`. Every method works in the caller's
 * transaction.
 */
export class PullRequestStore extends Context.Service<
  PullRequestStore,
  {
    /** Requests a poll of the repository. */
    readonly ask: (source: Followed) => Effect.Effect<void>
    /** Returns true if `askDue` may find a poll. Needs no transaction. */
    readonly isAnyDue: Effect.Effect<boolean>
    /** Requests the scheduled polls that are due. Returns `false` if there are none. */
    readonly askDue: Effect.Effect<boolean>
    /** The Sources with a requested poll. */
    readonly dueLooks: Effect.Effect<ReadonlyArray<DueLook>>
    readonly look: (sourceId: SourceId) => Effect.Effect<PullRequestLookRow | undefined>
    /** Records a poll, and marks every pull request with a new head. */
    readonly looked: (look: DueLook, seen: Seen) => Effect.Effect<void>
    /** Records that the repository could not be read. */
    readonly failed: (look: DueLook, error: { readonly code: string; readonly message: string }) => Effect.Effect<void>
    /** Ends a poll that is no longer valid. The poll has no effect. */
    readonly dropped: (look: DueLook) => Effect.Effect<void>
    /** Marks every open pull request of the Source, because its rule has changed. */
    readonly judgeAgain: (sourceId: SourceId) => Effect.Effect<void>
    /** Closes every pull request of a removed Source, and stops the polls. */
    readonly close: (sourceId: SourceId) => Effect.Effect<void>
    readonly due: Effect.Effect<ReadonlyArray<{ readonly id: PullRequestId; readonly workspace_id: WorkspaceId }>>
    /** Records the repository of a Source's pull requests at its forge. */
    readonly located: (sourceId: SourceId, repository: string) => Effect.Effect<void>
    readonly find: (id: PullRequestId) => Effect.Effect<PullRequestRow | undefined>
    /** Returns the pull requests of a Source, but not its merge groups. */
    readonly known: (sourceId: SourceId) => Effect.Effect<ReadonlyArray<ListedPullRequest>>
    /** Returns the commits that merge queues of the Source have tested or are testing. */
    readonly groups: (sourceId: SourceId) => Effect.Effect<ReadonlyArray<ListedPullRequest>>
    readonly update: (id: PullRequestId, columns: ChangesOf<typeof PullRequestRow>) => Effect.Effect<void>
    /** Marks the pull request, so that a step is due. */
    readonly mark: (id: PullRequestId) => Effect.Effect<void>
    /** Clears the mark in `row`. If the pull request has been marked again since `row` was read, the new mark remains. */
    readonly served: (row: Pick<PullRequestRow, "id" | "due">) => Effect.Effect<void>
    /** Marks open pull requests of the Source that are waiting for their turn, at most `places` of them, oldest first. */
    readonly nextInTurn: (sourceId: SourceId, places: number) => Effect.Effect<void>
    readonly capsules: (id: PullRequestId) => Effect.Effect<ReadonlyArray<PullRequestCapsuleRow>>
    /** Replaces the results for an earlier head. */
    readonly judged: (row: PullRequestRow, capsules: ReadonlyArray<CapsuleJudgement>) => Effect.Effect<void>
    /** Marks the current head's plans as given up, so that svc may plan the head again. */
    readonly unplanned: (row: Pick<PullRequestRow, "id" | "attempt">) => Effect.Effect<void>
    readonly planned: (
      row: Pick<PullRequestCapsuleRow, "pull_request_id" | "capsule_id">,
      columns: Pick<ChangesOf<typeof PullRequestCapsuleRow>, "run_id" | "refusal_code" | "refusal_message">
    ) => Effect.Effect<void>
  }
>()("svc/actors/ledger/pull-request/PullRequestStore") {
  static readonly layer = Layer.effect(
    PullRequestStore,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom

  const later = (millis: number) => Effect.map(Clock.currentTimeMillis, (at) => new Date(at + millis).toISOString())

  const ask = Effect.fnUntraced(function* ({ id, workspace_id }: Followed) {
    yield* sql`INSERT INTO pull_request_looks ${PullRequestLookRow.values(sql, { source_id: id, workspace_id })}
      ON CONFLICT DO NOTHING`
    yield* sql`UPDATE pull_request_looks SET asked = asked + 1 WHERE source_id = ${id}`
  }, Effect.orDie)

  const dueSources = Effect.gen(function* () {
    const at = yield* now
    // A poll scheduled later than the longest delay was recorded before the clock was corrected.
    const latest = yield* later(lookMillis * 2 ** mostDoublings)
    return yield* Found.rows(sql)`SELECT s.id, s.workspace_id FROM sources s
      JOIN workspaces w ON w.id = s.workspace_id AND w.archived_at IS NULL
      LEFT JOIN pull_request_looks l ON l.source_id = s.id
      WHERE s.auto_sync = 1 AND s.status <> 'disabled' AND s.removed_at IS NULL AND s.pull_requests <> 'off'
        AND (COALESCE(l.next_at, '') <= ${at} OR l.next_at > ${latest})
        AND COALESCE(l.asked, 0) = COALESCE(l.taken, 0) ORDER BY s.id`
  }).pipe(Effect.orDie)

  const askDue = Effect.gen(function* () {
    const due = yield* dueSources
    for (const source of due) yield* ask(source)
    return due.length > 0
  }).pipe(Effect.orDie)

  const settle = Effect.fnUntraced(function* (look: DueLook, columns: ChangesOf<typeof PullRequestLookRow>) {
    yield* sql`UPDATE pull_request_looks SET ${PullRequestLookRow.changes(sql, { ...columns, taken: look.asked })}
      WHERE source_id = ${look.id}`
  }, Effect.orDie)

  const lookRow = Effect.fnUntraced(function* (sourceId: SourceId) {
    const [row] = yield* PullRequestLookRow.rows(sql)`SELECT * FROM pull_request_looks WHERE source_id = ${sourceId}`
    return row
  }, Effect.orDie)

  const listed = sql.literal(Object.keys(ListedPullRequest.columns).join(", "))

  const known = (sourceId: SourceId) =>
    Effect.orDie(
      ListedPullRequest.rows(sql)`SELECT ${listed} FROM pull_requests
        WHERE source_id = ${sourceId} AND merge_group IS NULL ORDER BY number`
    )

  const groups = (sourceId: SourceId) =>
    Effect.orDie(
      ListedPullRequest.rows(sql)`SELECT ${listed} FROM pull_requests
        WHERE source_id = ${sourceId} AND merge_group IS NOT NULL ORDER BY number`
    )

  const update = Effect.fnUntraced(function* (id: PullRequestId, columns: ChangesOf<typeof PullRequestRow>) {
    yield* sql`UPDATE pull_requests SET ${PullRequestRow.changes(sql, columns)} WHERE id = ${id}`
  }, Effect.orDie)

  const mark = (id: PullRequestId) =>
    Effect.asVoid(Effect.orDie(sql`UPDATE pull_requests SET due = due + 1 WHERE id = ${id}`))

  const located = (sourceId: SourceId, repository: string) =>
    Effect.asVoid(
      Effect.orDie(sql`UPDATE pull_requests SET repository = ${repository}
        WHERE source_id = ${sourceId} AND (repository IS NULL OR repository <> ${repository})`)
    )

  const appear = Effect.fnUntraced(function* (
    look: DueLook,
    one: Pick<PullRequestRow, "fork" | "head_commit" | "number" | "ref"> & ChangesOf<typeof PullRequestRow>
  ) {
    const at = yield* now
    yield* sql`INSERT INTO pull_requests ${PullRequestRow.values(sql, {
      ...one,
      id: yield* newId(PullRequestId, "pr").pipe(Effect.provideService(SecureRandom.SecureRandom, random)),
      workspace_id: look.workspace_id,
      source_id: look.id,
      state: "open",
      last_seen_at: at,
      created_at: at,
      due: 1
    })}`
  }, Effect.orDie)

  /** Records the commits of the merge queues. Call it after the pull requests have been recorded. */
  const queueLooked = Effect.fnUntraced(function* (look: DueLook, queues: Queues) {
    const at = yield* now
    const { appeared, changed, gone } = mergeGroupChanges(yield* groups(look.id), queues, yield* known(look.id))
    for (const one of appeared) yield* appear(look, one)
    for (const { isDue, isMoved, row, to } of changed) {
      yield* update(row.id, { ...to, ...(isMoved ? { ...unread, review: null, state: "open", closed_at: null } : {}) })
      if (isDue) yield* mark(row.id)
    }
    for (const { id } of gone) {
      yield* update(id, { state: "closed", closed_at: at })
      yield* mark(id)
    }
  })

  /** Requests a poll by the other Sources of the repository that have not seen the present heads. */
  const askOthers = (sourceId: SourceId) =>
    Effect.orDie(sql`UPDATE pull_request_looks SET asked = asked + 1 WHERE source_id IN (
      SELECT q.source_id FROM pull_requests p JOIN pull_requests q ON ${sql.literal(isSamePullRequest)}
        WHERE p.source_id = ${sourceId} AND q.source_id <> ${sourceId} AND p.state = 'open'
          AND (q.head_commit <> p.head_commit OR q.state <> p.state))`)

  const looked = Effect.fnUntraced(function* (look: DueLook, seen: Seen) {
    const at = yield* now
    const { appeared, changed } = pullRequestChanges(yield* known(look.id), seen.sighting, at)
    for (const one of appeared) yield* appear(look, one)
    for (const { isDue, row, to } of changed) {
      const isOther = Object.entries(to).some(([name, value]) => Reflect.get(row, name) !== value)
      const isSame = to.head_commit === row.head_commit && to.base_branch === row.base_branch && row.state === "open"
      const isRead = to.head_commit === undefined || isSame
      if (isOther) yield* update(row.id, { ...to, ...(isRead ? {} : { review: null }) })
      if (isDue) yield* mark(row.id)
    }
    if (seen.queues !== undefined) yield* queueLooked(look, seen.queues)
    if (seen.repository !== undefined) yield* located(look.id, seen.repository)
    if (changed.some(({ isDue }) => isDue)) yield* askOthers(look.id)
    yield* nextInTurn(look.id, mostMarked)
    yield* sql`UPDATE pull_requests SET last_seen_at = ${at} WHERE source_id = ${look.id} AND state = 'open'`
    const before = yield* later(-Duration.toMillis(retention.pullRequestReview.after))
    yield* sql`DELETE FROM pull_requests WHERE source_id = ${look.id} AND merge_group IS NOT NULL AND closed_at < ${before}`
    yield* sql`UPDATE pull_requests SET review = NULL
      WHERE source_id = ${look.id} AND review IS NOT NULL AND closed_at < ${before}`
    yield* settle(look, {
      next_at: yield* later(lookMillis),
      failures: 0,
      last_look_at: at,
      default_branch: seen.defaultBranch,
      from_number: seen.fromNumber,
      left_out: seen.sighting.leftOut,
      error_code: seen.forgeFault === undefined ? null : "forge_unavailable",
      error_message: seen.forgeFault ?? null
    })
  }, Effect.orDie)

  const failed = Effect.fnUntraced(function* (
    look: DueLook,
    { code, message }: { readonly code: string; readonly message: string }
  ) {
    const failures = ((yield* lookRow(look.id))?.failures ?? 0) + 1
    yield* settle(look, {
      next_at: yield* later(lookMillis * 2 ** Math.min(failures - 1, mostDoublings)),
      failures,
      error_code: code,
      error_message: message
    })
  })

  const judgeAgain = (sourceId: SourceId) =>
    Effect.asVoid(
      Effect.orDie(sql`UPDATE pull_requests SET due = due + 1 WHERE source_id = ${sourceId} AND state = 'open'`)
    )

  const close = Effect.fnUntraced(function* (sourceId: SourceId) {
    yield* sql`DELETE FROM pull_request_looks WHERE source_id = ${sourceId}`
    yield* sql`UPDATE pull_requests SET state = 'closed', closed_at = ${yield* now}, due = due + 1
      WHERE source_id = ${sourceId} AND state = 'open'`
  }, Effect.orDie)

  const find = Effect.fnUntraced(function* (id: PullRequestId) {
    const [row] = yield* PullRequestRow.rows(sql)`SELECT * FROM pull_requests WHERE id = ${id}`
    return row
  }, Effect.orDie)

  const served = ({ due, id }: Pick<PullRequestRow, "id" | "due">) =>
    Effect.asVoid(
      Effect.orDie(sql`UPDATE pull_requests SET due = CASE WHEN due = ${due} THEN 0 ELSE due END WHERE id = ${id}`)
    )

  const nextInTurn = (sourceId: SourceId, places: number) =>
    Effect.asVoid(
      Effect.orDie(sql`UPDATE pull_requests SET due = due + 1 WHERE due = 0 AND id IN (
        SELECT p.id FROM pull_requests p WHERE p.source_id = ${sourceId} AND p.state = 'open' AND p.due = 0
          AND (p.sync_run_id IS NULL OR EXISTS (SELECT 1 FROM pull_request_capsules c WHERE c.pull_request_id = p.id
            AND c.head_commit = p.head_commit AND c.touched = 1 AND c.run_id IS NULL AND c.refusal_code IS NULL))
        ORDER BY p.number LIMIT ${places})`)
    )

  const capsules = (id: PullRequestId) =>
    Effect.orDie(
      PullRequestCapsuleRow.rows(sql)`SELECT * FROM pull_request_capsules WHERE pull_request_id = ${id}
        ORDER BY capsule_id`
    )

  const judged = Effect.fnUntraced(function* (row: PullRequestRow, judgements: ReadonlyArray<CapsuleJudgement>) {
    yield* sql`DELETE FROM pull_request_capsules WHERE pull_request_id = ${row.id}`
    for (const { capsuleId, change } of judgements) {
      yield* sql`INSERT INTO pull_request_capsules ${PullRequestCapsuleRow.values(sql, {
        pull_request_id: row.id,
        capsule_id: capsuleId,
        head_commit: row.head_commit,
        touched: change.kind === "touched" ? 1 : 0,
        because: change.kind === "touched" ? change.because : null
      })}`
    }
    yield* markReport(sql, row.id)
  }, Effect.orDie)

  const planned = Effect.fnUntraced(function* (
    { capsule_id, pull_request_id }: Pick<PullRequestCapsuleRow, "pull_request_id" | "capsule_id">,
    columns: Pick<ChangesOf<typeof PullRequestCapsuleRow>, "run_id" | "refusal_code" | "refusal_message">
  ) {
    yield* sql`UPDATE pull_request_capsules SET ${PullRequestCapsuleRow.changes(sql, columns)}
      WHERE pull_request_id = ${pull_request_id} AND capsule_id = ${capsule_id}`
    yield* markReport(sql, pull_request_id)
  }, Effect.orDie)

  const unplanned = Effect.fnUntraced(function* ({ attempt, id }: Pick<PullRequestRow, "id" | "attempt">) {
    yield* sql`UPDATE pull_request_capsules SET run_id = NULL, refusal_code = NULL, refusal_message = NULL
      WHERE pull_request_id = ${id}`
    yield* update(id, { attempt: attempt + 1 })
  }, Effect.orDie)

  return PullRequestStore.of({
    ask,
    isAnyDue: Effect.map(dueSources, ({ length }) => length > 0),
    askDue,
    dueLooks: Effect.orDie(
      DueLook.rows(sql)`SELECT source_id AS id, workspace_id, asked FROM pull_request_looks
        WHERE asked <> taken ORDER BY source_id`
    ),
    look: lookRow,
    looked,
    failed,
    dropped: (look) => settle(look, {}),
    judgeAgain,
    close,
    located,
    due: Effect.orDie(
      DuePullRequest.rows(sql)`SELECT id, workspace_id FROM pull_requests WHERE due > 0
        UNION SELECT p.id, p.workspace_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id
          JOIN pull_requests p ON p.id = r.coordinator_id WHERE r.coordinator_kind = 'pull_request' ORDER BY id`
    ),
    find,
    known,
    groups,
    update,
    mark,
    served,
    nextInTurn,
    capsules,
    judged,
    unplanned,
    planned
  })
})
