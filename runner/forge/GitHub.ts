import { Clock, Effect, Redacted, Schema } from "effect"
import { importJWK, SignJWT } from "jose"
import { createHash, createPrivateKey } from "node:crypto"
import type { ForgeAccount, ForgeCredential, ForgePullRequest, ForgeRepository } from "../../schema/records/Forge.ts"
import { CommitId } from "../../schema/records/Primitives.ts"
import type { ForgeAccess, ForgeComment, ForgeStatus } from "./Forge.ts"
import {
  answered,
  apiAddress,
  askForge,
  type AskedOnce,
  failure,
  type ForgeApi,
  type ForgeCall,
  type ForgeCalls,
  numberAtEnd,
  readPages
} from "./ForgeRequest.ts"

const pullRequestsPerPage = 50
const commentsPerPage = 30
/** Maximum length of a status description. */
const longestDescription = 140
/** Maximum number of characters in the summary of a check. */
const longestSummary = 65_535

const Repository = Schema.Struct({ id: Schema.Int, full_name: Schema.String })
const User = Schema.Struct({ id: Schema.Int, login: Schema.String })
const Side = Schema.Struct({
  ref: Schema.String,
  sha: CommitId,
  repo: Schema.NullOr(Schema.Struct({ id: Schema.Int }))
})
const PullRequest = Schema.Struct({
  number: Schema.Int,
  title: Schema.String,
  html_url: Schema.String,
  state: Schema.Literals(["open", "closed"]),
  draft: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  user: Schema.NullOr(User),
  head: Side,
  base: Schema.Struct({ ref: Schema.String, repo: Schema.Struct({ id: Schema.Int }) }),
  merged_at: Schema.NullOr(Schema.String),
  merge_commit_sha: Schema.NullOr(CommitId)
})
const Comment = Schema.Struct({ id: Schema.Int, user: Schema.NullOr(User), body: Schema.NullOr(Schema.String) })
const Remark = Schema.Struct({ ...Comment.fields, issue_url: Schema.String, created_at: Schema.String })
const Permissions = Schema.Record(Schema.String, Schema.String)
const InstallationToken = Schema.Struct({
  token: Schema.String,
  expires_at: Schema.String,
  permissions: Schema.optionalKey(Permissions)
})
const Installations = Schema.Array(Schema.Struct({ id: Schema.Int }))
const CheckRuns = Schema.Struct({
  check_runs: Schema.Array(Schema.Struct({ id: Schema.Int, status: Schema.optionalKey(Schema.String) }))
})
const Permission = Schema.Struct({ permission: Schema.String, user: Schema.NullOr(User) })

/** The account that GitHub shows for a comment or pull request whose author no longer exists. */
const ghost: ForgeAccount = { id: "0", login: "ghost" }

const accountOf = (user: typeof User.Type | null): ForgeAccount =>
  user === null ? ghost : { id: String(user.id), login: user.login }

const commentOf = ({ body, id, user }: typeof Comment.Type): ForgeComment => ({
  id: String(id),
  author: accountOf(user),
  body: body ?? ""
})

const repositoryOf = ({ full_name, id }: typeof Repository.Type): ForgeRepository => ({
  id: String(id),
  path: full_name
})

const pullRequestOf = (read: typeof PullRequest.Type): ForgePullRequest => ({
  number: read.number,
  title: read.title,
  url: read.html_url,
  state: read.merged_at === null ? read.state : "merged",
  draft: read.draft ?? false,
  author: accountOf(read.user),
  headCommit: read.head.sha,
  headRef: read.head.ref,
  headRepositoryId: read.head.repo === null ? null : String(read.head.repo.id),
  baseRef: read.base.ref,
  baseRepositoryId: String(read.base.repo.id),
  // Before the merge, this is a commit that GitHub creates to test the merge.
  mergeCommit: read.merged_at === null ? null : read.merge_commit_sha
})

/** Returns the repository's path relative to the API's address, if the value can be a path. */
const repositoryPath = (path: string): Effect.Effect<string, ReturnType<typeof failure>> =>
  /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(path) && !path.split("/").some((part) => part === "." || part === "..")
    ? Effect.succeed(`/repos/${path}`)
    : Effect.fail(failure("missing", "GitHub has no repository with such a path."))

/** svc renews an installation's token this long before it expires. GitHub issues tokens for an hour. */
const tokenReserveMillis = 5 * 60_000
const mostKept = 500

interface KeptToken {
  readonly token: Redacted.Redacted
  readonly permissions: Readonly<Record<string, string>>
  readonly until: number
}

type App = Extract<ForgeCredential, { readonly _tag: "App" }>

const digestOf = (...parts: ReadonlyArray<string>) => createHash("sha256").update(JSON.stringify(parts)).digest("hex")

const keyOf = ({ address, credential }: ForgeAccess) =>
  credential._tag === "App"
    ? digestOf(address, credential.appId, credential.installationId ?? "", Redacted.value(credential.privateKey))
    : digestOf(address, Redacted.value(credential.token))

const keep = <A>(kept: Map<string, A>, key: string, value: A) => {
  if (kept.size >= mostKept) kept.clear()
  kept.set(key, value)
}

/** Returns a token that authenticates svc as the App for nine minutes. GitHub accepts at most ten minutes. */
const appToken = Effect.fnUntraced(function* ({ appId, privateKey }: App) {
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  return yield* Effect.tryPromise({
    try: async () => {
      // GitHub offers its keys in the PKCS #1 format, which Web Crypto cannot read.
      const key = createPrivateKey(Redacted.value(privateKey)).export({ format: "jwk" })
      return Redacted.make(
        await new SignJWT({})
          .setProtectedHeader({ alg: "RS256", typ: "JWT" })
          .setIssuer(appId)
          // Backdate the token, because GitHub's clock may be behind.
          .setIssuedAt(seconds - 60)
          .setExpirationTime(seconds + 9 * 60)
          .sign(await importJWK({ ...key, alg: "RS256" }, "RS256"))
      )
    },
    catch: () => failure("unauthorized", "The App's private key is not an RSA key in PEM form.")
  })
})

const bearer = (token: Redacted.Redacted) => Redacted.make(`Bearer ${Redacted.value(token)}`)

const baseOf = (access: ForgeAccess) => {
  const base = apiAddress(access)
  return base === undefined
    ? Effect.fail(failure("refused", "The address of the forge is not valid."))
    : Effect.succeed(base)
}

const writes = (permissions: Readonly<Record<string, string>>, name: string) => permissions[name] === "write"

const checkConclusion = {
  pending: { status: "in_progress" },
  success: { status: "completed", conclusion: "success" },
  failure: { status: "completed", conclusion: "failure" },
  error: { status: "completed", conclusion: "failure" }
} as const

/**
 * Returns the id of the App's installation. A private App can be installed only by its owner, so it has at most one
 * installation.
 */
const installationOf = Effect.fnUntraced(function* (api: ForgeApi, { installationId }: App) {
  if (installationId !== undefined) {
    return /^\d{1,20}$/.test(installationId)
      ? installationId
      : yield* failure("missing", "The installation's id is not a number.")
  }
  const [only, ...others] = yield* askForge("github", api, {
    method: "GET",
    path: "/app/installations?per_page=2"
  }).pipe(Effect.flatMap(answered(Installations, api.base.host)))
  if (only === undefined) {
    return yield* failure(
      "missing",
      "The GitHub App is not installed. Install it at GitHub on the repositories that svc follows, then test the Connection again."
    )
  }
  return others.length === 0
    ? String(only.id)
    : yield* failure("missing", "The GitHub App has several installations. Give the Connection an installation_id.")
})

/**
 * The client of GitHub's REST API. It identifies repositories by id, like GitHub's own redirects and links, because somebody else
 * may create a repository at the former path of a renamed repository. Tokens of installations are kept only in memory.
 */
export const makeGitHub = (): ForgeCalls => {
  const tokens = new Map<string, KeptToken>()
  const accounts = new Map<string, ForgeAccount>()

  const installationToken = Effect.fn("GitHub.installationToken")(function* (access: ForgeAccess, app: App) {
    const key = keyOf(access)
    const now = yield* Clock.currentTimeMillis
    const found = tokens.get(key)
    if (found !== undefined && found.until > now) return found
    const base = yield* baseOf(access)
    const api: ForgeApi = { base, authorization: bearer(yield* appToken(app)) }
    const installation = yield* installationOf(api, app)
    const issued = yield* askForge("github", api, {
      method: "POST",
      path: `/app/installations/${installation}/access_tokens`
    }).pipe(Effect.flatMap(answered(InstallationToken, base.host)))
    const expires = Date.parse(issued.expires_at)
    const token: KeptToken = {
      token: Redacted.make(issued.token),
      permissions: issued.permissions ?? {},
      until: Number.isNaN(expires) ? now : expires - tokenReserveMillis
    }
    keep(tokens, key, token)
    return token
  })

  const apiOf = Effect.fnUntraced(function* (access: ForgeAccess) {
    const base = yield* baseOf(access)
    const { credential } = access
    const token = credential._tag === "App" ? (yield* installationToken(access, credential)).token : credential.token
    return { base, authorization: bearer(token) } satisfies ForgeApi
  })

  /** Sends a request. Repeats it once if GitHub no longer accepts the cached token of an installation. */
  const ask = Effect.fnUntraced(function* (access: ForgeAccess, call: ForgeCall) {
    const wasKept = tokens.has(keyOf(access))
    return yield* Effect.flatMap(apiOf(access), (api) => askForge("github", api, call)).pipe(
      Effect.catchIf(
        (cause) => cause._tag === "ForgeFailure" && cause.reason === "unauthorized" && wasKept,
        () => {
          tokens.delete(keyOf(access))
          return Effect.flatMap(apiOf(access), (api) => askForge("github", api, call))
        }
      )
    )
  })

  const read = <A>(access: ForgeAccess, call: ForgeCall, schema: Schema.Codec<A, unknown>): AskedOnce<A> =>
    Effect.flatMap(ask(access, call), answered(schema, "GitHub"))

  const get = <A>(access: ForgeAccess, path: string, schema: Schema.Codec<A, unknown>) =>
    read(access, { method: "GET", path }, schema)

  const account = Effect.fn("GitHub.account")(function* (access: ForgeAccess) {
    const key = keyOf(access)
    const found = accounts.get(key)
    if (found !== undefined) return found
    const { credential } = access
    let path = "/user"
    if (credential._tag === "App") {
      const base = yield* baseOf(access)
      const { slug } = yield* askForge(
        "github",
        { base, authorization: bearer(yield* appToken(credential)) },
        { method: "GET", path: "/app" }
      ).pipe(Effect.flatMap(answered(Schema.Struct({ slug: Schema.String }), base.host)))
      path = `/users/${encodeURIComponent(`${slug}[bot]`)}`
    }
    const own = accountOf(yield* get(access, path, User))
    keep(accounts, key, own)
    return own
  })

  const repository = Effect.fn("GitHub.repository")(function* (access: ForgeAccess, path: string) {
    return repositoryOf(yield* get(access, yield* repositoryPath(path), Repository))
  })

  const missingForApp = (permissions: Readonly<Record<string, string>>): ReadonlyArray<string> => [
    ...(permissions["contents"] === undefined ? ["Contents: read"] : []),
    ...(writes(permissions, "pull_requests") ? [] : ["Pull requests: read and write"]),
    ...(writes(permissions, "checks") || writes(permissions, "statuses")
      ? []
      : ["Checks: read and write, or Commit statuses: read and write"])
  ]

  /** Returns the permission that the credential lacks for reading the repository's pull requests. */
  const missingAt = (access: ForgeAccess, path: string) =>
    Effect.gen(function* () {
      const { path: current } = yield* repository(access, path)
      yield* ask(access, { method: "GET", path: `/repos/${current}/pulls?state=open&per_page=1` })
      return []
    }).pipe(
      Effect.catchTag("ForgeFailure", (cause) => {
        if (cause.reason === "missing") return Effect.succeed([`access to the repository ${path}`])
        return cause.reason === "forbidden"
          ? Effect.succeed([`Pull requests: read and write, for ${path}`])
          : Effect.fail(cause)
      }),
      Effect.catchTag("ForgeMoved", () => Effect.succeed<ReadonlyArray<string>>([]))
    )

  const setCommitStatus = Effect.fnUntraced(function* (
    access: ForgeAccess,
    id: string,
    commit: string,
    status: ForgeStatus
  ) {
    const { context, state, url } = status
    const description = status.description.slice(0, longestDescription)
    const body = { state, target_url: url, description, context }
    yield* ask(access, { method: "POST", path: `/repositories/${id}/statuses/${commit}`, body })
  })

  /** Writes the check with this name. A completed check is not reopened: a new check with the same name replaces it. */
  const setCheck = Effect.fnUntraced(function* (
    access: ForgeAccess,
    { appId }: App,
    id: string,
    commit: string,
    status: ForgeStatus
  ) {
    const own = /^\d+$/.test(appId) ? `&app_id=${appId}` : ""
    const found = yield* get(
      access,
      `/repositories/${id}/commits/${commit}/check-runs?check_name=${encodeURIComponent(status.context)}&filter=latest${own}`,
      CheckRuns
    )
    const title = status.description.slice(0, longestDescription)
    const body = {
      name: status.context,
      details_url: status.url,
      ...checkConclusion[status.state],
      output: { title, summary: (status.summary ?? title).slice(0, longestSummary) }
    }
    const [existing] = found.check_runs
    const isReopened = existing?.status === "completed" && status.state === "pending"
    yield* existing === undefined || isReopened
      ? ask(access, { method: "POST", path: `/repositories/${id}/check-runs`, body: { ...body, head_sha: commit } })
      : ask(access, { method: "PATCH", path: `/repositories/${id}/check-runs/${existing.id}`, body })
  })

  /** Writes a check if the installation's token permits it. Otherwise writes a commit status. */
  const setState = Effect.fnUntraced(function* (access: ForgeAccess, id: string, commit: string, status: ForgeStatus) {
    const { credential } = access
    const permissions = credential._tag === "App" ? (yield* installationToken(access, credential)).permissions : {}
    return yield* credential._tag === "App" && writes(permissions, "checks")
      ? setCheck(access, credential, id, commit, status)
      : setCommitStatus(access, id, commit, status)
  })

  const setStatus: ForgeCalls["setStatus"] = Effect.fn("GitHub.setStatus")(function* (
    access,
    { id },
    _number,
    commit,
    status
  ) {
    const set = setState(access, id, commit, status)
    yield* Effect.catchIf(
      set,
      (cause) => cause._tag === "ForgeFailure" && cause.reason === "forbidden" && tokens.has(keyOf(access)),
      () => {
        // Retry with a new token, because the App's permissions may have changed since GitHub issued the cached token.
        tokens.delete(keyOf(access))
        return set
      }
    )
  })

  return {
    account,
    repository,
    test: Effect.fn("GitHub.test")(function* (access, paths) {
      const { credential } = access
      accounts.delete(keyOf(access))
      if (credential._tag === "App") {
        tokens.delete(keyOf(access))
        const { permissions } = yield* installationToken(access, credential)
        const places = yield* Effect.forEach(paths, (path) => missingAt(access, path))
        return { account: yield* account(access), missing: [...missingForApp(permissions), ...places.flat()] }
      }
      const answer = yield* ask(access, { method: "GET", path: "/user" })
      const own = accountOf(yield* answered(User, "GitHub")(answer))
      // GitHub reports the scopes of classic tokens, but not of fine-grained tokens.
      const scopes = answer.headers["x-oauth-scopes"]
      const given = typeof scopes === "string" ? scopes.split(",").map((scope) => scope.trim()) : undefined
      const isClassic = given !== undefined && given.some((scope) => scope !== "")
      const missing = isClassic && !given.some((scope) => scope === "repo" || scope === "public_repo") ? ["repo"] : []
      const places = yield* Effect.forEach(paths, (path) => missingAt(access, path))
      return { account: own, missing: [...missing, ...places.flat()] }
    }),
    repositoryWithId: Effect.fn("GitHub.repositoryWithId")(function* (access, id) {
      return repositoryOf(yield* get(access, `/repositories/${id}`, Repository))
    }),
    openPullRequests: Effect.fn("GitHub.openPullRequests")(function* (access, { id }) {
      const { complete, items } = yield* readPages(pullRequestsPerPage, (page) =>
        get(
          access,
          `/repositories/${id}/pulls?state=open&sort=created&direction=asc&per_page=${pullRequestsPerPage}&page=${page}`,
          Schema.Array(PullRequest)
        )
      )
      return { pullRequests: items.map(pullRequestOf), complete }
    }),
    pullRequest: Effect.fn("GitHub.pullRequest")(function* (access, { id }, number) {
      return pullRequestOf(yield* get(access, `/repositories/${id}/pulls/${number}`, PullRequest))
    }),
    mayWrite: Effect.fn("GitHub.mayWrite")(function* (access, { id }, person) {
      const { permission, user } = yield* get(
        access,
        `/repositories/${id}/collaborators/${encodeURIComponent(person.login)}/permission`,
        Permission
      )
      return user !== null && String(user.id) === person.id && (permission === "admin" || permission === "write")
    }),
    commentsSince: Effect.fn("GitHub.commentsSince")(function* (access, { id }, since) {
      const query = `since=${encodeURIComponent(since)}&sort=created&direction=asc&per_page=${commentsPerPage}`
      const found = yield* get(access, `/repositories/${id}/issues/comments?${query}`, Schema.Array(Remark))
      return found.flatMap((remark) => {
        const number = numberAtEnd(remark.issue_url)
        return number === undefined ? [] : [{ ...commentOf(remark), number, createdAt: remark.created_at }]
      })
    }),
    findComment: Effect.fn("GitHub.findComment")(function* (access, { id }, number, marker, author) {
      const isOwn = (comment: typeof Comment.Type) =>
        accountOf(comment.user).id === author.id && (comment.body ?? "").includes(marker)
      const { complete, items } = yield* readPages(
        commentsPerPage,
        (page) =>
          get(
            access,
            `/repositories/${id}/issues/${number}/comments?per_page=${commentsPerPage}&page=${page}`,
            Schema.Array(Comment)
          ),
        (listed) => listed.some(isOwn)
      )
      const found = items.find(isOwn)
      if (found === undefined && !complete) {
        return yield* failure("rejected", "The pull request has more comments than svc reads.")
      }
      return found === undefined ? undefined : commentOf(found)
    }),
    createComment: Effect.fn("GitHub.createComment")(function* (access, { id }, number, body) {
      const call = { method: "POST", path: `/repositories/${id}/issues/${number}/comments`, body: { body } } as const
      return commentOf(yield* read(access, call, Comment))
    }),
    editComment: Effect.fn("GitHub.editComment")(function* (access, { id }, _number, commentId, body) {
      yield* ask(access, { method: "PATCH", path: `/repositories/${id}/issues/comments/${commentId}`, body: { body } })
    }),
    deleteComment: Effect.fn("GitHub.deleteComment")(function* (access, { id }, _number, commentId) {
      yield* ask(access, { method: "DELETE", path: `/repositories/${id}/issues/comments/${commentId}` })
    }),
    setStatus
  }
}
