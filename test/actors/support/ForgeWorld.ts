import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DueWork } from "../../../actors/base/DueWork.ts"
import { Connections } from "../../../actors/inputs/connection/Connections.ts"
import { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import type { UpdateSource } from "../../../schema/api/SourcesApi.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import { eventually } from "../../support/Eventually.ts"
import { fakeGitHub } from "../../support/forge/FakeGitHub.ts"
import { type FakePullRequest, type ForgeState, forgeState, openPullRequest } from "../../support/forge/ForgeState.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"
import { branched, followed, pullRef } from "./PullRequestWorld.ts"

export const robot = { id: 7, login: "svc-robot" }
export const ada = { id: 8, login: "ada" }

/** A fake GitHub that also serves the Git repository of the tests. */
export class GitHubWithGit extends Context.Service<
  GitHubWithGit,
  { readonly state: ForgeState; readonly address: string }
>()("test/actors/support/GitHubWithGit") {}

const github = Layer.effect(
  GitHubWithGit,
  Effect.gen(function* () {
    const state = forgeState()
    return { state, address: yield* fakeGitHub(state) }
  })
)

/** The layer of tests whose Sources are on the fake GitHub. */
export const planeOnGitHub = Layer.unwrap(
  Effect.map(GitHubWithGit, ({ address }) => testPlane({ gitOrigins: [address] }))
).pipe(Layer.provideMerge(github))

export const everyPermission: ReadonlyArray<string> = ["pull_requests=read", "pull_requests=write", "statuses=write"]

const bodyOf = Schema.decodeUnknownSync(CreateConnection)
let worlds = 0

/** A Capsule whose Source is on the fake GitHub, with a Connection to it. */
export const onGitHub = Effect.fnUntraced(function* (
  lane: string,
  files: Record<string, string>,
  change: UpdateSource = {}
) {
  const { address, state } = yield* GitHubWithGit
  const { context, url, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const work = yield* DueWork
  worlds += 1
  state.git = url
  const token = `forge-token-${worlds}`
  state.tokens.set(token, { account: robot, permissions: new Set(everyPermission) })
  const repository = state.addRepository(`team/app-${worlds}`)
  repository.collaborators.set(robot.login, "write")
  const { base, capsule, secret, source } = yield* followed(lane, files)
  const connection = yield* (yield* Connections).create(
    context,
    bodyOf({
      workspaceId,
      provider: "github",
      kind: "forge",
      authMode: "token",
      displayName: `Comments ${worlds}`,
      values: { token },
      origins: [address]
    })
  )
  yield* sql`UPDATE sources SET url = ${`${address}/${repository.path}.git`} WHERE id = ${source.id}`
  yield* (yield* SourceCommands).Update(source.id, {
    context,
    request: { forgeConnectionId: connection.id, pullRequests: "own_branches", ...change }
  })
  /** Opens a pull request of a branch, on the forge and in Git. */
  const opens = Effect.fnUntraced(function* (
    number: number,
    changed: Record<string, string>,
    facts: Partial<FakePullRequest> = {}
  ) {
    const headRef = `${lane}-${number}`
    const headCommit = yield* branched(base, headRef, changed)
    yield* pullRef(number, headCommit)
    return openPullRequest(repository, number, ada, { headCommit, headRef, baseRef: lane, ...facts })
  })
  /** Waits until the newest status of the commit passes. Reports at once, and not after the minimum time between two reports. */
  const statusOf = (commit: string, passes: (description: string) => boolean) =>
    eventually(
      sql`UPDATE pull_request_reports SET next_at = NULL`.pipe(
        Effect.andThen(work.wake),
        Effect.map(() => state.statuses.findLast((one) => one.commit === commit))
      ),
      (found) => found !== undefined && passes(found.description)
    )
  return { address, base, capsule, connection, context, opens, repository, secret, source, sql, state, statusOf, token }
})
