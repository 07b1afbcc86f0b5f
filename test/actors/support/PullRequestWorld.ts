import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { PullRequests } from "../../../actors/ledger/pull-request/PullRequests.ts"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import type { UpdateSource } from "../../../schema/api/SourcesApi.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import type { SourceId } from "../../../schema/records/Ids.ts"
import type { CommitFiles } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { eventually } from "../../support/Eventually.ts"
import { active, type InstallOptions } from "../../support/Journey.ts"
import { TestPlane } from "../../support/TestPlane.ts"

const body = Stream.make(new TextEncoder().encode("{}"))

/** Points the ref of a pull request at a commit, or removes it. GitLab's refs have another name. */
export const pullRef = Effect.fnUntraced(function* (
  number: number,
  commit: string | undefined,
  name: "pull" | "merge-requests" = "pull"
) {
  const { dataDir } = yield* TestPlane
  const file = join(dirname(dataDir), "repository.git", "refs", name, String(number), "head")
  yield* Effect.promise(async () => {
    if (commit === undefined) return rm(file)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${commit}\n`)
  })
})

/** Adds commits on top of a branch's head, under another branch name. */
export const branched = Effect.fnUntraced(function* (from: string, branch: string, files: CommitFiles) {
  const { commit, moveBranch } = yield* TestPlane
  yield* moveBranch(branch, from)
  return yield* commit(branch, files)
})

/** Creates a Capsule whose Source follows its repository. */
export const followed = Effect.fnUntraced(function* (
  branch: string,
  files: Record<string, string>,
  change: UpdateSource = {},
  more: InstallOptions = {}
) {
  const { context } = yield* TestPlane
  const { capsule } = yield* active(branch, files, more)
  const request = { autoSync: true, ...change }
  const source = yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request })
  const { hookSecret } = yield* (yield* SourceCommands).RenewHookSecret(source.id, {
    context,
    hookSecretVersion: source.hookSecretVersion
  })
  const base = capsule.adoptedSourceRevision?.resolvedCommit ?? ""
  return { base, capsule, source, secret: hookSecret ?? "" }
})

export const listed = Effect.fnUntraced(function* (sourceId: SourceId) {
  const { workspaceId } = yield* TestPlane
  const page = yield* (yield* PullRequests).list(workspaceId, { sourceId }, { limit: 100 })
  return page.items.toSorted((a, b) => a.number - b.number)
})

/** Waits until no work is due for the Source. */
export const calm = Effect.fnUntraced(function* (sourceId: SourceId) {
  const sql = yield* SqlClient.SqlClient
  yield* eventually(
    Effect.orDie(sql<{ open: number }>`SELECT (SELECT COUNT(*) FROM pull_request_looks WHERE asked <> taken)
      + (SELECT COUNT(*) FROM pull_requests WHERE due > 0 AND source_id = ${sourceId})
      + (SELECT COUNT(*) FROM runs WHERE source_id = ${sourceId} AND status IN ('queued', 'running'))
      + (SELECT COUNT(*) FROM run_follow_due) AS open`),
    ([row]) => row?.open === 0
  )
  return yield* listed(sourceId)
})

/** Delivers a webhook and waits until no work is due for the Source. */
export const looked = Effect.fnUntraced(function* (sourceId: SourceId, secret: string) {
  yield* (yield* Sources).hook(sourceId, { proofs: { secrets: [secret] }, body })
  return yield* calm(sourceId)
})

export const readOf = Effect.fnUntraced(function* (sourceId: SourceId, number: number) {
  const found = (yield* listed(sourceId)).find((one) => one.number === number)
  return found === undefined ? yield* Effect.die(`no #${number}`) : yield* (yield* PullRequests).read(found.id)
})
