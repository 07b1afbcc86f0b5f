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
  readPages
} from "./ForgeRequest.ts"

const perPage = 30
const eventsPerPage = 100
/** The access level of the Developer role, which may push branches and set statuses. */
const developer = 30
const longestDescription = 255

const User = Schema.Struct({ id: Schema.Int, username: Schema.String })
const Access = Schema.NullOr(Schema.Struct({ access_level: Schema.Int }))
const Project = Schema.Struct({
  id: Schema.Int,
  path_with_namespace: Schema.String,
  permissions: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({ project_access: Schema.optionalKey(Access), group_access: Schema.optionalKey(Access) })
    )
  )
})
const MergeRequest = Schema.Struct({
  iid: Schema.Int,
  title: Schema.String,
  web_url: Schema.String,
  state: Schema.Literals(["opened", "closed", "locked", "merged"]),
  draft: Schema.optionalKey(Schema.Boolean),
  author: User,
  /** Absent for a merge request without commits. */
  sha: Schema.NullOr(CommitId),
  source_branch: Schema.String,
  source_project_id: Schema.NullOr(Schema.Int),
  target_branch: Schema.String,
  target_project_id: Schema.Int,
  merge_commit_sha: Schema.optionalKey(Schema.NullOr(CommitId)),
  squash_commit_sha: Schema.optionalKey(Schema.NullOr(CommitId)),
  head_pipeline: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: Schema.Int, sha: Schema.String })))
})
type MergeRequest = typeof MergeRequest.Type
const Note = Schema.Struct({ id: Schema.Int, author: User, body: Schema.String, system: Schema.Boolean })
const Commented = Schema.Struct({
  note: Schema.Struct({
    ...Note.fields,
    created_at: Schema.String,
    noteable_type: Schema.NullOr(Schema.String),
    noteable_iid: Schema.optionalKey(Schema.NullOr(Schema.Int))
  })
})
const OwnToken = Schema.Struct({ scopes: Schema.Array(Schema.String) })
const Member = Schema.Struct({ access_level: Schema.Int, state: Schema.optionalKey(Schema.String) })
/** GitLab's error message if the status is already set. */
const alreadySet = /Cannot transition status/

const accountOf = ({ id, username }: typeof User.Type): ForgeAccount => ({ id: String(id), login: username })

const commentOf = ({ author, body, id }: typeof Note.Type): ForgeComment => ({
  id: String(id),
  author: accountOf(author),
  body
})

const repositoryOf = ({ id, path_with_namespace }: typeof Project.Type): ForgeRepository => ({
  id: String(id),
  path: path_with_namespace
})

const states = { opened: "open", locked: "open", closed: "closed", merged: "merged" } as const

const pullRequestOf = (read: MergeRequest): ReadonlyArray<ForgePullRequest> => {
  if (read.sha === null) return []
  // After a fast-forward merge, use the head, because such a merge adds no further commit.
  const merged = read.merge_commit_sha ?? read.squash_commit_sha ?? read.sha
  return [
    {
      number: read.iid,
      title: read.title,
      url: read.web_url,
      state: states[read.state],
      draft: read.draft ?? false,
      author: accountOf(read.author),
      headCommit: read.sha,
      headRef: read.source_branch,
      headRepositoryId: read.source_project_id === null ? null : String(read.source_project_id),
      baseRef: read.target_branch,
      baseRepositoryId: String(read.target_project_id),
      mergeCommit: read.state === "merged" ? merged : null
    }
  ]
}

const statusStates = { pending: "pending", success: "success", failure: "failed", error: "failed" } as const

const ask = Effect.fnUntraced(function* (access: ForgeAccess, call: ForgeCall) {
  const base = apiAddress(access)
  if (base === undefined) return yield* failure("refused", "The address of the forge is not valid.")
  if (access.credential._tag !== "Token") return yield* failure("unauthorized", "GitLab needs a token.")
  const authorization = Redacted.make(`Bearer ${Redacted.value(access.credential.token)}`)
  return yield* askForge("gitlab", { base, authorization }, call)
})

const read = <A>(access: ForgeAccess, call: ForgeCall, schema: Schema.Codec<A, unknown>): AskedOnce<A> =>
  Effect.flatMap(ask(access, call), answered(schema, "GitLab"))

const get = <A>(access: ForgeAccess, path: string, schema: Schema.Codec<A, unknown>) =>
  read(access, { method: "GET", path }, schema)

const mergeRequest = (access: ForgeAccess, { id }: ForgeRepository, number: number) =>
  get(access, `/projects/${id}/merge_requests/${number}`, MergeRequest)

const project = (access: ForgeAccess, path: string) => get(access, `/projects/${encodeURIComponent(path)}`, Project)

const levelIn = ({ permissions }: typeof Project.Type): number | undefined => {
  const levels = [permissions?.project_access?.access_level, permissions?.group_access?.access_level]
  const known = levels.filter((level) => level !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

/** Returns the reason why the token cannot be used for the project. */
const missingAt = (access: ForgeAccess, path: string) =>
  project(access, path).pipe(
    Effect.map((found): ReadonlyArray<string> => {
      const level = levelIn(found)
      return level !== undefined && level < developer ? [`the Developer role in ${path}`] : []
    }),
    Effect.catchIf(
      (cause) => cause._tag === "ForgeFailure" && cause.reason === "missing",
      () => Effect.succeed([`access to the project ${path}`])
    ),
    Effect.catchTag("ForgeMoved", () => Effect.succeed<ReadonlyArray<string>>([]))
  )

/**
 * The client of GitLab's REST API. It identifies projects by id, because a project's id stays the same when the project is
 * renamed.
 */
export const gitLab: ForgeCalls = {
  account: Effect.fn("GitLab.account")(function* (access) {
    return accountOf(yield* get(access, "/user", User))
  }),
  test: Effect.fn("GitLab.test")(function* (access, paths) {
    const { scopes } = yield* get(access, "/personal_access_tokens/self", OwnToken)
    if (!scopes.includes("api")) {
      // Do not request `/user`, because GitLab may also refuse that request without this scope.
      return { account: { id: "0", login: "unknown" }, missing: ["the scope api"] }
    }
    const own = accountOf(yield* get(access, "/user", User))
    const places = yield* Effect.forEach(paths, (path) => missingAt(access, path))
    return { account: own, missing: places.flat() }
  }),
  repository: Effect.fn("GitLab.repository")(function* (access, path) {
    return repositoryOf(yield* project(access, path))
  }),
  repositoryWithId: Effect.fn("GitLab.repositoryWithId")(function* (access, id) {
    return repositoryOf(yield* get(access, `/projects/${id}`, Project))
  }),
  openPullRequests: Effect.fn("GitLab.openPullRequests")(function* (access, { id }) {
    const { complete, items } = yield* readPages(perPage, (page) =>
      get(
        access,
        `/projects/${id}/merge_requests?state=opened&order_by=created_at&sort=asc&per_page=${perPage}&page=${page}`,
        Schema.Array(MergeRequest)
      )
    )
    return { pullRequests: items.flatMap(pullRequestOf), complete }
  }),
  pullRequest: Effect.fn("GitLab.pullRequest")(function* (access, repository, number) {
    const [found] = pullRequestOf(yield* mergeRequest(access, repository, number))
    return found ?? (yield* failure("missing", "The merge request has no commits."))
  }),
  mayWrite: Effect.fn("GitLab.mayWrite")(
    function* (access, repository, account) {
      const { access_level, state } = yield* get(access, `/projects/${repository.id}/members/all/${account.id}`, Member)
      return access_level >= developer && (state === undefined || state === "active")
    },
    Effect.catchIf(
      (cause) => cause._tag === "ForgeFailure" && cause.reason === "missing",
      () => Effect.succeed(false)
    )
  ),
  commentsSince: Effect.fn("GitLab.commentsSince")(function* (access, { id }, since) {
    // Subtract a day, because the parameter is a date and GitLab excludes that date.
    const after = new Date(Date.parse(since) - 86_400_000).toISOString().slice(0, 10)
    const listed = yield* get(
      access,
      `/projects/${id}/events?action=commented&target_type=note&after=${after}&sort=desc&per_page=${eventsPerPage}`,
      Schema.Array(Commented)
    )
    return listed
      .toReversed()
      .flatMap(({ note }) =>
        note.noteable_type === "MergeRequest" && note.noteable_iid != null && !note.system
          ? [{ ...commentOf(note), number: note.noteable_iid, createdAt: note.created_at }]
          : []
      )
  }),
  findComment: Effect.fn("GitLab.findComment")(function* (access, { id }, number, marker, author) {
    const isOwn = (note: typeof Note.Type) =>
      !note.system && String(note.author.id) === author.id && note.body.includes(marker)
    const { complete, items } = yield* readPages(
      perPage,
      (page) =>
        get(
          access,
          `/projects/${id}/merge_requests/${number}/notes?order_by=created_at&sort=asc&per_page=${perPage}&page=${page}`,
          Schema.Array(Note)
        ),
      (notes) => notes.some(isOwn)
    )
    const found = items.find(isOwn)
    if (found === undefined && !complete) {
      return yield* failure("rejected", "The merge request has more comments than svc reads.")
    }
    return found === undefined ? undefined : commentOf(found)
  }),
  createComment: Effect.fn("GitLab.createComment")(function* (access, { id }, number, body) {
    const call = { method: "POST", path: `/projects/${id}/merge_requests/${number}/notes`, body: { body } } as const
    return commentOf(yield* read(access, call, Note))
  }),
  editComment: Effect.fn("GitLab.editComment")(function* (access, { id }, number, commentId, body) {
    yield* ask(access, {
      method: "PUT",
      path: `/projects/${id}/merge_requests/${number}/notes/${commentId}`,
      body: { body }
    })
  }),
  deleteComment: Effect.fn("GitLab.deleteComment")(function* (access, { id }, number, commentId) {
    yield* ask(access, {
      method: "DELETE",
      path: `/projects/${id}/merge_requests/${number}/notes/${commentId}`
    })
  }),
  setStatus: Effect.fn("GitLab.setStatus")(function* (access, repository, number, commit, status) {
    const { head_pipeline, sha, source_branch, target_branch } = yield* mergeRequest(access, repository, number)
    // If the request omits the id of the merge request's own pipeline, GitLab creates a second pipeline for the status.
    const place =
      head_pipeline?.sha === commit
        ? { pipeline_id: head_pipeline.id }
        : { ref: commit === sha ? source_branch : target_branch }
    yield* ask(access, {
      method: "POST",
      path: `/projects/${repository.id}/statuses/${commit}`,
      body: {
        state: statusStates[status.state],
        name: status.context,
        target_url: status.url,
        description: status.description.slice(0, longestDescription),
        ...place
      },
      doneIf: alreadySet
    })
  })
}
