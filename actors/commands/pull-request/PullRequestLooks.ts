import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Forge } from "../../../runner/forge/Forge.ts"
import type { ForgePullRequest, ForgeRepository } from "../../../schema/records/Forge.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"
import { provided } from "../../base/Provided.ts"
import { ForgeConnectionUnusable, type ForgePlace, openForge } from "../../inputs/connection/ForgeConnections.ts"
import type { ListedPullRequest } from "../../ledger/pull-request/PullRequestRow.ts"
import type { RepositoryHeads } from "../../../runner/git/PullRequestRefs.ts"
import { runErrorCode } from "../../inputs/git/LaneFetch.ts"
import type { LaneUnavailable } from "../../inputs/git/LaneUnavailable.ts"
import { makeRepositoryReads } from "../../inputs/git/RepositoryReads.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { DueWork } from "../../base/DueWork.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { type DueLook, PullRequestStore } from "../../ledger/pull-request/PullRequestStore.ts"
import { type Ended, seenInRefs, seenOnForge } from "../../ledger/pull-request/SeenPullRequests.ts"
import type { Queues } from "../../ledger/pull-request/MergeGroups.ts"
import { repositoryKey, repositoryOfOther } from "../../ledger/pull-request/SamePullRequest.ts"
import { baseRefOf } from "../../ledger/pull-request/BaseLane.ts"

const codeOf = (error: { readonly _tag: string } | LaneUnavailable) =>
  "code" in error ? error.code : runErrorCode(error._tag)

/** Maximum number of requests per poll for the outcomes of pull requests that are no longer open. */
const mostAsked = 20

const noQueues: Queues = { branches: new Map(), queued: [] }

/** Returns true if a poll may take effect, that is, if the Source follows its repository and reviews pull requests. */
const isWanted = (source: SourceRow | undefined): source is SourceRow =>
  source !== undefined && followObstacle(source, "schedule") === undefined && source.pull_requests !== "off"

/**
 * Polls the repository of a Source for pull requests, one poll at a time. Webhooks and the schedule only request a poll. All
 * data comes from the repository, so lost, late, repeated and reordered webhooks lead to the same records.
 */
export class PullRequestLooks extends Context.Service<
  PullRequestLooks,
  {
    /** Performs the poll, and marks the pull requests whose records it changed. */
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
      const forge = yield* Forge
      const open = yield* provided(openForge)
      const killPoint = yield* KillPoint

      /**
       * Cache of the newest commits of each Source's base, valid for one base commit. Without the cache, every poll would
       * read them again for pull requests that were closed before the first poll, because forges keep the refs of such pull
       * requests.
       */
      const histories = new Map<SourceId, { readonly commit: string; readonly ancestors: ReadonlyArray<string> }>()

      /** Reads the newest commits of the base once, and only if one of them may be the merge of a head. */
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
        if (isSettled) return []
        const read = histories.get(source.id)
        if (read?.commit === commit) return read.ancestors
        const ancestors = yield* reads.ancestors(source, commit)
        if (histories.get(source.id)?.commit !== commit) histories.set(source.id, { commit, ancestors })
        return ancestors
      })

      /**
       * Asks the forge for the outcome of each known pull request that is missing from the forge's list of open pull
       * requests, up to a limit.
       */
      const endedOf = Effect.fnUntraced(function* (
        place: ForgePlace,
        repository: ForgeRepository,
        missing: ReadonlyArray<ListedPullRequest>
      ) {
        const ended = new Map<number, Ended>()
        const open: Array<ForgePullRequest> = []
        for (const { number } of missing.slice(0, mostAsked)) {
          const found = yield* forge
            .pullRequest(place.access, repository, number)
            .pipe(
              Effect.catch((error) => (error.reason === "missing" ? Effect.succeed(undefined) : Effect.fail(error)))
            )
          if (found?.state === "open") open.push(found)
          else ended.set(number, { state: found?.state ?? "closed", merge_commit: found?.mergeCommit ?? null })
        }
        return { ended, open }
      })

      /** Reads the open pull requests from the forge, if the Source has a Connection to it. */
      const readForge = Effect.fnUntraced(function* (source: SourceRow, heads: RepositoryHeads) {
        const place = yield* open(source)
        if (place === undefined) return undefined
        const repository = yield* forge.repository(place.access, place.path)
        const { complete, pullRequests } = yield* forge.openPullRequests(place.access, repository)
        const listed = new Set(pullRequests.map(({ number }) => number))
        const isMissing = (row: ListedPullRequest) => row.state === "open" && !listed.has(row.number)
        const missing = (yield* store.known(source.id)).filter(isMissing)
        if (!complete && missing.length > mostAsked) {
          return yield* new ForgeConnectionUnusable({ message: "The repository has too many open pull requests." })
        }
        const asked = yield* endedOf(place, repository, missing)
        const { kind } = place.access
        const sighting = seenOnForge({
          kind,
          repositoryId: repository.id,
          open: [...pullRequests, ...asked.open],
          heads,
          ended: asked.ended
        })
        // Only GitHub uses these names for merge queue branches. On other forges, branches with these names are ordinary
        // branches.
        const key = repositoryKey(place.access, repository.id)
        return { sighting, queues: kind === "github" ? heads : noQueues, repository: key }
      })

      /** Reads the repository. If the forge is unreachable, uses only the refs. */
      const read = Effect.fnUntraced(function* (source: SourceRow) {
        const heads = yield* reads.heads(source)
        const base = baseRefOf(source.default_ref, heads)
        const onForge = yield* Effect.result(readForge(source, heads))
        if (onForge._tag === "Success" && onForge.success !== undefined) {
          return { heads, base, onForge: onForge.success, ancestors: new Set<string>(), fault: undefined }
        }
        const ancestors = new Set(yield* ancestorsOf(source, heads, base))
        const fault = onForge._tag === "Failure" ? onForge.failure.message : undefined
        return { heads, base, onForge: undefined, ancestors, fault }
      })

      const take = Effect.fn("PullRequestLooks.take")(function* (look: DueLook) {
        const source = yield* sources.find(look.id)
        if (!isWanted(source)) {
          histories.delete(look.id)
          return yield* transaction(sql)(store.dropped(look))
        }
        const found = yield* Effect.result(read(source))
        yield* killPoint("pull_request.looked")
        const settle = Effect.gen(function* () {
          // Reads the Source again, because it may have been stopped, or its base may have changed, during the poll.
          const current = yield* sources.find(look.id)
          if (!isWanted(current) || current.default_ref !== source.default_ref) return yield* store.dropped(look)
          if (found._tag === "Failure") {
            return yield* store.failed(look, { code: codeOf(found.failure), message: found.failure.message })
          }
          const { ancestors, base, fault, heads, onForge } = found.success
          const fromNumber = (yield* store.look(look.id))?.from_number ?? heads.pullRequests[0]?.number ?? 0
          const known = yield* store.known(look.id)
          const trustsKnown = current.forge_connection_id !== null
          yield* store.looked(look, {
            sighting: onForge?.sighting ?? seenInRefs({ heads, base, ancestors, fromNumber, known, trustsKnown }),
            defaultBranch: heads.defaultBranch ?? null,
            fromNumber,
            forgeFault: fault,
            // If there is no forge, no merge queue waits for a status.
            queues: onForge === undefined && trustsKnown ? undefined : (onForge?.queues ?? noQueues),
            repository: onForge?.repository ?? (trustsKnown ? undefined : yield* repositoryOfOther(sql, current))
          })
        })
        yield* transaction(sql)(settle)
        yield* work.wake
      })

      return PullRequestLooks.of({ take })
    })
  )
}
