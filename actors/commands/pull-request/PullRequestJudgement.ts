import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { StaticChecks } from "../../../runner/execution/StaticChecks.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { reviewModule } from "../../../runner/scan/ModuleReviewer.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import type { ModuleReview, StaticReview, ToolCheck } from "../../../schema/records/StaticReview.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { now } from "../../base/Identity.ts"
import { makeRepositoryReads } from "../../inputs/git/RepositoryReads.ts"
import type { FetchedBy } from "../../inputs/git/FetchCredentials.ts"
import { StoredCommits } from "../../inputs/git/StoredCommits.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { laneRefsOf } from "../../ledger/pull-request/BaseLane.ts"
import { groupIsFork, mergeGroup } from "../../ledger/pull-request/MergeGroups.ts"
import {
  MergeGroupJson,
  type PullRequestRow,
  StaticReviewJson,
  unfollowedBase
} from "../../ledger/pull-request/PullRequestRow.ts"
import { type CapsuleJudgement, PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { SnapshotRow, type SourceRow } from "../../ledger/source/SourceRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { contentOf, PathFilters } from "../../ledger/staleness/PathFilters.ts"

/** Maximum number of modules in a review. */
const mostModules = 20

/** The Capsules that one head affects and the changes to their modules, or the reason why svc cannot determine them. */
type Judgement =
  | {
      readonly kind: "judged"
      readonly review: StaticReview
      readonly capsules: ReadonlyArray<CapsuleJudgement>
      /** The commit and its newest ancestors. */
      readonly history: ReadonlyArray<string>
    }
  | { readonly kind: "unread"; readonly code: string; readonly message: string }

const notRun: ToolCheck = { status: "not_run" }
const unchecked = { validation: notRun, formatting: notRun }

/**
 * Determines which Capsules the head of a pull request affects, and how it changes their modules. Only reads snapshots; it
 * never runs code from the head and decrypts nothing.
 */
export class PullRequestJudgement extends Context.Service<
  PullRequestJudgement,
  {
    /** Compares the head with its base. Must be called outside a transaction. */
    readonly of: (row: PullRequestRow, source: SourceRow) => Effect.Effect<Judgement>
    /** Stores the result in the caller's transaction. */
    readonly record: (row: PullRequestRow, judgement: Judgement) => Effect.Effect<void>
  }
>()("svc/actors/commands/pull-request/PullRequestJudgement") {
  static readonly layer = Layer.effect(
    PullRequestJudgement,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(StaticChecks.layer))
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const store = yield* PullRequestStore
  const sources = yield* SourceStore
  const archives = yield* SnapshotStore
  const commits = yield* StoredCommits
  const filters = yield* PathFilters
  const scanner = yield* ModuleScanner
  const reads = yield* makeRepositoryReads
  const checks = yield* StaticChecks

  const capsulesOf = (source: SourceRow, refs: ReadonlyArray<string>) =>
    Effect.orDie(CapsuleRow.rows(sql)`SELECT * FROM capsules WHERE source_id = ${source.id}
      AND ${sql.in("adopted_ref", refs)} AND adopted_path = ${source.default_path}
      AND ${sql.literal(livingCapsule())} ORDER BY created_at, id`)

  /** Finds the newest commit of the base that has a snapshot. `newest` lists the commits in order. */
  const baseSnapshot = Effect.fnUntraced(function* (
    source: SourceRow,
    refs: ReadonlyArray<string>,
    newest: ReadonlyArray<string>
  ) {
    const rows =
      newest.length === 0
        ? []
        : yield* Effect.orDie(SnapshotRow.rows(sql)`SELECT * FROM source_snapshots WHERE source_id = ${source.id}
            AND ${sql.in("ref", refs)} AND path = ${source.default_path} AND ${sql.in("resolved_commit", newest)}
            ORDER BY created_at, id`)
    const byCommit = new Map(rows.map((row) => [row.resolved_commit, row]))
    const [known] = newest.flatMap((commit) => byCommit.get(commit) ?? [])
    if (known !== undefined) return known
    for (const ref of refs) {
      const current = yield* sources.currentSnapshot(source.id, ref, source.default_path)
      if (current !== undefined) return current
    }
    return undefined
  })

  const treeOf = Effect.fnUntraced(function* (by: FetchedBy, snapshot: SnapshotRow) {
    yield* commits.ensure(by, snapshot)
    return {
      tree: yield* archives.open(snapshot.archive_digest),
      digests: yield* archives.digests(snapshot.archive_digest)
    }
  })

  const reviewOf = Effect.fnUntraced(
    function* (row: PullRequestRow, base: SnapshotRow, head: SnapshotRow, paths: ReadonlyArray<string>) {
      const by = {
        workspace_id: row.workspace_id,
        source_id: row.source_id,
        created_by: null,
        trigger_kind: "schedule",
        coordinator_kind: "pull_request"
      } as const
      const before = yield* treeOf(by, base)
      const after = yield* treeOf(by, head)
      const read = yield* Effect.forEach(paths.slice(0, mostModules), (path) => reviewModule(before, after, path))
      const checked = yield* checks.of(
        head.archive_digest,
        read.map(({ obstacle, review }) => ({ path: review.path, obstacle }))
      )
      const modules = read.map(
        ({ review }): ModuleReview => ({ ...review, ...(checked.get(review.path) ?? unchecked) })
      )
      return {
        commit: row.head_commit,
        baseCommit: base.resolved_commit,
        at: yield* now,
        modules,
        more: Math.max(0, paths.length - mostModules)
      } satisfies StaticReview
    },
    Effect.provideService(ModuleScanner, scanner)
  )

  const of = Effect.fn("PullRequestJudgement.of")(
    function* (row: PullRequestRow, source: SourceRow) {
      const head = yield* sources.findSnapshot(row.head_snapshot_id)
      const { default_branch: defaultBranch = null } = (yield* store.look(source.id)) ?? {}
      const refs = row.base_branch === null ? [] : laneRefsOf(row.base_branch, defaultBranch)
      const history = yield* Effect.orElseSucceed(reads.ancestors(source, row.head_commit), () => [])
      const base = refs.length === 0 ? undefined : yield* baseSnapshot(source, refs, history)
      if (base === undefined && refs.length > 0 && (yield* capsulesOf(source, refs)).length === 0) {
        return {
          kind: "unread",
          code: unfollowedBase,
          message: `No Capsule follows the base ${row.base_branch}.`
        } as const
      }
      if (head === undefined || base === undefined) {
        return {
          kind: "unread",
          code: "base_unread",
          message: `svc has no snapshot of the base${row.base_branch === null ? "" : ` ${row.base_branch}`}. The head is reviewed when the Source has been synced.`
        } as const
      }
      const capsules = yield* capsulesOf(source, refs)
      const judged: Array<CapsuleJudgement> = []
      for (const capsule of capsules) {
        const { id, install_config_id, module_path } = capsule
        if (install_config_id === null) continue
        const change = yield* filters.between({ install_config_id, module_path }, contentOf(base), contentOf(head))
        judged.push({ capsuleId: id, change })
      }
      const paths = [...new Set(capsules.map((capsule) => capsule.module_path))].sort()
      return { kind: "judged", review: yield* reviewOf(row, base, head, paths), capsules: judged, history } as const
    },
    Effect.catch((error) =>
      Effect.succeed({ kind: "unread", code: "review_failed", message: error.message } satisfies Judgement)
    )
  )

  /** Finds the pull requests of a queued commit, and determines whether all of them belong to this repository. */
  const groupOf = Effect.fnUntraced(function* (row: PullRequestRow, history: ReadonlyArray<string>) {
    const numbers = mergeGroup(row, yield* store.groups(row.source_id), history)
    if (numbers === undefined) return { fork: "yes" } as const
    const fork = groupIsFork(numbers, yield* store.known(row.source_id))
    return { fork, merge_group: MergeGroupJson.write(numbers) }
  })

  const record = Effect.fnUntraced(function* (row: PullRequestRow, judgement: Judgement) {
    if (judgement.kind === "unread") {
      yield* store.update(row.id, { error_code: judgement.code, error_message: judgement.message })
      // Removes the result for an earlier base, because it no longer applies.
      return yield* store.judged(row, [])
    }
    yield* store.update(row.id, {
      review: StaticReviewJson.write(judgement.review),
      error_code: null,
      error_message: null,
      ...(row.merge_group === null ? {} : yield* groupOf(row, judgement.history))
    })
    yield* store.judged(row, judgement.capsules)
  })

  return PullRequestJudgement.of({ of, record })
})
