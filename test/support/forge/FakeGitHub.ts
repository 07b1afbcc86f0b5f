import webhooks from "@octokit/webhooks-examples"
import { Effect } from "effect"
import { createPublicKey, verify } from "node:crypto"
import {
  commentMade,
  commentRemoved,
  commentWith,
  type FakeAnswer,
  type FakeRequest,
  forgeServer,
  lookedUp,
  made,
  may,
  notFound,
  ok,
  pageOf,
  text,
  withId
} from "./ForgeServer.ts"
import type { FakeAccount, FakeComment, FakePullRequest, FakeRepository, FakeToken, ForgeState } from "./ForgeState.ts"

/** The App on a fake GitHub. The test sets the permissions of the installation tokens. */
export interface FakeApp {
  readonly id: string
  installationId: string
  /** Installations by other accounts. Only a public App can have these. */
  otherInstallations?: ReadonlyArray<string>
  /** False until the owner installs the App. Defaults to true. */
  installed?: boolean
  readonly slug: string
  /** Public key as PEM. */
  readonly publicKey: string
  readonly permissions: Record<string, string>
  /** Lifetime of tokens in milliseconds, and the fake's clock. */
  lifetime: number
  readonly now: () => number
}

interface Recorded {
  readonly pull_request: Readonly<Record<string, unknown>> & {
    readonly head: Readonly<Record<string, unknown>>
    readonly base: Readonly<Record<string, unknown>> & { readonly repo: Readonly<Record<string, unknown>> }
  }
}

const isRecorded = (payload: object): payload is Recorded => "pull_request" in payload

const payloads: ReadonlyArray<object> = webhooks
  .filter(({ name }) => name === "pull_request")
  .flatMap(({ examples }) => examples)

/** GitHub's published pull request payloads. */
export const recordedPayloads = payloads.filter(isRecorded)

/** A published pull request payload. The fake replaces the fields that a test controls. */
const recorded = recordedPayloads.at(0)?.pull_request

const user = ({ id, login }: FakeAccount) => ({ id, login, type: login.endsWith("[bot]") ? "Bot" : "User" })

const repositoryBody = ({ id, path }: FakeRepository) => ({
  ...recorded?.base.repo,
  id,
  full_name: path,
  name: path.split("/")[1],
  private: true
})

/** Returns a pull request in the format of GitHub's REST API. */
export const gitHubPullRequest = (origin: string, repository: FakeRepository, pr: FakePullRequest) => ({
  ...recorded,
  number: pr.number,
  title: pr.title,
  html_url: `${origin}/${repository.path}/pull/${pr.number}`,
  state: pr.merged ? "closed" : pr.state,
  draft: pr.draft,
  user: user(pr.author),
  head: {
    ...recorded?.head,
    ref: pr.headRef,
    sha: pr.headCommit,
    repo: pr.headRepositoryId === null ? null : { ...recorded?.base.repo, id: pr.headRepositoryId }
  },
  base: { ...recorded?.base, ref: pr.baseRef, repo: repositoryBody(repository) },
  merged_at: pr.merged ? "2026-01-01T00:00:00Z" : null,
  merge_commit_sha: pr.mergeCommit
})

const commentBody = ({ author, body, id }: FakeComment) => ({ id, user: user(author), body })

const denied = (permission: string): FakeAnswer => ({
  status: 403,
  headers: { "x-accepted-github-permissions": permission },
  body: { message: "Resource not accessible by integration" }
})

const isAppToken = (authorization: string, app: FakeApp): boolean => {
  const [header = "", payload = "", signature = ""] = authorization.replace("Bearer ", "").split(".")
  if (signature === "") return false
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
  const seconds = app.now() / 1000
  return (
    JSON.parse(Buffer.from(header, "base64url").toString()).alg === "RS256" &&
    claims.iss === app.id &&
    claims.iat <= seconds &&
    claims.exp > seconds &&
    claims.exp - claims.iat <= 600 &&
    verify(
      "RSA-SHA256",
      Buffer.from(`${header}.${payload}`),
      createPublicKey(app.publicKey),
      Buffer.from(signature, "base64url")
    )
  )
}

/** Serves a fake of GitHub's REST API (Enterprise Server), based on the public documentation. */
export const fakeGitHub = (state: ForgeState, app?: FakeApp) => {
  const expiries = new Map<string, number>()
  let issued = 0
  let origin = ""

  const byApp = (request: FakeRequest, its: FakeApp): FakeAnswer => {
    if (!isAppToken(request.authorization, its))
      return { status: 401, body: { message: "A JSON web token could not be decoded" } }
    if (request.path === "/app") return ok({ id: Number(its.id), slug: its.slug })
    const isInstalled = its.installed ?? true
    if (request.path === "/app/installations") {
      const ids = isInstalled ? [its.installationId, ...(its.otherInstallations ?? [])] : []
      return ok(ids.map((id) => ({ id: Number(id) })))
    }
    if (!isInstalled || request.path !== `/app/installations/${its.installationId}/access_tokens`) return notFound
    issued++
    const token = `ghs_${issued}`
    const account = state.accounts.get(`${its.slug}[bot]`) ?? { id: 1, login: `${its.slug}[bot]` }
    state.tokens.set(token, {
      account,
      permissions: new Set(
        Object.entries(its.permissions).flatMap(([name, level]) =>
          level === "write" ? [`${name}=read`, `${name}=write`] : [`${name}=${level}`]
        )
      )
    })
    expiries.set(token, its.now() + its.lifetime)
    return made({
      token,
      expires_at: new Date(its.now() + its.lifetime).toISOString(),
      permissions: { ...its.permissions }
    })
  }

  const inRepository = (
    request: FakeRequest,
    token: FakeToken,
    repository: FakeRepository,
    rest: string
  ): FakeAnswer => {
    const { body, method, query } = request
    const needs = (permission: string, then: () => FakeAnswer) => (may(token, permission) ? then() : denied(permission))
    if (rest === "") return ok(repositoryBody(repository))
    const [, pull] = /^\/pulls\/(\d+)$/.exec(rest) ?? []
    const [, issue] = /^\/issues\/(\d+)\/comments$/.exec(rest) ?? []
    const [, comment] = /^\/issues\/comments\/(\d+)$/.exec(rest) ?? []
    const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? []
    const [, checked] = /^\/commits\/([0-9a-f]{40})\/check-runs$/.exec(rest) ?? []
    const [, check] = /^\/check-runs(?:\/(\d+))?$/.exec(rest) ?? []
    const [, login] = /^\/collaborators\/(.+)\/permission$/.exec(rest) ?? []
    const described = (pr: FakePullRequest) => gitHubPullRequest(origin, repository, pr)
    if (rest === "/pulls") {
      const open = [...repository.pullRequests.values()].filter((pr) => pr.state === "open" && !pr.merged)
      return needs("pull_requests=read", () => ok(pageOf(open, query, "per_page").map(described)))
    }
    if (pull !== undefined) {
      const found = repository.pullRequests.get(Number(pull))
      return needs("pull_requests=read", () => (found === undefined ? notFound : ok(described(found))))
    }
    if (issue !== undefined) {
      const found = repository.pullRequests.get(Number(issue))
      if (found === undefined) return notFound
      return method === "POST"
        ? needs("pull_requests=write", () =>
            made(commentBody(commentMade(state, found, token.account, text(body["body"]))))
          )
        : needs("pull_requests=read", () => ok(pageOf(found.comments, query, "per_page").map(commentBody)))
    }
    if (rest === "/issues/comments") {
      const all = [...repository.pullRequests.values()].flatMap((pr) =>
        pr.comments.map((one) => ({
          ...commentBody(one),
          created_at: one.at,
          issue_url: `${origin}/repos/${repository.path}/issues/${pr.number}`
        }))
      )
      return needs("pull_requests=read", () =>
        ok(
          pageOf(
            all.toSorted((a, b) => a.id - b.id),
            query,
            "per_page"
          )
        )
      )
    }
    if (comment !== undefined && (method === "PATCH" || method === "DELETE")) {
      const found = commentWith(repository, comment)
      if (found === undefined) return notFound
      return needs("pull_requests=write", () => {
        if (found.author.id !== token.account.id) return denied("pull_requests=write")
        if (method === "DELETE") return commentRemoved(repository, found)
        found.body = text(body["body"])
        return ok(commentBody(found))
      })
    }
    if (sha !== undefined && method === "POST") {
      return needs("statuses=write", () => {
        state.statuses.push({
          commit: sha,
          context: text(body["context"]),
          state: text(body["state"]),
          description: text(body["description"]),
          url: text(body["target_url"])
        })
        return made({ id: state.nextId() })
      })
    }
    if (checked !== undefined) {
      const runs = state.checks.filter((one) => one.commit === checked && one.name === query.get("check_name"))
      return needs("checks=read", () =>
        ok({
          total_count: runs.length,
          check_runs: runs
            .toReversed()
            .map(({ completed, id, name }) => ({ id, name, status: completed ? "completed" : "in_progress" }))
        })
      )
    }
    if (rest.startsWith("/check-runs")) {
      const given = {
        state: text(body["conclusion"]) || text(body["status"]),
        completed: body["conclusion"] !== undefined,
        fields: Object.keys(body).toSorted(),
        title: JSON.stringify(body["output"] ?? {})
      }
      return needs("checks=write", () => {
        if (method === "POST") {
          const id = state.nextId()
          state.checks.push({ id, commit: text(body["head_sha"]), name: text(body["name"]), ...given })
          return made({ id })
        }
        const found = state.checks.find(({ id }) => String(id) === check)
        if (found === undefined) return notFound
        Object.assign(found, given)
        return ok({ id: found.id })
      })
    }
    if (login !== undefined) {
      const name = decodeURIComponent(login)
      const account = state.accounts.get(name)
      return account === undefined
        ? notFound
        : ok({ permission: repository.collaborators.get(name) ?? "read", user: user(account) })
    }
    return notFound
  }

  const converted = (code: string): FakeAnswer => {
    const created = state.createdApps.get(code)
    state.createdApps.delete(code)
    return created === undefined ? notFound : made(created)
  }

  const answer = (request: FakeRequest): FakeAnswer => {
    const { authorization, method, path } = request
    const [, code] = /^\/app-manifests\/([^/]+)\/conversions$/.exec(path) ?? []
    if (code !== undefined && method === "POST") return authorization === "" ? converted(code) : notFound
    if (app !== undefined && path.startsWith("/app")) return byApp(request, app)
    const secret = authorization.replace(/^(?:Bearer|token) /, "")
    const token = state.tokens.get(secret)
    const expiry = expiries.get(secret)
    if (token === undefined || (expiry !== undefined && app !== undefined && app.now() >= expiry)) {
      return { status: 401, body: { message: "Bad credentials" } }
    }
    if (path === "/user") {
      const scopes = [...token.permissions].filter((name) => name.startsWith("scope:"))
      const headers: Readonly<Record<string, string>> =
        scopes.length === 0 ? {} : { "x-oauth-scopes": scopes.map((name) => name.slice(6)).join(", ") }
      return { status: 200, headers, body: user(token.account) }
    }
    const [, login] = /^\/users\/(.+)$/.exec(path) ?? []
    if (login !== undefined) {
      const account = state.accounts.get(decodeURIComponent(login))
      return account === undefined ? notFound : ok(user(account))
    }
    const [, id, rest] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? []
    if (id !== undefined) {
      const repository = withId(state, id)
      return repository === undefined ? notFound : inRepository(request, token, repository, rest ?? "")
    }
    const [, repositoryPath, within] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? []
    if (repositoryPath === undefined) return notFound
    const { moved, repository } = lookedUp(state, repositoryPath)
    if (repository === undefined) return notFound
    if (moved) {
      const location = `${origin}/api/v3/repositories/${repository.id}${within ?? ""}`
      return {
        status: method === "GET" ? 301 : 307,
        headers: { location },
        body: { message: "Moved Permanently", url: location }
      }
    }
    return inRepository(request, token, repository, within ?? "")
  }

  return forgeServer(state, "/api/v3", 403, (request) => answer(request)).pipe(
    Effect.map((address) => {
      origin = address
      return address
    })
  )
}
