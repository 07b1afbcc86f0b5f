import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { RepositoryHeads } from "../../../runner/git/PullRequestRefs.ts"
import { runErrorCode } from "../../inputs/git/LaneFetch.ts"
import type { LaneUnavailable } from "../../inputs/git/LaneUnavailable.ts"
import { makeRepositoryReads } from "../../inputs/git/RepositoryReads.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { type DueLook, PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { seenInRefs } from "../../ledger/pull-request/SeenPullRequests.ts"
import { baseRefOf } from "../../ledger/pull-request/BaseLane.ts"

const codeOf = (error: { readonly _tag: string } | LaneUnavailable) =>
  "code" in error ? error.code : runErrorCode(error._tag)

/** Returns true if a look may take effect: the Source follows its repository, and reviews its pull requests. */
const isWanted = (source: SourceRow | undefined): source is SourceRow =>
  source !== undefined && followObstacle(source, "schedule") === undefined && source.pull_requests !== "off"

/**
 * Looks at the repository of a Source for its pull requests, one look at a time. Webhooks and the schedule only ask for a look:
 * everything is read from the repository, so that lost, late, repeated and reordered webhooks lead to the same records.
 */
export class PullRequestLooks extends Context.Service<
  PullRequestLooks,
  {
    /** Takes the look, and marks the pull requests that it changed. */
    readonly take: (look: DueLook) => Effect.Effect<void>
  }
>()("svc/actors/commands/pull-request/PullRequestLooks") {
  static readonly layer = Layer.effect(
    PullRequestLooks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sources = yield* SourceStore
      const store = yield* PullRequestStore
      const work = yield* DueWork
      const reads = yield* makeRepositoryReads

      /** Reads the newest commits of the base only if a head could have been merged into it. */
      const ancestorsOf = Effect.fnUntraced(function* (
        source: SourceRow,
        heads: RepositoryHeads,
        base: string | undefined
      ) {
        const commit = base === undefined ? undefined : heads.branches.get(base)
        if (commit === undefined || heads.pullRequests.length === 0) return []
        const known = yield* store.known(source.id)
        const isOpen = new Map(known.map((row) => [row.number, row]))
        const isSettled = heads.pullRequests.every(({ commit: head, number }) => {
          const row = isOpen.get(number)
          return row !== undefined && row.head_commit === head && (row.state !== "open" || row.base_commit === commit)
        })
        return isSettled ? [] : yield* reads.ancestors(source, commit)
      })

      const read = Effect.fnUntraced(function* (source: SourceRow) {
        const heads = yield* reads.heads(source)
        const base = baseRefOf(source.default_ref, heads)
        return { heads, base, ancestors: new Set(yield* ancestorsOf(source, heads, base)) }
      })

      const take = Effect.fn("PullRequestLooks.take")(function* (look: DueLook) {
        const source = yield* sources.find(look.id)
        if (!isWanted(source)) return yield* transaction(sql)(store.dropped(look))
        const found = yield* Effect.result(read(source))
        const settle = Effect.gen(function* () {
          // Reads the Source again, because it may have been stopped, or got another base, while the repository was read.
          const current = yield* sources.find(look.id)
          if (!isWanted(current) || current.default_ref !== source.default_ref) return yield* store.dropped(look)
          if (found._tag === "Failure") {
            return yield* store.failed(look, { code: codeOf(found.failure), message: found.failure.message })
          }
          const { ancestors, base, heads } = found.success
          const fromNumber = (yield* store.look(look.id))?.from_number ?? heads.pullRequests[0]?.number ?? 0
          const known = yield* store.known(look.id)
          yield* store.looked(look, {
            sighting: seenInRefs({ heads, base, ancestors, fromNumber, known }),
            defaultBranch: heads.defaultBranch ?? null,
            fromNumber
          })
        })
        yield* transaction(sql)(settle)
        yield* work.wake
      })

      return PullRequestLooks.of({ take })
    })
  )
}
