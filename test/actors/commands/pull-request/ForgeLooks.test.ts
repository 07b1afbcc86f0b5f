import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import examples from "@octokit/webhooks-examples/api.github.com/index.json" with { type: "json" }
import { Effect, Stream } from "effect"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { ForgeKind } from "../../../../schema/records/Forge.ts"
import type { SourceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { commitOf } from "../../../support/forge/ForgeState.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { everyPermission, onForge, planeOnForge, planeOnGitHub, robot } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, calm, listed, looked, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)

/** The published payloads of the chosen events. Each has an id, as the forge gives every delivery. */
const publishedOf = (takes: (event: string) => boolean) =>
  examples.flatMap(({ examples: payloads, name }) =>
    takes(name) ? payloads.map((payload: unknown, index) => ({ event: name, id: `${name} ${index}`, payload })) : []
  )
const published = publishedOf((event) => event === "pull_request").map(({ payload }) => payload)

/** The events that make svc look, according to docs/pull-requests.md and docs/forges.md. */
const helpful = new Set(["issue_comment", "merge_group", "pull_request", "push"])
/** Every published payload of these events, and the first of every other event. */
const deliveries = [
  ...publishedOf((event) => helpful.has(event)),
  ...publishedOf((event) => !helpful.has(event)).filter(({ id }) => id.endsWith(" 0"))
]

/** Shuffles the items, always in the same order for one seed. */
const shuffled = <A>(items: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  let state = seed
  return items
    .map((item) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return { item, place: state }
    })
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Delivers the published webhooks without waiting between deliveries. The webhooks concern other pull requests. */
const deliver = Effect.fnUntraced(function* (sourceId: SourceId, secret: string, payloads: ReadonlyArray<unknown>) {
  for (const payload of payloads) {
    const body = Stream.make(new TextEncoder().encode(JSON.stringify(payload)))
    yield* (yield* Sources).hook(sourceId, { proofs: { secrets: [secret] }, body })
  }
  return yield* calm(sourceId)
})

/** Delivers a webhook and returns the given pull request. The repository's refs also include refs from other tests. */
const lookedAt = Effect.fnUntraced(function* (sourceId: SourceId, secret: string, number: number) {
  return (yield* looked(sourceId, secret)).find((one) => one.number === number)
})

const lookErrorOf = (sourceId: SourceId) =>
  Effect.map(
    Effect.flatMap(Sources, (sources) => sources.read(sourceId)),
    ({ pullRequestLook }) => pullRequestLook?.error?.code
  )

/** The permissions without which a token can no longer read pull requests, although it still exists. */
const insufficient: Readonly<Record<ForgeKind, ReadonlyArray<string>>> = {
  github: ["statuses=write"],
  gitlab: ["notes", "statuses"],
  forgejo: ["user", "issue"]
}

describe.each(["github", "gitlab", "forgejo"] as const)("Polls of %s", (kind) => {
  const tests = suite(planeOnForge(kind))
  afterAll(tests.dispose)

  tests.live(
    "lost, late, repeated and reordered webhooks of a forge lead to the same records as the forge's list",
    () =>
      Effect.gen(function* () {
        const { opens, secret, source } = yield* onForge("hooks", greeting("one"))
        const [first, second] = [yield* opens(1, greeting("two")), yield* opens(2, greeting("three"))]
        expect(published.length).toBeGreaterThan(20)
        // Events of every published kind have no effect except to trigger a poll, even if they are delivered twice and in
        // the wrong order.
        const all = yield* deliver(source.id, secret, [...published.toReversed(), ...published].slice(0, 12))
        expect(all.map(({ author, number, state, title }) => [number, state, title, author])).toEqual([
          [1, "open", "Change 1", "ada"],
          [2, "open", "Change 2", "ada"]
        ])
        const ids = all.map(({ id }) => id)

        // The webhooks about the merge and the new title are lost, and an unrelated webhook arrives late.
        const mergeCommit = commitOf("merged")
        Object.assign(first, { merged: true, state: "closed", mergeCommit })
        Object.assign(second, { title: "Renamed", draft: true })
        const after = yield* deliver(source.id, secret, [published[0]])
        expect(after.map(({ id }) => id)).toEqual(ids)
        expect(after).toMatchObject([
          { state: "merged", mergeCommit, headCommit: first.headCommit },
          { state: "open", title: "Renamed", draft: true }
        ])
        // The pull request was closed without being merged, and then reopened.
        second.state = "closed"
        expect(yield* deliver(source.id, secret, [published[0]])).toMatchObject([{}, { state: "closed" }])
        second.state = "open"
        const [, reopened] = yield* deliver(source.id, secret, [published[0]])
        expect(reopened).toMatchObject({ state: "open" })
        expect(reopened?.closedAt).toBeUndefined()
      })
  )

  tests.live("pull requests stay open while the forge rate-limits svc, hides the repository or refuses the token", () =>
    Effect.gen(function* () {
      const { opens, repository, secret, source, state, token } = yield* onForge("refusals", greeting("one"))
      const opened = yield* opens(11, greeting("two"))
      const isOpen = { number: 11, state: "open", headCommit: opened.headCommit, title: "Change 11" }
      expect(yield* lookedAt(source.id, secret, 11)).toMatchObject(isOpen)
      expect(yield* lookErrorOf(source.id)).toBeUndefined()

      const limits = [1, 2, 3].map(() => ({ kind: "secondary limit" as const, seconds: 60 }))
      state.troubles.push(...limits)
      expect(yield* lookedAt(source.id, secret, 11)).toMatchObject(isOpen)
      expect(yield* lookErrorOf(source.id)).toBe("forge_unavailable")
      state.troubles.length = 0

      // The repository was transferred to an owner whose repositories the token cannot see.
      repository.hidden = true
      expect(yield* lookedAt(source.id, secret, 11)).toMatchObject(isOpen)
      expect(yield* lookErrorOf(source.id)).toBe("forge_unavailable")
      repository.hidden = false

      for (const permissions of [insufficient[kind], undefined]) {
        if (permissions === undefined) state.tokens.delete(token)
        else state.tokens.set(token, { account: robot, permissions: new Set(permissions) })
        expect(yield* lookedAt(source.id, secret, 11)).toMatchObject(isOpen)
        expect(yield* lookErrorOf(source.id)).toBe("forge_unavailable")
      }
      // The pull request has been closed in the meantime, but the refs do not show this.
      opened.state = "closed"
      expect(yield* lookedAt(source.id, secret, 11)).toMatchObject(isOpen)
      state.tokens.set(token, { account: robot, permissions: new Set(everyPermission[kind]) })
      expect(yield* lookedAt(source.id, secret, 11)).toMatchObject({ ...isOpen, state: "closed" })
      expect(yield* lookErrorOf(source.id)).toBeUndefined()
    })
  )

  tests.live(
    "svc closes a pull request that was deleted on the forge, but not a pull request that the list omits by mistake",
    () =>
      Effect.gen(function* () {
        const { opens, repository, secret, source, state } = yield* onForge("gone", greeting("one"))
        yield* opens(21, greeting("two"))
        const omitted = yield* opens(22, greeting("three"))
        yield* looked(source.id, secret)
        repository.pullRequests.delete(21)
        // The pull request is still open but on no page of the list, because another pull request was closed while svc read
        // the pages.
        Object.defineProperty(omitted, "state", {
          get: () => (/\/(?:pulls|merge_requests)$/.test(state.calls.at(-1) ?? "") ? "closed" : "open")
        })
        expect(yield* looked(source.id, secret)).toMatchObject([
          { number: 21, state: "closed" },
          { number: 22, state: "open" }
        ])
      })
  )

  tests.live("svc plans a head only while its branch in this repository points to it", () =>
    Effect.gen(function* () {
      const { moveBranch } = yield* TestPlane
      const { base, headRefAt, opens, secret, source } = yield* onForge("moves", greeting("one"))
      const opened = yield* opens(31, greeting("two"))
      yield* looked(source.id, secret)
      const before = yield* readOf(source.id, 31)
      expect(before).toMatchObject({ fork: "no", capsules: [{ run: { status: "succeeded" } }] })

      // A force-push.
      opened.headCommit = yield* branched(base, opened.headRef, greeting("three"))
      yield* headRefAt(31, opened.headCommit)
      yield* looked(source.id, secret)
      const pushed = yield* readOf(source.id, 31)
      expect(pushed).toMatchObject({ id: before.id, fork: "no", headCommit: opened.headCommit })
      expect(pushed.capsules?.[0]?.run?.id).not.toBe(before.capsules?.[0]?.run?.id)

      // The forge already reports a head that its Git server does not have yet.
      const later = yield* branched(base, "moves-elsewhere", greeting("four"))
      yield* moveBranch("moves-elsewhere", undefined)
      opened.headCommit = later
      yield* looked(source.id, secret)
      expect(yield* readOf(source.id, 31)).toMatchObject({ headCommit: later, fork: "unknown" })
      yield* moveBranch(opened.headRef, later)
      yield* headRefAt(31, later)
      yield* looked(source.id, secret)
      expect(yield* readOf(source.id, 31)).toMatchObject({ headCommit: later, fork: "no", state: "open" })

      // The branch is deleted while the pull request is open.
      yield* moveBranch(opened.headRef, undefined)
      yield* looked(source.id, secret)
      expect(yield* readOf(source.id, 31)).toMatchObject({ headCommit: later, fork: "unknown", state: "open" })
      // The fork's repository is deleted too.
      opened.headRepositoryId = null
      yield* looked(source.id, secret)
      expect(yield* readOf(source.id, 31)).toMatchObject({ fork: "unknown", state: "open" })
    })
  )

  tests.live(
    "svc still reads pull requests of a renamed repository, and ignores another repository at its former path",
    () =>
      Effect.gen(function* () {
        const { opens, repository, secret, source, state } = yield* onForge("names", greeting("one"))
        const opened = yield* opens(41, greeting("two"))
        yield* looked(source.id, secret)
        const former = repository.path
        state.rename(repository, `${former}-renamed`)
        opened.title = "After the rename"
        expect(yield* looked(source.id, secret)).toMatchObject([
          { number: 41, title: "After the rename", state: "open" }
        ])
        expect(yield* lookErrorOf(source.id)).toBeUndefined()

        // Another person's repository at the former path does not list this pull request.
        state.addRepository(former)
        yield* looked(source.id, secret)
        expect(yield* listed(source.id)).toMatchObject([{ number: 41, state: "closed" }])
      })
  )

  tests.live("a pull request with a different base branch affects no Capsule that follows the lane", () =>
    Effect.gen(function* () {
      const { opens, secret, source } = yield* onForge("bases", greeting("one"))
      const opened = yield* opens(51, greeting("two"))
      yield* looked(source.id, secret)
      expect((yield* readOf(source.id, 51)).capsules).toMatchObject([{ touched: true }])
      opened.baseRef = "bases-51"
      yield* looked(source.id, secret)
      expect(yield* readOf(source.id, 51)).toMatchObject({ baseBranch: "bases-51", capsules: [] })
      opened.baseRef = "bases"
      yield* looked(source.id, secret)
      expect((yield* readOf(source.id, 51)).capsules).toMatchObject([{ touched: true }])
    })
  )
})

describe("Published webhooks of GitHub", () => {
  const tests = suite(planeOnGitHub)
  afterAll(tests.dispose)

  tests.live("every published webhook, repeated, reordered and late, has no effect but a look", () =>
    Effect.gen(function* () {
      const { opens, secret, source, sql, state, statusOf } = yield* onForge("published", greeting("one"))
      const sources = yield* Sources
      const counts = (event: string) => deliveries.filter((one) => one.event === event).length
      expect([...helpful].map((event) => [event, counts(event)])).toEqual([
        ["issue_comment", 9],
        ["merge_group", 2],
        ["pull_request", 29],
        ["push", 7]
      ])
      expect(deliveries.length).toBeGreaterThan(100)

      /** Delivers a webhook as the forge does, and returns the Runs that it started. */
      const delivered = Effect.fnUntraced(function* (
        { event, id, payload }: (typeof deliveries)[number],
        time: string
      ) {
        // A webhook is only a hint, so the text of a comment in it plans nothing.
        const text = JSON.stringify(payload).replaceAll(/"body":"[^"]*"/g, '"body":"/svc plan"')
        const body = Stream.make(new TextEncoder().encode(text))
        const delivery = { proofs: { secrets: [secret] }, body, isPing: event === "ping", deliveryId: `${time} ${id}` }
        return (yield* sources.hook(source.id, delivery)).runIds
      })
      const plansOf = Effect.map(
        sql<{ plans: number }>`SELECT COUNT(*) AS plans FROM runs WHERE source_id = ${source.id} AND type = 'plan'
          AND purpose = 'speculative'`,
        ([row]) => row?.plans
      )

      const [first, second] = [yield* opens(1, greeting("two")), yield* opens(2, greeting("three"))]
      const opened = { state: "open", author: "ada" }
      for (const one of shuffled(deliveries, 1)) yield* delivered(one, "first")
      expect(yield* calm(source.id)).toMatchObject([
        { number: 1, title: "Change 1", headCommit: first.headCommit, ...opened },
        { number: 2, title: "Change 2", headCommit: second.headCommit, ...opened }
      ])
      // The forge sends each delivery again, in another order, because it saw no response.
      for (const one of shuffled(deliveries, 2)) expect([one.id, yield* delivered(one, "first")]).toEqual([one.id, []])
      expect(yield* calm(source.id)).toHaveLength(2)
      expect(yield* plansOf).toBe(2)
      for (const { headCommit } of [first, second]) yield* statusOf(headCommit, (text) => text.includes("planned"))

      // All webhooks arrive once more, long after the pull requests have ended.
      Object.assign(first, { merged: true, state: "closed", mergeCommit: commitOf("merged") })
      second.state = "closed"
      for (const one of shuffled([...deliveries, ...deliveries], 3)) yield* delivered(one, "late")
      expect(yield* calm(source.id)).toMatchObject([
        { number: 1, state: "merged" },
        { number: 2, state: "closed" }
      ])
      expect(yield* plansOf).toBe(2)
      for (const { comments, headCommit } of [first, second]) {
        expect(comments.map(({ author }) => author)).toEqual([robot])
        expect(state.statuses.some(({ commit }) => commit === headCommit)).toBe(true)
      }
      // svc has written nothing about any pull request or commit of the payloads.
      const own = new Set([first.headCommit, second.headCommit, commitOf("merged")])
      expect(state.statuses.filter(({ commit }) => !own.has(commit))).toEqual([])
    })
  )
})
