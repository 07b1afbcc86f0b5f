import { generateKeyPairSync } from "node:crypto"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DueWork } from "../../../actors/base/DueWork.ts"
import { Connections } from "../../../actors/inputs/connection/Connections.ts"
import { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import type { UpdateSource } from "../../../schema/api/SourcesApi.ts"
import { SourceCommands } from "../../../schema/commands/SourceCommands.ts"
import type { ForgeKind } from "../../../schema/records/Forge.ts"
import { eventually } from "../../support/Eventually.ts"
import { fakeForgejo } from "../../support/forge/FakeForgejo.ts"
import { type FakeApp, fakeGitHub } from "../../support/forge/FakeGitHub.ts"
import { fakeGitLab } from "../../support/forge/FakeGitLab.ts"
import { type FakePullRequest, type ForgeState, forgeState, openPullRequest } from "../../support/forge/ForgeState.ts"
import type { InstallOptions } from "../../support/Journey.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"
import { branched, followed, pullRef } from "./PullRequestWorld.ts"

export const robot = { id: 7, login: "svc-robot" }
export const ada = { id: 8, login: "ada" }

/** A fake forge that also serves the tests' Git repository. */
export class ForgeWithGit extends Context.Service<
  ForgeWithGit,
  {
    readonly kind: ForgeKind
    readonly state: ForgeState
    readonly address: string
    /** The GitHub App that the Connections use, with its private key. Without an App, the Connections use tokens. */
    readonly app?: { readonly facts: FakeApp; readonly privateKey: string } | undefined
  }
>()("test/actors/support/ForgeWithGit") {}

type App = ForgeWithGit["Service"]["app"]

const fakes = { gitlab: fakeGitLab, forgejo: fakeForgejo }

const plane = (kind: ForgeKind, app?: App) => {
  const served = Layer.effect(
    ForgeWithGit,
    Effect.gen(function* () {
      const state = forgeState()
      const address = yield* kind === "github" ? fakeGitHub(state, app?.facts) : fakes[kind](state)
      return { kind, state, address, app }
    })
  )
  return Layer.unwrap(Effect.map(ForgeWithGit, ({ address }) => testPlane({ gitOrigins: [address] }))).pipe(
    Layer.provideMerge(served)
  )
}

/** The layer for tests whose Sources are on a fake forge of this kind. */
export const planeOnForge = (kind: ForgeKind) => plane(kind)

/** The layer for tests whose Sources are on the fake GitHub. */
export const planeOnGitHub = plane("github")

/** The layer for tests whose Sources are on the fake GitHub and whose Connections use a GitHub App. */
export const planeOfApp = Effect.sync(() => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" }
  })
  const facts: FakeApp = {
    id: "12345",
    installationId: "678",
    slug: "acme-svc",
    publicKey,
    permissions: { contents: "read", pull_requests: "write", checks: "write", metadata: "read" },
    lifetime: 3_600_000,
    now: () => Date.now()
  }
  return plane("github", { facts, privateKey })
}).pipe(Layer.unwrap)

/** The permissions that a token needs, in each fake forge's terms. */
export const everyPermission: Readonly<Record<ForgeKind, ReadonlyArray<string>>> = {
  github: ["pull_requests=read", "pull_requests=write", "statuses=write"],
  gitlab: ["api", "notes", "statuses"],
  forgejo: ["user", "repository", "issue"]
}

const bodyOf = Schema.decodeUnknownSync(CreateConnection)
const outputOf = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ title: Schema.String, summary: Schema.String }))
)
let worlds = 0

/** A Capsule whose Source is on the fake forge, with a Connection to it. */
export const onForge = Effect.fnUntraced(function* (
  lane: string,
  files: Record<string, string>,
  change: UpdateSource = {},
  more: InstallOptions = {}
) {
  const { address, app, kind, state } = yield* ForgeWithGit
  const { context, url, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const work = yield* DueWork
  worlds += 1
  state.git = url
  const token = `forge-token-${worlds}`
  state.tokens.set(token, { account: robot, permissions: new Set(everyPermission[kind]) })
  const repository = state.addRepository(`team/app-${worlds}`)
  repository.collaborators.set(robot.login, "write")
  const { base, capsule, secret, source } = yield* followed(lane, files, {}, more)
  const connection = yield* (yield* Connections).create(
    context,
    bodyOf({
      workspaceId,
      provider: kind,
      kind: "forge",
      ...(app === undefined
        ? { authMode: "token", values: { token } }
        : {
            authMode: "app",
            values: { app_id: app.facts.id, installation_id: app.facts.installationId },
            files: [{ name: "private-key.pem", content: app.privateKey }]
          }),
      displayName: `Comments ${worlds}`,
      origins: [address]
    })
  )
  yield* sql`UPDATE sources SET url = ${`${address}/${repository.path}.git`} WHERE id = ${source.id}`
  yield* (yield* SourceCommands).Update(source.id, {
    context,
    request: { forgeConnectionId: connection.id, pullRequests: "own_branches", ...change }
  })
  /** Points the forge's ref for the head of a pull request at a commit. */
  const headRefAt = (number: number, commit: string) =>
    pullRef(number, commit, kind === "gitlab" ? "merge-requests" : "pull")
  /** Opens a pull request for a branch, on the forge and in Git. */
  const opens = Effect.fnUntraced(function* (
    number: number,
    changed: Record<string, string>,
    facts: Partial<FakePullRequest> = {}
  ) {
    const headRef = `${lane}-${number}`
    const headCommit = yield* branched(base, headRef, changed)
    yield* headRefAt(number, headCommit)
    return openPullRequest(repository, number, ada, { headCommit, headRef, baseRef: lane, ...facts })
  })
  /**
   * Waits until the commit's newest status satisfies `passes`. Lets svc report immediately, without the minimum time between
   * two reports.
   */
  const statusOf = (commit: string, passes: (description: string) => boolean) =>
    eventually(
      sql`UPDATE pull_request_reports SET next_at = NULL`.pipe(
        Effect.andThen(work.wake),
        Effect.map(() => state.statuses.findLast((one) => one.commit === commit))
      ),
      (found) => found !== undefined && passes(found.description)
    )
  /** Waits until the commit's newest check satisfies `passes`. */
  const checkOf = (commit: string, passes: (title: string) => boolean) =>
    eventually(
      sql`UPDATE pull_request_reports SET next_at = NULL`.pipe(
        Effect.andThen(work.wake),
        Effect.map(() => {
          const found = state.checks.findLast((one) => one.commit === commit)
          return found === undefined ? undefined : { ...found, ...outputOf(found.title) }
        })
      ),
      (found) => found !== undefined && passes(found.title)
    )
  return {
    address,
    base,
    checkOf,
    capsule,
    connection,
    context,
    headRefAt,
    opens,
    repository,
    secret,
    source,
    sql,
    state,
    statusOf,
    token
  }
})

/** A Capsule whose Source is on the fake GitHub, under `planeOnGitHub` or `planeOfApp`. */
export const onGitHub = onForge
