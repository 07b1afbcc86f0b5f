import { Effect } from "effect"
import { ancestry } from "../../../runner/git/CommitHistory.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { makeFetchCredentials } from "./FetchCredentials.ts"

type ReadSource = Pick<SourceRow, "id" | "workspace_id" | "url" | "default_ref" | "auth_connection_id">

/**
 * Reads a repository when no person has requested it. Uses the Git Connection with the authority of the person who attached
 * it, as scheduled syncs do.
 */
export const makeRepositoryReads = Effect.gen(function* () {
  const remote = yield* GitRemote
  const policy = yield* GitPolicy
  const credentialsOf = yield* makeFetchCredentials

  const requestOf = Effect.fnUntraced(function* (source: ReadSource) {
    const url = yield* Effect.fromResult(fetchableAddress(source.url, policy))
    const by = {
      workspace_id: source.workspace_id,
      source_id: source.id,
      created_by: null,
      trigger_kind: "schedule"
    } as const
    const authConnectionId = source.auth_connection_id ?? undefined
    const credentials = yield* credentialsOf(by, {
      url,
      ref: source.default_ref,
      ...(authConnectionId === undefined ? {} : { authConnectionId })
    })
    return { url, credentials }
  })

  /** Lists the branches and the heads of pull requests. */
  const heads = Effect.fn("RepositoryReads.heads")(function* (source: ReadSource) {
    return yield* remote.heads(yield* requestOf(source))
  })

  /** Lists the commit and its newest ancestors, nearest first. Lists only the commit if the server does not report ancestors. */
  const ancestors = Effect.fn("RepositoryReads.ancestors")(function* (source: ReadSource, commit: string) {
    const history = yield* remote.history({ ...(yield* requestOf(source)), commit })
    return history === undefined ? [commit] : ancestry(history, commit).map((found) => found.commit)
  })

  return { heads, ancestors }
})
