import { Effect, Redacted, Schema } from "effect"
import type { ForgeAccount, ForgePullRequest, ForgeRepository } from "../../schema/records/Forge.ts"
import { CommitId } from "../../schema/records/Primitives.ts"
import type { ForgeAccess, ForgeComment } from "./Forge.ts"
import {
  answered,
  apiAddress,
  askForge,
  type AskedOnce,
  failure,
  type ForgeCall,
  type ForgeCalls,
  ForgeMoved,
  numberAtEnd,
  readPages
} from "./ForgeRequest.ts"

/** Forgejo's default maximum page size. */
const perPage = 50
const longestDescription = 255

const User = Schema.Struct({ id: Schema.Int, login: Schema.String })
const Repository = Schema.Struct({
  id: Schema.Int,
  full_name: Schema.String,
  permissions: Schema.optionalKey(Schema.NullOr(Schema.Struct({ push: Schema.Boolean })))
})
const PullRequest = Schema.Struct({
  number: Schema.Int,
  title: Schema.String,
  html_url: Schema.String,
  state: Schema.Literals(["open", "closed"]),
  draft: Schema.optionalKey(Schema.Boolean),
  merged: Schema.Boolean,
  user: Schema.NullOr(User),
  head: Schema.Struct({
    label: Schema.String,
    ref: Schema.String,
    sha: CommitId,
    repo: Schema.NullOr(Schema.Struct({ id: Schema.Int }))
  }),
  base: Schema.Struct({ ref: Schema.String, repo: Schema.Struct({ id: Schema.Int }) }),
  merge_commit_sha: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const Comment = Schema.Struct({ id: Schema.Int, user: Schema.NullOr(User), body: Schema.String })
const Remark = Schema.Struct({ ...Comment.fields, pull_request_url: Schema.String, created_at: Schema.String })
const Permission = Schema.Struct({ permission: Schema.String, user: Schema.NullOr(User) })
const isCommit = Schema.is(CommitId)

/** The account that Forgejo shows for a comment or pull request whose author no longer exists. */
const ghost: ForgeAccount = { id: "-1", login: "ghost" }

const accountOf = (user: typeof User.Type | null): ForgeAccount =>
  user === null ? ghost : { id: String(user.id), login: user.login }

const commentOf = ({ body, id, user }: typeof Comment.Type): ForgeComment => ({
  id: String(id),
  author: accountOf(user),
  body
})

const repositoryOf = ({ full_name, id }: typeof Repository.Type): ForgeRepository => ({
  id: String(id),
  path: full_name
})

/**
 * Returns the repository that contains the branch. A pull request that was pushed to `refs/for` (AGit) has no branch. For
 * such a pull request, Forgejo reports the base repository, although anybody with read access to it can push such a pull
 * request.
 */
const headRepositoryOf = ({ label, ref, repo }: (typeof PullRequest.Type)["head"]): string | null =>
  repo === null || label === "" || ref.startsWith("refs/") ? null : String(repo.id)

const pullRequestOf = (read: typeof PullRequest.Type): ForgePullRequest => ({
  number: read.number,
  title: read.title,
  url: read.html_url,
  state: read.merged ? "merged" : read.state,
  draft: read.draft ?? false,
  author: accountOf(read.user),
  headCommit: read.head.sha,
  headRef: read.head.ref,
  headRepositoryId: headRepositoryOf(read.head),
  baseRef: read.base.ref,
  baseRepositoryId: String(read.base.repo.id),
  mergeCommit: read.merged && isCommit(read.merge_commit_sha) ? read.merge_commit_sha : null
})

/** Fails if somebody else has created another repository at the former path of a renamed repository. */
const isOf = ({ id, path }: ForgeRepository, { base }: typeof PullRequest.Type): AskedOnce<void> =>
  String(base.repo.id) === id ? Effect.void : Effect.fail(new ForgeMoved({ path: `/repos/${path}` }))

const ask = Effect.fnUntraced(function* (access: ForgeAccess, call: ForgeCall) {
  const base = apiAddress(access)
  if (base === undefined) return yield* failure("refused", "The address of the forge is not valid.")
  if (access.credential._tag !== "Token") return yield* failure("unauthorized", "Forgejo needs a token.")
  const authorization = Redacted.make(`token ${Redacted.value(access.credential.token)}`)
  return yield* askForge("forgejo", { base, authorization }, call)
})

const read = <A>(access: ForgeAccess, call: ForgeCall, schema: Schema.Codec<A, unknown>): AskedOnce<A> =>
  Effect.flatMap(ask(access, call), answered(schema, "Forgejo"))

const get = <A>(access: ForgeAccess, path: string, schema: Schema.Codec<A, unknown>) =>
  read(access, { method: "GET", path }, schema)

const found = Effect.fnUntraced(function* (access: ForgeAccess, path: string) {
  const isPath = /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(path) && !path.split("/").some((part) => /^\.\.?$/.test(part))
  if (!isPath) return yield* failure("missing", "Forgejo has no repository with such a path.")
  return yield* get(access, `/repos/${path}`, Repository)
})

/** Returns the reason why the token cannot be used for the repository. */
const missingAt = (access: ForgeAccess, path: string) =>
  Effect.gen(function* () {
    const { full_name, permissions } = yield* found(access, path)
    yield* ask(access, { method: "GET", path: `/repos/${full_name}/pulls?state=open&limit=1` })
    return permissions?.push === false ? [`write access to ${path}`] : []
  }).pipe(
    Effect.catchTag("ForgeFailure", (cause) => {
      if (cause.reason === "missing") return Effect.succeed([`access to the repository ${path}`])
      return cause.reason === "forbidden" ? Effect.succeed(["the scope write:repository"]) : Effect.fail(cause)
    }),
    Effect.catchTag("ForgeMoved", () => Effect.succeed<ReadonlyArray<string>>([]))
  )

/** The client of the REST API of Forgejo and Gitea. */
export const forgejo: ForgeCalls = {
  account: Effect.fn("Forgejo.account")(function* (access) {
    return accountOf(yield* get(access, "/user", User))
  }),
  test: Effect.fn("Forgejo.test")(function* (access, paths) {
    const own = yield* Effect.map(get(access, "/user", User), accountOf).pipe(
      Effect.catchIf(
        (cause) => cause._tag === "ForgeFailure" && cause.reason === "forbidden",
        () => Effect.succeed(undefined)
      )
    )
    if (own === undefined) return { account: { id: "0", login: "unknown" }, missing: ["the scope read:user"] }
    const places = yield* Effect.forEach(paths, (path) => missingAt(access, path))
    return { account: own, missing: [...new Set(places.flat())] }
  }),
  repository: Effect.fn("Forgejo.repository")(function* (access, path) {
    return repositoryOf(yield* found(access, path))
  }),
  repositoryWithId: Effect.fn("Forgejo.repositoryWithId")(function* (access, id) {
    return repositoryOf(yield* get(access, `/repositories/${id}`, Repository))
  }),
  openPullRequests: Effect.fn("Forgejo.openPullRequests")(function* (access, repository) {
    const { path } = repository
    const { complete, items } = yield* readPages(perPage, (page) =>
      get(
        access,
        `/repos/${path}/pulls?state=open&sort=oldest&limit=${perPage}&page=${page}`,
        Schema.Array(PullRequest)
      )
    )
    yield* Effect.forEach(items, (item) => isOf(repository, item), { discard: true })
    return { pullRequests: items.map(pullRequestOf), complete }
  }),
  pullRequest: Effect.fn("Forgejo.pullRequest")(function* (access, repository, number) {
    const described = yield* get(access, `/repos/${repository.path}/pulls/${number}`, PullRequest)
    yield* isOf(repository, described)
    return pullRequestOf(described)
  }),
  mayWrite: Effect.fn("Forgejo.mayWrite")(function* (access, { path }, { id, login }) {
    const { permission, user } = yield* get(
      access,
      `/repos/${path}/collaborators/${encodeURIComponent(login)}/permission`,
      Permission
    )
    return user !== null && String(user.id) === id && ["owner", "admin", "write"].includes(permission)
  }),
  commentsSince: Effect.fn("Forgejo.commentsSince")(function* (access, { path }, since) {
    const query = `since=${encodeURIComponent(since)}&limit=${perPage}`
    const listed = yield* get(access, `/repos/${path}/issues/comments?${query}`, Schema.Array(Remark))
    return listed.flatMap((remark) => {
      // Empty if the comment belongs to an issue.
      const number = numberAtEnd(remark.pull_request_url)
      return number === undefined ? [] : [{ ...commentOf(remark), number, createdAt: remark.created_at }]
    })
  }),
  findComment: Effect.fn("Forgejo.findComment")(function* (access, { path }, number, marker, author) {
    // Forgejo does not paginate the comments of an issue.
    const comments = yield* get(access, `/repos/${path}/issues/${number}/comments`, Schema.Array(Comment))
    const own = comments.find(({ body, user }) => accountOf(user).id === author.id && body.includes(marker))
    return own === undefined ? undefined : commentOf(own)
  }),
  createComment: Effect.fn("Forgejo.createComment")(function* (access, { path }, number, body) {
    const call = { method: "POST", path: `/repos/${path}/issues/${number}/comments`, body: { body } } as const
    return commentOf(yield* read(access, call, Comment))
  }),
  editComment: Effect.fn("Forgejo.editComment")(function* (access, { path }, _number, commentId, body) {
    yield* ask(access, { method: "PATCH", path: `/repos/${path}/issues/comments/${commentId}`, body: { body } })
  }),
  deleteComment: Effect.fn("Forgejo.deleteComment")(function* (access, { path }, _number, commentId) {
    yield* ask(access, { method: "DELETE", path: `/repos/${path}/issues/comments/${commentId}` })
  }),
  setStatus: Effect.fn("Forgejo.setStatus")(function* (access, { path }, _number, commit, status) {
    yield* ask(access, {
      method: "POST",
      path: `/repos/${path}/statuses/${commit}`,
      body: {
        state: status.state,
        target_url: status.url,
        description: status.description.slice(0, longestDescription),
        context: status.context
      }
    })
  })
}
