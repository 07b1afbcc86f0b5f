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

const levels: Readonly<Record<string, number>> = { read: 20, write: 30, admin: 40 }

const user = ({ id, login }: FakeAccount) => ({ id, username: login, state: "active" })

const note = ({ author, body, id }: FakeComment) => ({ id, author: user(author), body, system: false, type: null })

const mergeRequest = (repository: FakeRepository, pr: FakePullRequest) => ({
  id: pr.number + 500,
  iid: pr.number,
  title: pr.title,
  web_url: `https://gitlab.example/${repository.path}/-/merge_requests/${pr.number}`,
  state: pr.merged ? "merged" : pr.state === "open" ? "opened" : "closed",
  draft: pr.draft,
  work_in_progress: pr.draft,
  author: user(pr.author),
  sha: pr.headCommit,
  source_branch: pr.headRef,
  source_project_id: pr.headRepositoryId,
  target_branch: pr.baseRef,
  target_project_id: repository.id,
  merge_commit_sha: pr.mergeCommit,
  squash_commit_sha: null,
  head_pipeline: pr.pipelineId === undefined ? null : { id: pr.pipelineId, sha: pr.headCommit, status: "running" }
})

const forbidden: FakeAnswer = { status: 403, body: { message: "403 Forbidden" } }
/** The response to a token without the required scope. */
const insufficient: FakeAnswer = { status: 403, body: { error: "insufficient_scope" } }

const inProject = (
  state: ForgeState,
  { body, method, query }: FakeRequest,
  token: FakeToken,
  repository: FakeRepository,
  rest: string
): FakeAnswer => {
  if (rest === "") {
    const level = levels[repository.collaborators.get(token.account.login) ?? ""]
    return ok({
      id: repository.id,
      path_with_namespace: repository.path,
      permissions: { project_access: level === undefined ? null : { access_level: level }, group_access: null }
    })
  }
  if (rest === "/events") {
    const all = [...repository.pullRequests.values()].flatMap((pr) =>
      pr.comments.map((one) => ({
        action_name: "commented on",
        note: { ...note(one), created_at: one.at, noteable_type: "MergeRequest", noteable_iid: pr.number }
      }))
    )
    return ok(
      pageOf(
        all.toSorted((a, b) => b.note.id - a.note.id),
        query,
        "per_page"
      )
    )
  }
  const [, member] = /^\/members\/all\/(\d+)$/.exec(rest) ?? []
  if (member !== undefined) {
    const account = [...state.accounts.values()].find(({ id }) => String(id) === member)
    const level = levels[repository.collaborators.get(account?.login ?? "") ?? ""]
    return account === undefined || level === undefined ? notFound : ok({ ...user(account), access_level: level })
  }
  const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? []
  if (sha !== undefined && method === "POST") {
    if (!may(token, "statuses")) return forbidden
    const last = state.statuses.findLast(({ commit, context }) => commit === sha && context === body["name"])
    if (last !== undefined && last.state === body["state"] && last.state === "pending") {
      return {
        status: 400,
        body: {
          message:
            'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")'
        }
      }
    }
    state.statuses.push({
      commit: sha,
      context: text(body["name"]),
      state: text(body["state"]),
      description: text(body["description"]),
      url: text(body["target_url"]),
      ref: text(body["ref"]),
      pipelineId: typeof body["pipeline_id"] === "number" ? body["pipeline_id"] : undefined
    })
    return made({ id: state.nextId(), status: body["state"] })
  }
  if (rest === "/merge_requests") {
    const open = [...repository.pullRequests.values()].filter((pr) => pr.state === "open" && !pr.merged)
    return ok(pageOf(open, query, "per_page").map((pr) => mergeRequest(repository, pr)))
  }
  const [, iid, within] = /^\/merge_requests\/(\d+)(\/notes(?:\/\d+)?)?$/.exec(rest) ?? []
  const pr = iid === undefined ? undefined : repository.pullRequests.get(Number(iid))
  if (pr === undefined) return notFound
  if (within === undefined) return ok(mergeRequest(repository, pr))
  if (within === "/notes") {
    if (method === "GET") return ok(pageOf(pr.comments, query, "per_page").map(note))
    return may(token, "notes") ? made(note(commentMade(state, pr, token.account, text(body["body"])))) : forbidden
  }
  const found = commentWith(repository, within.slice("/notes/".length))
  if (found === undefined || (method !== "PUT" && method !== "DELETE")) return notFound
  if (!may(token, "notes") || found.author.id !== token.account.id) return forbidden
  if (method === "DELETE") return commentRemoved(repository, found)
  found.body = text(body["body"])
  return ok(note(found))
}

/** Serves a fake of GitLab's REST API, based on the public documentation. */
export const fakeGitLab = (state: ForgeState) =>
  forgeServer(state, "/api/v4", 429, (request) => {
    const token = state.tokens.get(request.authorization.replace(/^Bearer /, ""))
    if (token === undefined) return { status: 401, body: { message: "401 Unauthorized" } }
    const { method, path } = request
    if (path === "/personal_access_tokens/self") {
      return ok({ id: 1, scopes: may(token, "api") ? ["api"] : ["read_user"], active: true })
    }
    if (!may(token, "api")) return insufficient
    if (path === "/user") return ok(user(token.account))
    const [, name, rest] = /^\/projects\/([^/]+)(\/.*)?$/.exec(path) ?? []
    if (name === undefined) return notFound
    if (/^\d+$/.test(name)) {
      const repository = withId(state, name)
      return repository === undefined ? notFound : inProject(state, request, token, repository, rest ?? "")
    }
    const { moved, repository } = lookedUp(state, decodeURIComponent(name))
    if (repository === undefined || (moved && method !== "GET")) return notFound
    return moved
      ? { status: 302, headers: { location: `/api/v4/projects/${repository.id}${rest ?? ""}` }, body: {} }
      : inProject(state, request, token, repository, rest ?? "")
  })
