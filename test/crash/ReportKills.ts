import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, FileSystem, type Layer, Redacted, Schema, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { KillPointName } from "../../actors/base/KillPoint.ts"
import type { platform } from "../../src/composition/Platform.ts"
import { CredentialOrigin } from "../../schema/records/CredentialOrigin.ts"
import { ConnectionId } from "../../schema/records/Ids.ts"
import { serveRepository } from "../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../src/testing/git-server/RepositoryWriter.ts"
import { eventually } from "../support/Eventually.ts"
import { fakeForgejo } from "../support/forge/FakeForgejo.ts"
import { forgeGateway } from "../support/forge/ForgeGateway.ts"
import { type FakePullRequest, type ForgeState, forgeState, openPullRequest } from "../support/forge/ForgeState.ts"
import { nothingAcknowledged } from "./Acknowledged.ts"
import { sweep } from "./CanarySweep.ts"
import { Broken, type CrashClient, crashClient, holds } from "./CrashClient.ts"
import { crashHost } from "./CrashHost.ts"
import { crashModule } from "./CrashModule.ts"
import { canaries, type CrashWorld } from "./CrashWorld.ts"
import { travel } from "./Journey.ts"
import { type ServeOptions, serve } from "./ServerProcess.ts"
import { approve, planAgain, startApply, type Traveller } from "./Traveller.ts"

/** Servers that are killed while svc follows a pull request. */
export interface ReportKill {
  readonly name: string
  /**
   * True if svc has reviewed and planned the head before the forge is connected, so that the servers are killed only during the
   * report.
   */
  readonly isPlannedBefore: boolean
  /** The point at which each server is killed, in each phase of the pull request. */
  readonly points: Readonly<Record<"opened" | "pushed" | "merged", ReadonlyArray<KillPointName>>>
}

export const reportScenarios: ReadonlyArray<ReportKill> = [
  {
    name: "a server dies between every two steps of a report",
    isPlannedBefore: true,
    points: {
      opened: ["report.sending", "report.creating", "report.commented", "report.noted", "report.sent"],
      pushed: ["report.sending", "report.commented", "report.noted", "report.sent"],
      merged: ["report.sending", "report.commented", "report.noted", "report.sent"]
    }
  },
  {
    name: "a server dies between every two steps of a pull request",
    isPlannedBefore: false,
    points: {
      opened: ["pull_request.looked", "source_sync.executed", "pull_request.judged", "pull_request.planned"],
      pushed: ["pull_request.looked", "source_sync.claimed", "pull_request.judged", "plan.run.queued", "plan.executed"],
      merged: ["pull_request.looked"]
    }
  }
]

const robot = { id: 7, login: "svc-robot" }
const ada = { id: 8, login: "ada" }
const forgeToken = "canary-forge-token-71c6"
const repositoryPath = "team/app"
const number = 1

/** Creates a repository and its pull request on a fake forge. */
const repositoryAt = Effect.fnUntraced(function* (root: string, notesDir: string) {
  const gitdir = `${root}/repository.git`
  yield* createRepository({ gitdir })
  const module = (note: string) =>
    crashModule(
      notesDir,
      note === "" ? "" : `resource "demo_note" "${note}" {\n  name = "${note}"\n  content = "new"\n}`
    )
  const commit = (branch: string, note: string) => commitFiles({ gitdir, branch, files: { "main.tf": module(note) } })
  const pointAt = (ref: string, head: string) =>
    Effect.sync(() => {
      const file = `${gitdir}/${ref}`
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `${head}\n`)
    })
  const base = yield* commit("main", "")
  const state = forgeState()
  state.tokens.set(forgeToken, { account: robot, permissions: new Set(["user", "repository", "issue"]) })
  const repository = state.addRepository(repositoryPath)
  repository.collaborators.set(robot.login, "write")
  const git = yield* serveRepository({ gitdir })
  const { origin, url } = yield* forgeGateway(yield* fakeForgejo(state), repositoryPath, () => git.origin)
  /** Pushes a new head, and opens the pull request if there is none. */
  const push = Effect.fnUntraced(function* (note: string) {
    yield* pointAt("refs/heads/topic", base)
    const head = yield* commit("topic", note)
    yield* pointAt(`refs/pull/${number}/head`, head)
    const open = repository.pullRequests.get(number) ?? openPullRequest(repository, number, ada, { headRef: "topic" })
    open.headCommit = head
    return open
  })
  const merge = Effect.fnUntraced(function* (open: FakePullRequest) {
    yield* pointAt("refs/heads/main", open.headCommit)
    open.merged = true
    open.mergeCommit = open.headCommit
  })
  return { state, origin, url, push, merge }
})

const own = ({ comments }: FakePullRequest) => comments.filter(({ author }) => author.id === robot.id)

/** Returns the newest status of the head, and the verdict of svc's comment. */
const shownBy = (state: ForgeState, open: FakePullRequest) => ({
  status: state.statuses.findLast(({ commit }) => commit === open.headCommit)?.description,
  comment: own(open)[0]?.body.split("\n")[0]?.replaceAll("*", "")
})

/** Waits until the forge shows this verdict on the head, and checks that there is exactly one comment. */
const becomes = Effect.fnUntraced(function* (state: ForgeState, open: FakePullRequest, verdict: string) {
  yield* Effect.timeoutOrElse(
    eventually(
      Effect.sync(() => shownBy(state, open)),
      ({ comment, status }) => comment === verdict && status === verdict
    ),
    {
      duration: "2 minutes",
      orElse: () => new Broken({ message: `"${verdict}" never came: ${JSON.stringify(shownBy(state, open))}` })
    }
  )
  yield* holds(own(open).length === 1, `There are ${own(open).length} comments`)
  yield* holds(own(open)[0]?.body.includes(open.headCommit.slice(0, 7)) === true, "The comment is about another commit")
})

/**
 * Starts servers one after another, each of which is killed at one point. The first server receives the request that leads
 * to these points.
 */
const killedAt = Effect.fnUntraced(function* (
  options: ServeOptions,
  points: ReadonlyArray<KillPointName>,
  ask: (client: CrashClient) => Effect.Effect<unknown, unknown>,
  dead: Effect.Effect<void, Broken>
) {
  let isAsked = false
  for (const point of points) {
    const signal = yield* Effect.scoped(
      Effect.gen(function* () {
        const started = yield* Effect.result(serve({ ...options, killAt: { point, passing: 1 } }))
        if (started._tag === "Failure") return started.failure.signal
        const server = started.success
        const host = { current: Effect.succeed(server), kills: () => 0, stop: Effect.succeed(null) }
        // The server may be killed before it responds.
        if (!isAsked) yield* Effect.ignore(ask(crashClient(host)))
        isAsked = true
        const end = yield* Effect.timeoutOrElse(server.ended, {
          duration: "90 seconds",
          orElse: () => new Broken({ message: `No server was killed at ${point}` })
        })
        return end.signal
      })
    )
    yield* holds(signal === "SIGKILL", `It was not killed at ${point}`)
    yield* dead
  }
  return isAsked
})

const Plans = Schema.Array(Schema.Struct({ resolved_commit: Schema.String, many: Schema.Int }))

/** Counts the speculative plans of each head. */
const plansOf = (dataDir: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(`${dataDir}/svc.sqlite`, { readOnly: true })),
    (database) =>
      Schema.decodeUnknownEffect(Plans)(
        database
          .prepare(
            `SELECT resolved_commit, COUNT(*) AS many FROM runs
              WHERE coordinator_kind = 'pull_request' AND type = 'plan' GROUP BY resolved_commit`
          )
          .all()
      ),
    (database) => Effect.sync(() => database.close())
  )

const planned = "1 Capsule: 1 planned."

/**
 * Opens, moves and merges a pull request while servers are killed. After each phase, the forge has exactly one comment, and
 * the comment and the status both show the last verdict.
 */
export const runReportKill = Effect.fn("runReportKill")(function* (
  world: CrashWorld,
  { isPlannedBefore, points }: ReportKill,
  root: string
): Effect.fn.Return<number, unknown, Layer.Success<typeof platform> | Scope.Scope> {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const dataDir = `${root}/data`
  const logs = `${root}/logs`
  const notesDir = `${root}/notes`
  yield* files.makeDirectory(logs)
  yield* files.makeDirectory(notesDir)
  yield* spawner.exitCode(ChildProcess.make("cp", ["-a", `${world.template}/.`, dataDir]))
  const { merge, origin, push, state, url } = yield* repositoryAt(root, notesDir)
  const options: ServeOptions = {
    program: world.program,
    dataDir,
    gitOrigin: origin,
    mirror: world.mirror,
    notesDir,
    logFile: `${logs}/server.log`,
    token: world.token
  }
  const travellerOf = (client: CrashClient): Traveller => ({
    client,
    world,
    repositoryUrl: url,
    acknowledged: nothingAcknowledged(),
    mayFail: false,
    applyFailed: () => Effect.void
  })
  /** Starts a server, uses it without killing it, and stops it afterwards. */
  const alive = <A>(use: (client: CrashClient) => Effect.Effect<A, unknown>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const host = yield* crashHost(options, [], { dead: Effect.void, restarted: () => Effect.void })
        const used = yield* use(crashClient(host))
        const code = yield* host.stop
        yield* holds(code === 0, `The last server ended with ${code}`)
        return used
      })
    )

  const { capsuleId, connectionId, sourceId } = yield* alive((client) =>
    Effect.gen(function* () {
      const traveller = travellerOf(client)
      yield* travel(traveller, "install", { slower: Effect.void, chain: () => Effect.void })
      const [installed = ""] = traveller.acknowledged.capsules
      const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId: installed } }))
      const { connection } = yield* client.call(({ connections }) =>
        connections.create({
          payload: {
            workspaceId: world.workspaceId,
            provider: "forgejo",
            kind: "forge",
            authMode: "token",
            displayName: "forge",
            values: { token: forgeToken },
            origins: [CredentialOrigin.make(origin)]
          }
        })
      )
      return { capsuleId: capsule.id, connectionId: connection.id, sourceId: capsule.sourceId }
    })
  )
  /** Connects or removes the forge, and makes svc check the repository, as a webhook does. */
  const look = (client: CrashClient, isConnected: boolean) =>
    client.call(({ sources }) =>
      sources.update({
        params: { sourceId },
        payload: {
          autoSync: true,
          pullRequests: "own_branches",
          forgeConnectionId: isConnected ? ConnectionId.make(connectionId) : null
        }
      })
    )

  /** Waits until svc has seen the merge, or has planned the current head. */
  const seen = (client: CrashClient, open: FakePullRequest) =>
    eventually(
      Effect.gen(function* () {
        const { pullRequests: all } = yield* client.call(({ pullRequests }) =>
          pullRequests.list({ params: { workspaceId: world.workspaceId }, query: {} })
        )
        const [listed] = all
        if (listed === undefined) return undefined
        return (yield* client.call(({ pullRequests }) => pullRequests.read({ params: { pullRequestId: listed.id } })))
          .pullRequest
      }),
      (found) =>
        found?.headCommit === open.headCommit &&
        (open.merged ? found.state === "merged" : found.capsules?.[0]?.run?.status === "succeeded")
    ).pipe(
      Effect.timeoutOrElse({ duration: "1 minute", orElse: () => new Broken({ message: "The head was not planned" }) })
    )

  const phase = Effect.fnUntraced(function* (
    open: FakePullRequest,
    at: keyof typeof points,
    verdict: string,
    then: (client: CrashClient) => Effect.Effect<void, unknown> = () => Effect.void
  ) {
    if (isPlannedBefore) yield* alive((client) => Effect.andThen(look(client, false), seen(client, open)))
    const atMostOne = Effect.suspend(() => holds(own(open).length <= 1, `A kill left ${own(open).length} comments`))
    yield* killedAt(options, points[at], (client) => look(client, true), atMostOne)
    yield* alive((client) => Effect.andThen(becomes(state, open, verdict), then(client)))
  })

  const open = yield* push("c")
  const first = open.headCommit
  yield* phase(open, "opened", planned)
  yield* push("d")
  yield* phase(open, "pushed", planned)
  yield* merge(open)
  yield* phase(open, "merged", "1 Capsule: 1 planning.", (client) =>
    Effect.gen(function* () {
      const traveller = travellerOf(client)
      const { run: sync } = yield* client.call(({ sources }) => sources.sync({ params: { sourceId }, payload: {} }))
      yield* client.settled(sync.id)
      const plan = yield* planAgain(traveller, capsuleId, "plan", "merged")
      yield* approve(traveller, plan)
      const apply = yield* client.settled(yield* startApply(traveller, plan))
      yield* holds(apply.status === "succeeded", `The apply ended as ${apply.status}`)
      yield* becomes(state, open, "1 Capsule: 1 applied.")
    })
  )

  const plans = yield* plansOf(dataDir)
  yield* holds(
    plans.length === 2 && plans.every(({ many }) => many === 1) && plans.some((one) => one.resolved_commit === first),
    `The plans of the heads are ${JSON.stringify(plans)}`
  )
  const secrets = [...Object.values(canaries), Redacted.value(world.token), forgeToken]
  const written = JSON.stringify([open.comments, state.statuses])
  const leaks = [
    ...sweep([dataDir, logs], secrets),
    ...secrets.filter((secret) => written.includes(secret)).map((secret) => `The forge got ${secret.slice(0, 12)}...`),
    ...readdirSync(`${dataDir}/runs`).map((name) => `The run folder ${name} stayed`)
  ]
  yield* holds(leaks.length === 0, leaks.join("\n    "))
  return Object.values(points).flat().length
}, Effect.scoped)
