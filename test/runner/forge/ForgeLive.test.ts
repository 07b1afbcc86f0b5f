import { describe, expect } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { Forge, type ForgeAccess, type ForgeFailure } from "../../../runner/forge/Forge.ts"
import * as ForgeLive from "../../../runner/forge/ForgeLive.ts"
import { AddressResolver } from "../../../runner/git/AddressResolver.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { type ForgeKind, isForeignHead } from "../../../schema/records/Forge.ts"
import { it } from "../../support/Effect.ts"
import { fakeForgejo } from "../../support/forge/FakeForgejo.ts"
import { type FakeApp, fakeGitHub, recordedPayloads } from "../../support/forge/FakeGitHub.ts"
import { fakeGitLab } from "../../support/forge/FakeGitLab.ts"
import { commitOf, forgeState, openPullRequest } from "../../support/forge/ForgeState.ts"
import { httpServer } from "../../support/HttpServer.ts"

const robot = { id: 7, login: "svc-robot" }
const ada = { id: 8, login: "ada" }
const mallory = { id: 9, login: "mallory" }

/** The permissions that a token needs, in each fake forge's terms. */
const sufficient: Readonly<Record<ForgeKind, ReadonlyArray<string>>> = {
  github: ["pull_requests=read", "pull_requests=write", "statuses=write"],
  gitlab: ["api", "notes", "statuses"],
  forgejo: ["user", "repository", "issue"]
}

const serve = { github: fakeGitHub, gitlab: fakeGitLab, forgejo: fakeForgejo }

const client = (allowOrigins: ReadonlyArray<string>) =>
  Layer.fresh(ForgeLive.layer).pipe(Layer.provide(GitPolicy.layerWith({ allowOrigins })))

/** Starts a fake forge with one repository, and creates a token for svc's account, and a client for the forge. */
const world = Effect.fnUntraced(function* (kind: ForgeKind) {
  const state = forgeState()
  const address = yield* serve[kind](state)
  for (const account of [robot, ada, mallory]) state.accounts.set(account.login, account)
  state.tokens.set("secret-token", { account: robot, permissions: new Set(sufficient[kind]) })
  const repository = state.addRepository("team/network")
  repository.collaborators.set(robot.login, "write")
  repository.collaborators.set(ada.login, "write")
  const access: ForgeAccess = { kind, address, credential: { _tag: "Token", token: Redacted.make("secret-token") } }
  const layer = yield* Layer.build(client([address]))
  const forge = yield* Forge.pipe(Effect.provide(layer))
  return { state, repository, access, forge, at: { id: String(repository.id), path: repository.path } }
})

const reasonOf = <A, R>(asked: Effect.Effect<A, ForgeFailure, R>) =>
  Effect.map(Effect.flip(asked), ({ reason, retryAfter }) =>
    retryAfter === undefined ? reason : `${reason} ${retryAfter}`
  )

const written = "2026-01-01T00:00:00.000Z"

const status = { context: "svc/acme", state: "pending", description: "Planned", url: "https://svc.example/x" } as const

describe.each(["github", "gitlab", "forgejo"] as const)("the client of %s", (kind) => {
  it.live(`${kind}: the client reads pull requests, and identifies forks by repository id`, () =>
    Effect.gen(function* () {
      const { access, at, forge, repository } = yield* world(kind)
      openPullRequest(repository, 1, ada, { title: "Add a <b>subnet</b>" })
      openPullRequest(repository, 2, mallory, { headRepositoryId: 4711 })
      openPullRequest(repository, 3, mallory, { headRepositoryId: null })
      openPullRequest(repository, 4, ada, { state: "closed" })
      openPullRequest(repository, 5, ada, { merged: true, mergeCommit: commitOf("merge") })
      openPullRequest(repository, 6, ada, { draft: true })
      expect(yield* forge.repository(access, "team/network")).toEqual(at)
      const { complete, pullRequests } = yield* forge.openPullRequests(access, at)
      expect(complete).toBe(true)
      expect(pullRequests.map(({ draft, number }) => [number, draft])).toEqual([
        [1, false],
        [2, false],
        [3, false],
        [6, true]
      ])
      expect(pullRequests.map(isForeignHead)).toEqual([false, true, true, false])
      expect(pullRequests[0]).toMatchObject({
        title: "Add a <b>subnet</b>",
        state: "open",
        author: { id: "8", login: "ada" },
        headCommit: commitOf("head of 1"),
        headRef: "branch-1",
        headRepositoryId: at.id,
        baseRef: "main",
        baseRepositoryId: at.id,
        mergeCommit: null
      })
      expect((yield* forge.pullRequest(access, at, 4)).state).toBe("closed")
      expect(yield* forge.pullRequest(access, at, 5)).toMatchObject({ state: "merged", mergeCommit: commitOf("merge") })
      expect(yield* reasonOf(forge.pullRequest(access, at, 99))).toBe("missing")
    })
  )

  it.live(`${kind}: the client reads every page of open pull requests`, () =>
    Effect.gen(function* () {
      const { access, at, forge, repository } = yield* world(kind)
      for (let number = 1; number <= 120; number++) openPullRequest(repository, number, ada)
      const { pullRequests } = yield* forge.openPullRequests(access, at)
      expect(pullRequests.map(({ number }) => number)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1))
    })
  )

  it.live(`${kind}: the client finds only its own comment, even if others copied the marker`, () =>
    Effect.gen(function* () {
      const { access, at, forge, repository, state } = yield* world(kind)
      const opened = openPullRequest(repository, 1, ada)
      const own = yield* forge.account(access)
      expect(own).toEqual({ id: "7", login: "svc-robot" })
      for (let index = 0; index < 70; index++) {
        opened.comments.push({ id: state.nextId(), author: mallory, body: `marker-1 ${index}`, at: written })
      }
      expect(yield* forge.findComment(access, at, 1, "marker-1", own)).toBeUndefined()
      const created = yield* forge.createComment(access, at, 1, "Hello\n<!-- marker-1 -->")
      const found = yield* forge.findComment(access, at, 1, "marker-1", own)
      expect(found).toEqual({ ...created, body: "Hello\n<!-- marker-1 -->" })
      expect(yield* forge.findComment(access, at, 1, "marker-2", own)).toBeUndefined()
      yield* forge.editComment(access, at, 1, created.id, "Changed")
      expect(opened.comments.at(-1)?.body).toBe("Changed")
      expect(yield* reasonOf(forge.editComment(access, at, 1, String(opened.comments[0]?.id), "x"))).toBe("forbidden")
      opened.comments.pop()
      expect(yield* reasonOf(forge.editComment(access, at, 1, created.id, "x"))).toBe("missing")
    })
  )

  it.live(`${kind}: the client reads the newest comments of all pull requests in one request`, () =>
    Effect.gen(function* () {
      const { access, at: place, forge, repository, state } = yield* world(kind)
      for (const number of [1, 2]) {
        openPullRequest(repository, number, ada).comments.push({
          id: state.nextId(),
          author: mallory,
          body: `on ${number}`,
          at: written
        })
      }
      const calls = state.calls.length
      const remarks = yield* forge.commentsSince(access, place, "2026-01-01T00:00:00.000Z")
      expect(remarks.map(({ author, body, number }) => [number, body, author.login])).toEqual([
        [1, "on 1", "mallory"],
        [2, "on 2", "mallory"]
      ])
      expect(state.calls).toHaveLength(calls + 1)
    })
  )

  it.live(`${kind}: the client can set the same status twice`, () =>
    Effect.gen(function* () {
      const { access, at, forge, repository, state } = yield* world(kind)
      const { headCommit } = openPullRequest(repository, 1, ada, { pipelineId: 31 })
      yield* forge.setStatus(access, at, 1, headCommit, status)
      yield* forge.setStatus(access, at, 1, headCommit, status)
      yield* forge.setStatus(access, at, 1, headCommit, { ...status, state: "failure", description: "x".repeat(400) })
      const last = state.statuses.at(-1)
      expect(last).toMatchObject({ commit: headCommit, context: "svc/acme", url: "https://svc.example/x" })
      expect(last?.state).toBe(kind === "gitlab" ? "failed" : "failure")
      expect(last?.description.length).toBeLessThanOrEqual(kind === "github" ? 140 : 255)
      expect(last?.pipelineId).toBe(kind === "gitlab" ? 31 : undefined)
    })
  )

  it.live(`${kind}: the client identifies accounts with write access by account id`, () =>
    Effect.gen(function* () {
      const { access, at, forge } = yield* world(kind)
      expect(yield* forge.mayWrite(access, at, { id: "8", login: "ada" })).toBe(true)
      expect(yield* forge.mayWrite(access, at, { id: "9", login: "mallory" })).toBe(false)
      if (kind !== "gitlab") expect(yield* forge.mayWrite(access, at, { id: "9", login: "ada" })).toBe(false)
    })
  )

  it.live(
    `${kind}: the client follows a renamed repository by its id, and reports a transferred repository as missing`,
    () =>
      Effect.gen(function* () {
        const { access, at, forge, repository, state } = yield* world(kind)
        const { comments } = openPullRequest(repository, 1, ada)
        state.rename(repository, "team/platform")
        expect(yield* forge.repository(access, "team/network")).toEqual({ id: at.id, path: "team/platform" })
        expect((yield* forge.pullRequest(access, at, 1)).number).toBe(1)
        yield* forge.createComment(access, at, 1, "After the move")
        expect(comments.map(({ body }) => body)).toEqual(["After the move"])
        // Somebody else creates a repository with the old name.
        openPullRequest(state.addRepository("team/network"), 1, mallory)
        expect((yield* forge.pullRequest(access, at, 1)).author.login).toBe("ada")
        const { pullRequests } = yield* forge.openPullRequests(access, at)
        expect(pullRequests.map(({ author }) => author.login)).toEqual(["ada"])
        repository.hidden = true
        expect(yield* reasonOf(forge.pullRequest(access, at, 1))).toBe("missing")
      })
  )

  it.live(
    `${kind}: the client reports a limit, a lost permission or a malformed response as the reason for a failure`,
    () =>
      Effect.gen(function* () {
        const { access, at, forge, repository, state } = yield* world(kind)
        openPullRequest(repository, 1, ada)
        const asked = () => reasonOf(forge.pullRequest(access, at, 1))
        state.troubles.push({ kind: "secondary limit", seconds: 90 })
        expect(yield* asked()).toBe("limited 90")
        state.troubles.push({ kind: "exhausted", resetsAt: 0 })
        expect(yield* asked()).toBe("limited 1")
        state.troubles.push({ kind: "secondary limit", seconds: 999_999 })
        expect(yield* asked()).toBe("limited 3600")
        state.troubles.push({ kind: "status", status: 502 })
        expect(yield* asked()).toBe("unavailable")
        state.troubles.push({ kind: "status", status: 422 })
        expect(yield* asked()).toBe("rejected")
        state.troubles.push({ kind: "lost answer" })
        expect(yield* asked()).toBe("unavailable")
        state.troubles.push({ kind: "plain text" })
        expect(yield* asked()).toBe("unreadable")
        state.troubles.push({ kind: "huge" })
        expect(yield* asked()).toBe("unreadable")
        state.tokens.delete("secret-token")
        const refused = yield* Effect.flip(forge.pullRequest(access, at, 1))
        expect(refused.reason).toBe("unauthorized")
        expect(refused.message).not.toContain("secret-token")
      })
  )

  it.live(`${kind}: a test of a credential lists its missing permissions`, () =>
    Effect.gen(function* () {
      const { access, forge, repository, state } = yield* world(kind)
      const tested = () => Effect.map(forge.test(access, ["team/network", "team/none"]), ({ missing }) => missing)
      expect(yield* forge.test(access, ["team/network"])).toEqual({
        account: { id: "7", login: "svc-robot" },
        missing: []
      })
      expect((yield* tested()).join()).toContain("team/none")
      state.tokens.set("secret-token", { account: robot, permissions: new Set(["statuses=write"]) })
      expect((yield* tested()).length).toBeGreaterThan(0)
      state.tokens.set("secret-token", { account: robot, permissions: new Set(sufficient[kind]) })
      repository.collaborators.set(robot.login, "read")
      if (kind !== "github") expect((yield* tested()).join()).toContain("team/network")
      expect(state.calls.filter((call) => !call.startsWith("GET "))).toEqual([])
    })
  )
})

it.live("the client sends no credential to an address that the operator does not allow", () =>
  Effect.gen(function* () {
    const server = yield* httpServer((_request, response) => response.end("{}"))
    const refused = (address: string, addresses: ReadonlyArray<string> = ["127.0.0.1"]) =>
      reasonOf(
        Effect.flatMap(Forge, (forge) =>
          forge.account({ kind: "forgejo", address, credential: { _tag: "Token", token: Redacted.make("secret") } })
        )
      ).pipe(
        Effect.provide(client([])),
        Effect.provideService(AddressResolver, { resolve: () => Effect.succeed(addresses) })
      )
    expect(yield* refused(server.origin)).toBe("refused")
    expect(yield* refused("https://forge.example.com")).toBe("refused")
    expect(yield* refused("http://forge.example.com", ["93.184.216.34"])).toBe("refused")
    expect(yield* refused("https://forge.example.com", ["93.184.216.34", "10.0.0.7"])).toBe("refused")
    expect(yield* refused("https://user:secret@forge.example.com")).toBe("refused")
    expect(yield* refused("not an address")).toBe("refused")
    expect(server.requests).toEqual([])
  })
)

it.live("the client never follows a redirect to another origin", () =>
  Effect.gen(function* () {
    const elsewhere = yield* httpServer((_request, response) => response.end("{}"))
    const server = yield* httpServer((request, response) => {
      const location =
        request.url?.endsWith("/relative") === true ? "/api/v1/user" : `${elsewhere.origin}/api/v1/repos/a/b`
      response.writeHead(307, { location }).end()
    })
    const access: ForgeAccess = {
      kind: "forgejo",
      address: server.origin,
      credential: { _tag: "Token", token: Redacted.make("secret") }
    }
    const asked = (path: string) =>
      reasonOf(Effect.flatMap(Forge, (forge) => forge.repository(access, path))).pipe(
        Effect.provide(client([server.origin, elsewhere.origin]))
      )
    expect(yield* asked("a/b")).toBe("missing")
    expect(yield* asked("a/relative")).toBe("missing")
    expect(elsewhere.requests).toEqual([])
    expect(server.requests).toHaveLength(2)
  })
)

it.live("the client treats a Forgejo pull request without a branch as a fork", () =>
  Effect.gen(function* () {
    const { access, at, forge, repository } = yield* world("forgejo")
    openPullRequest(repository, 1, mallory, { headRef: "refs/pull/1/head" })
    expect(isForeignHead(yield* forge.pullRequest(access, at, 1))).toBe(true)
  })
)

it.live("the client parses every published payload of a pull request", () =>
  Effect.gen(function* () {
    expect(recordedPayloads).toHaveLength(29)
    let current: unknown
    const server = yield* httpServer((_request, response) => response.end(JSON.stringify(current)))
    const access: ForgeAccess = {
      kind: "github",
      address: server.origin,
      credential: { _tag: "Token", token: Redacted.make("secret") }
    }
    yield* Effect.gen(function* () {
      const forge = yield* Forge
      for (const { pull_request: published } of recordedPayloads) {
        current = published
        const read = yield* forge.pullRequest(access, { id: "1", path: "a/b" }, 1)
        expect([read.number, read.headCommit] as unknown[]).toEqual([published["number"], published.head["sha"]])
      }
    }).pipe(Effect.provide(client([server.origin])))
  })
)

const appWorld = Effect.gen(function* () {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    // The key format that GitHub offers for download.
    privateKeyEncoding: { type: "pkcs1", format: "pem" }
  })
  const clock = { now: Date.now() }
  const app: FakeApp = {
    id: "12345",
    installationId: "678",
    slug: "acme-svc",
    publicKey,
    permissions: { contents: "read", pull_requests: "write", checks: "write", metadata: "read" },
    lifetime: 3_600_000,
    now: () => clock.now
  }
  const state = forgeState()
  state.accounts.set("acme-svc[bot]", { id: 21, login: "acme-svc[bot]" })
  const address = yield* fakeGitHub(state, app)
  const repository = state.addRepository("team/network")
  const access: ForgeAccess = {
    kind: "github",
    address,
    credential: { _tag: "App", appId: "12345", installationId: "678", privateKey: Redacted.make(privateKey) }
  }
  const forge = yield* Forge.pipe(Effect.provide(yield* Layer.build(client([address]))))
  return { access, app, clock, forge, repository, state, at: { id: String(repository.id), path: repository.path } }
})

it.live("the client signs in as a GitHub App, caches the installation's token, and writes checks", () =>
  Effect.gen(function* () {
    const { access, app, at, forge, repository, state } = yield* appWorld
    const { headCommit } = openPullRequest(repository, 1, ada)
    expect(yield* forge.test(access, ["team/network"])).toEqual({
      account: { id: "21", login: "acme-svc[bot]" },
      missing: []
    })
    yield* forge.setStatus(access, at, 1, headCommit, status)
    yield* forge.setStatus(access, at, 1, headCommit, { ...status, state: "success" })
    expect(state.checks).toMatchObject([{ commit: headCommit, name: "svc/acme", state: "success" }])
    expect(state.statuses).toEqual([])
    expect(state.calls.filter((call) => call.endsWith("/access_tokens"))).toHaveLength(1)
    delete app.permissions["checks"]
    app.permissions["pull_requests"] = "read"
    expect((yield* forge.test(access, [])).missing).toEqual([
      "Pull requests: read and write",
      "Checks: read and write, or Commit statuses: read and write"
    ])
  })
)

it.live(
  "a check has a limited summary and no actions, and a new check replaces a completed check that becomes pending",
  () =>
    Effect.gen(function* () {
      const { access, at, forge, repository, state } = yield* appWorld
      const { headCommit } = openPullRequest(repository, 1, ada)
      yield* forge.setStatus(access, at, 1, headCommit, { ...status, state: "failure", summary: "x".repeat(70_000) })
      expect(JSON.parse(state.checks[0]?.title ?? "").summary).toHaveLength(65_535)
      expect(state.checks[0]?.fields).toEqual(["conclusion", "details_url", "head_sha", "name", "output", "status"])
      yield* forge.setStatus(access, at, 1, headCommit, { ...status, state: "pending" })
      yield* forge.setStatus(access, at, 1, headCommit, { ...status, state: "success" })
      expect(state.checks.map((check) => check.state)).toEqual(["failure", "success"])
      expect(state.checks[1]?.fields).toEqual(["conclusion", "details_url", "name", "output", "status"])
    })
)

it.live("the client writes commit statuses for an App that has lost the permission to write checks", () =>
  Effect.gen(function* () {
    const { access, app, at, forge, repository, state } = yield* appWorld
    const { headCommit } = openPullRequest(repository, 1, ada)
    yield* forge.setStatus(access, at, 1, headCommit, status)
    delete app.permissions["checks"]
    app.permissions["statuses"] = "write"
    for (const token of state.tokens.values()) token.permissions.delete("checks=read")
    yield* forge.setStatus(access, at, 1, headCommit, { ...status, state: "success" })
    expect(state.statuses).toMatchObject([{ commit: headCommit, state: "success" }])
    delete app.permissions["statuses"]
    state.tokens.clear()
    expect(yield* reasonOf(forge.setStatus(access, at, 1, headCommit, status))).toBe("forbidden")
  })
)

it.live("GitLab: the client sets the status of a merge commit in a pipeline of the target branch", () =>
  Effect.gen(function* () {
    const { access, at, forge, repository, state } = yield* world("gitlab")
    openPullRequest(repository, 1, ada, { merged: true, mergeCommit: commitOf("merge"), pipelineId: 31 })
    yield* forge.setStatus(access, at, 1, commitOf("merge"), status)
    expect(state.statuses).toMatchObject([{ commit: commitOf("merge"), ref: "main" }])
    expect(state.statuses[0]?.pipelineId).toBeUndefined()
  })
)

it.live("the client requests a new installation token if GitHub revokes the cached token", () =>
  Effect.gen(function* () {
    const { access, at, forge, repository, state } = yield* appWorld
    openPullRequest(repository, 1, ada)
    yield* forge.pullRequest(access, at, 1)
    state.tokens.clear()
    yield* forge.pullRequest(access, at, 1)
    expect(state.calls.filter((call) => call.endsWith("/access_tokens"))).toHaveLength(2)
    state.troubles.push({ kind: "status", status: 401 }, { kind: "status", status: 401 })
    expect(yield* reasonOf(forge.pullRequest(access, at, 1))).toBe("unauthorized")
  })
)

it.live("the client looks up the installation of a GitHub App, and reports an App that is not installed", () =>
  Effect.gen(function* () {
    const { access, app, at, forge, repository, state } = yield* appWorld
    openPullRequest(repository, 1, ada)
    if (access.credential._tag !== "App") return expect.unreachable()
    const { _tag, appId, privateKey } = access.credential
    const created: ForgeAccess = { ...access, credential: { _tag, appId, privateKey } }
    app.installed = false
    const early = yield* Effect.flip(forge.pullRequest(created, at, 1))
    expect([early.reason, early.message]).toEqual(["missing", expect.stringContaining("is not installed")])
    app.installed = true
    yield* forge.pullRequest(created, at, 1)
    yield* forge.pullRequest(created, at, 1)
    expect(state.calls.filter((call) => call.endsWith("/app/installations"))).toHaveLength(2)
    // The owner uninstalls the App and installs it again.
    app.installationId = "679"
    state.tokens.clear()
    yield* forge.pullRequest(created, at, 1)
    app.otherInstallations = ["680"]
    state.tokens.clear()
    const several = yield* Effect.flip(forge.pullRequest(created, at, 1))
    expect([several.reason, several.message]).toEqual(["missing", expect.stringContaining("installation_id")])
  })
)

it.live("the client reports an unusable private key of an App without printing the key", () =>
  Effect.gen(function* () {
    const { access, forge } = yield* appWorld
    const credential = {
      _tag: "App",
      appId: "12345",
      installationId: "678",
      privateKey: Redacted.make("no key")
    } as const
    const refused = yield* Effect.flip(forge.account({ ...access, credential }))
    expect(refused.reason).toBe("unauthorized")
    expect(refused.message).not.toContain("no key")
  })
)
