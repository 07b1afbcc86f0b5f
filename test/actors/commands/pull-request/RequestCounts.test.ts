import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { rowShape } from "../../../../actors/base/database/Table.ts"
import { DueWork } from "../../../../actors/base/DueWork.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"
import type { UpdateSource } from "../../../../schema/api/SourcesApi.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import type { SourceId } from "../../../../schema/records/Ids.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { fakeForgejo } from "../../../support/forge/FakeForgejo.ts"
import { forgeGateway, type GitRequests } from "../../../support/forge/ForgeGateway.ts"
import { type ForgeState, forgeState, openPullRequest } from "../../../support/forge/ForgeState.ts"
import { applied, driven, freshKey, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { branched, calm, looked, pullRef } from "../../support/PullRequestWorld.ts"

/**
 * Numbers of pull requests and Capsules. The long form, with 100 and 20, is `npm run test:pull-requests`.
 */
const [pullRequests = 0, capsules = 0] = (process.env["SVC_TEST_PULL_REQUESTS"] ?? "5x2").split("x").map(Number)
const hooks = 50

setDefaultTimeout(pullRequests > 5 ? 3_600_000 : 180_000)

const robot = { id: 7, login: "svc-robot" }
const ada = { id: 8, login: "ada" }
const path = "team/many"

/**
 * A forge with the repository of the Source. `git` is the origin of the Git server that serves the repository's contents.
 */
class Gateway extends Context.Service<
  Gateway,
  {
    readonly state: ForgeState
    readonly url: string
    readonly origin: string
    readonly requests: GitRequests
    readonly held: Effect.Effect<Effect.Effect<void>>
    git: string
  }
>()("test/RequestCounts/Gateway") {}

const gateway = Layer.effect(
  Gateway,
  Effect.gen(function* () {
    const state = forgeState()
    state.tokens.set("forge-token", { account: robot, permissions: new Set(["user", "repository", "issue"]) })
    state.addRepository(path).collaborators.set(robot.login, "write")
    const served = { git: "" }
    const made = yield* forgeGateway(yield* fakeForgejo(state), path, () => served.git)
    return Object.assign(served, { state, ...made })
  })
)

const tests = suite(
  Layer.unwrap(
    Effect.map(Gateway, ({ origin }) => testPlane({ gitOrigins: [origin], runner: pureRunner(pureModules()) }))
  ).pipe(Layer.provideMerge(gateway))
)
afterAll(tests.dispose)

const numbers = (many: number) => Array.from({ length: many }, (_, index) => index + 1)
const moduleOf = (text: string) => ({ ...pureModule, "text.tf": `locals { text = "${text}" }` })

/** Sets up Capsules that follow one Source whose repository is on the forge. */
const world = Effect.gen(function* () {
  const { commit, context, url: gitUrl, workspaceId } = yield* TestPlane
  const place = yield* Gateway
  place.git = new URL(gitUrl).origin
  const base = yield* commit("many", moduleOf("base"))
  const sql = yield* SqlClient.SqlClient
  const installed: Array<Capsule> = []
  for (const number of numbers(capsules)) {
    const created = yield* (yield* InstallPlans).create(
      context,
      workspaceId,
      {
        source: { name: "many", url: place.url, ref: "many" },
        capsule: { name: `many-${number}`, environment: "test" },
        options: { modulePath: RelativePath.make(".") }
      },
      freshKey()
    )
    const { capsuleId, diagnostics, planRunId } = yield* driven(created.value.id)
    if (capsuleId === undefined || planRunId === undefined) return yield* Effect.die(JSON.stringify(diagnostics))
    expect((yield* applied(yield* settled(planRunId))).status).toBe("succeeded")
    installed.push(yield* (yield* Capsules).read(capsuleId))
  }
  // An install creates a Source for each Capsule, so the test assigns the Capsules to the first Source directly.
  const [first] = installed
  if (first === undefined) return yield* Effect.die("no Capsule")
  const { sourceId } = first
  yield* sql`UPDATE capsules SET source_id = ${sourceId}, adopted_snapshot_id =
    (SELECT adopted_snapshot_id FROM capsules WHERE id = ${first.id})`
  const commands = yield* SourceCommands
  const source = yield* commands.Update(sourceId, { context, request: { autoSync: true, pullRequests: "off" } })
  const { hookSecret = "" } = yield* commands.RenewHookSecret(sourceId, {
    context,
    hookSecretVersion: source.hookSecretVersion
  })
  return { base, capsuleId: first.id, context, place, secret: hookSecret, sourceId, workspaceId }
})

/** Runs the effect, and returns the numbers of Git requests and forge calls that it caused. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { requests, state } = yield* Gateway
    const before = { ...requests }
    const calls = state.calls.length
    yield* effect
    return {
      git: {
        lists: requests.lists - before.lists,
        histories: requests.histories - before.histories,
        fetches: requests.fetches - before.fetches
      },
      calls: state.calls.slice(calls)
    }
  })

const hooked = Effect.fnUntraced(function* (sourceId: SourceId, secret: string) {
  const body = Stream.make(new TextEncoder().encode("{}"))
  yield* (yield* Sources).hook(sourceId, { proofs: { secrets: [secret] }, body })
})

/** Counts calls by kind, ignoring pull request numbers, commits and how the repository is named. */
const tallied = (calls: ReadonlyArray<string>) => {
  const kinds = calls.map((call) =>
    call
      .replace(/[0-9a-f]{40}/, "COMMIT")
      .replace(/\d+\/comments/, "N/comments")
      // svc reads a repository by its path until it knows its id.
      .replace(/\/repositories\/\d+$/, `/repos/${path}`)
  )
  return Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, each]) => [kind, each.length]))
}

const Many = rowShape({ many: Schema.Int })

describe("Requests to a repository and its forge", () => {
  tests.live(`${pullRequests} pull requests for ${capsules} Capsules cause as few requests as documented`, () =>
    Effect.gen(function* () {
      const { base, capsuleId, context, place, secret, sourceId, workspaceId } = yield* world
      const { commit, moveBranch } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const commands = yield* SourceCommands
      const update = (request: UpdateSource) =>
        Effect.andThen(commands.Update(sourceId, { context, request }), calm(sourceId))
      const look = counted(looked(sourceId, secret))
      const many = (query: Statement.Statement<unknown>) =>
        Effect.map(Effect.orDie(Many.rows(sql)`SELECT COUNT(*) AS many FROM runs WHERE ${query}`), ([row]) => row?.many)

      // A pull request that was closed long ago, but whose ref the forge keeps.
      yield* pullRef(1, yield* branched(base, "ancient", moduleOf("ancient")))
      yield* moveBranch("ancient", undefined)
      yield* update({ pullRequests: "own_branches" })
      // There are two listings, because the lane's sync also lists the refs.
      const quiet = { lists: 2, histories: 0, fetches: 0 }
      expect((yield* look).git).toEqual(quiet)

      const [repository] = place.state.repositories
      if (repository === undefined) return yield* Effect.die("no repository")
      for (const number of numbers(pullRequests)) {
        const head = yield* branched(base, `topic-${number}`, moduleOf(`of ${number}`))
        yield* pullRef(number + 1, head)
        openPullRequest(repository, number + 1, ada, { headCommit: head, headRef: `topic-${number}`, baseRef: "many" })
      }
      const ofHeads = sql`coordinator_kind = 'pull_request' AND type = 'plan'`
      const before = process.memoryUsage.rss()
      let largest = before
      const { git } = yield* counted(
        Effect.gen(function* () {
          yield* hooked(sourceId, secret)
          yield* eventually(many(sql`${ofHeads} AND status <> 'queued'`), (started) => started !== 0)
          // A person plans a Capsule at the start, and again after each tenth of the heads' plans.
          for (const tenth of numbers(10)) {
            const { value } = yield* (yield* CapsuleCommands).Plan(capsuleId, { context })
            const { queuedAt, startedAt = "" } = yield* settled(value.id)
            // No head is planned while a person's plan is waiting.
            expect(yield* many(sql`${ofHeads} AND started_at > ${queuedAt} AND started_at < ${startedAt}`)).toBe(0)
            expect(yield* many(sql`${ofHeads} AND status IN ('queued', 'running')`)).toBeLessThanOrEqual(8)
            const wanted = (pullRequests * capsules * tenth) / 10
            yield* eventually(many(sql`${ofHeads} AND status = 'succeeded'`), (ended = 0) => {
              largest = Math.max(largest, process.memoryUsage.rss())
              return ended >= wanted
            })
          }
          yield* calm(sourceId)
        })
      )
      expect(yield* many(sql`${ofHeads} AND status = 'succeeded'`)).toBe(pullRequests * capsules)
      // The queue and the memory do not grow with the number of pull requests.
      const grown = (largest - before) / 2 ** 20
      yield* Effect.logInfo(`${Math.round(grown)} MiB more memory, Git requests: ${JSON.stringify(git)}`)
      expect(grown).toBeLessThan(512)
      expect(git.fetches).toBe(pullRequests)
      expect(git.lists).toBeLessThanOrEqual(quiet.lists + 2 * pullRequests)
      // The review reads the newest commits of the head once. The plans of the head read the newest commits of the head and of
      // the lane at most twice each, because several plans may start before the first has read them.
      expect(git.histories).toBeLessThanOrEqual((1 + 2 + 2) * pullRequests)
      expect((yield* look).git).toEqual(quiet)

      const storm = yield* counted(
        Effect.gen(function* () {
          // The first look lasts until all deliveries have been answered, however long the database takes for them.
          const letPass = yield* place.held
          yield* Effect.forEach(numbers(hooks), () => hooked(sourceId, secret), { concurrency: "unbounded" })
          yield* letPass
          yield* calm(sourceId)
        })
      )
      expect(storm.git).toMatchObject({ histories: 0, fetches: 0 })
      expect(storm.git.lists).toBeLessThanOrEqual(3 * quiet.lists)

      yield* commit("many", { ...moduleOf("base"), "readme.md": "new" })
      const moved = yield* look
      expect(moved.git).toMatchObject({ histories: 1, fetches: 1 })
      expect(moved.git.lists).toBeLessThanOrEqual(quiet.lists + 2)
      expect(place.state.calls).toEqual([])

      const connection = yield* (yield* Connections).create(
        context,
        Schema.decodeUnknownSync(CreateConnection)({
          workspaceId,
          provider: "forgejo",
          kind: "forge",
          displayName: "Comments",
          values: { token: "forge-token" },
          origins: [place.origin]
        })
      )
      const work = yield* DueWork
      const reported = yield* counted(
        Effect.andThen(
          update({ forgeConnectionId: connection.id }),
          eventually(
            Effect.map(work.wake, () => place.state.statuses.length),
            (statuses) => statuses === pullRequests
          )
        )
      )
      expect(reported.git).toEqual({ lists: 0, histories: 0, fetches: 0 })
      expect(tallied(reported.calls)).toEqual({
        [`GET /api/v1/repos/${path}`]: pullRequests,
        "GET /api/v1/user": pullRequests,
        [`GET /api/v1/repos/${path}/issues/N/comments`]: pullRequests,
        [`POST /api/v1/repos/${path}/issues/N/comments`]: pullRequests,
        [`POST /api/v1/repos/${path}/statuses/COMMIT`]: pullRequests
      })
      // The first poll of a forge reads no comments. It only records the point from which later polls read comments.
      yield* look
      const commentsRead = Effect.map(
        Effect.orDie(Many.rows(sql)`SELECT COUNT(*) AS many FROM comment_looks c
          JOIN pull_request_looks l ON l.source_id = c.id AND l.taken = c.taken WHERE c.id = ${sourceId}`),
        ([row]) => row?.many
      )
      const settledComments = eventually(Effect.andThen(work.wake, commentsRead), (read) => read === 1)
      yield* settledComments
      const later = yield* counted(Effect.andThen(looked(sourceId, secret), settledComments))
      expect(later.git).toEqual(quiet)
      const { [`GET /api/v1/repos/${path}/pulls`]: pages, ...others } = tallied(later.calls)
      expect(pages).toBeLessThanOrEqual(Math.ceil((pullRequests + 1) / 50))
      expect(others).toEqual({
        [`GET /api/v1/repos/${path}`]: 2,
        [`GET /api/v1/repos/${path}/issues/comments`]: 1
      })
    })
  )
})
