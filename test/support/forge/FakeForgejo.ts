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

const user = ({ id, login }: FakeAccount) => ({ id, login, username: login })

const comment = ({ author, body, id }: FakeComment) => ({ id, user: user(author), body })

const writesTo = ({ collaborators }: FakeRepository, { login }: FakeAccount) =>
  ["write", "admin"].includes(collaborators.get(login) ?? "")

const repositoryBody = (repository: FakeRepository, token: FakeToken) => ({
  id: repository.id,
  full_name: repository.path,
  permissions: { admin: false, push: writesTo(repository, token.account), pull: true }
})

const pullRequest = (repository: FakeRepository, pr: FakePullRequest, token: FakeToken) => {
  // For a pull request that was pushed to refs/for, Forgejo reports the base repository as the head repository.
  const isAgit = pr.headRef.startsWith("refs/")
  const id = isAgit ? repository.id : pr.headRepositoryId
  return {
    id: pr.number + 700,
    number: pr.number,
    title: pr.title,
    html_url: `https://forgejo.example/${repository.path}/pulls/${pr.number}`,
    state: pr.merged ? "closed" : pr.state,
    draft: pr.draft,
    merged: pr.merged,
    user: user(pr.author),
    head: {
      label: isAgit ? "" : pr.headRef,
      ref: pr.headRef,
      sha: pr.headCommit,
      repo_id: id ?? -1,
      repo: id === null ? null : { ...repositoryBody(repository, token), id }
    },
    base: {
      label: pr.baseRef,
      ref: pr.baseRef,
      sha: "0".repeat(40),
      repo_id: repository.id,
      repo: repositoryBody(repository, token)
    },
    merge_commit_sha: pr.mergeCommit
  }
}

const scopeRefused = (scope: string): FakeAnswer => ({
  status: 403,
  body: { message: `token does not have at least one of required scope(s): [${scope}]` }
})

const inRepository = (
  state: ForgeState,
  { body, method, query }: FakeRequest,
  token: FakeToken,
  repository: FakeRepository,
  rest: string
): FakeAnswer => {
  if (!may(token, "repository")) return scopeRefused("write:repository")
  if (rest === "") return ok(repositoryBody(repository, token))
  if (rest === "/pulls") {
    const open = [...repository.pullRequests.values()].filter((pr) => pr.state === "open" && !pr.merged)
    return ok(pageOf(open, query, "limit").map((pr) => pullRequest(repository, pr, token)))
  }
  const [, pull] = /^\/pulls\/(\d+)$/.exec(rest) ?? []
  if (pull !== undefined) {
    const found = repository.pullRequests.get(Number(pull))
    return found === undefined ? notFound : ok(pullRequest(repository, found, token))
  }
  const [, issue] = /^\/issues\/(\d+)\/comments$/.exec(rest) ?? []
  if (issue !== undefined) {
    const found = repository.pullRequests.get(Number(issue))
    if (found === undefined) return notFound
    if (!may(token, "issue")) return scopeRefused("write:issue")
    return method === "POST"
      ? made(comment(commentMade(state, found, token.account, text(body["body"]))))
      : ok(found.comments.map(comment))
  }
  if (rest === "/issues/comments") {
    const all = [...repository.pullRequests.values()].flatMap((pr) =>
      pr.comments.map((one) => ({
        ...comment(one),
        created_at: one.at,
        issue_url: "",
        pull_request_url: `https://forgejo.example/${repository.path}/pulls/${pr.number}`
      }))
    )
    return may(token, "issue")
      ? ok(
          pageOf(
            all.toSorted((a, b) => a.id - b.id),
            query,
            "limit"
          )
        )
      : scopeRefused("read:issue")
  }
  const [, commentId] = /^\/issues\/comments\/(\d+)$/.exec(rest) ?? []
  if (commentId !== undefined && (method === "PATCH" || method === "DELETE")) {
    const found = commentWith(repository, commentId)
    if (found === undefined) return notFound
    if (!may(token, "issue")) return scopeRefused("write:issue")
    if (found.author.id !== token.account.id) return { status: 403, body: { message: "not the poster" } }
    if (method === "DELETE") return commentRemoved(repository, found)
    found.body = text(body["body"])
    return ok(comment(found))
  }
  const [, sha] = /^\/statuses\/([0-9a-f]{40})$/.exec(rest) ?? []
  if (sha !== undefined && method === "POST") {
    if (!writesTo(repository, token.account)) return { status: 403, body: { message: "no write access" } }
    state.statuses.push({
      commit: sha,
      context: text(body["context"]),
      state: text(body["state"]),
      description: text(body["description"]),
      url: text(body["target_url"])
    })
    return made({ id: state.nextId() })
  }
  const [, login] = /^\/collaborators\/(.+)\/permission$/.exec(rest) ?? []
  const account = login === undefined ? undefined : state.accounts.get(decodeURIComponent(login))
  if (account === undefined) return notFound
  return ok({ permission: repository.collaborators.get(account.login) ?? "read", user: user(account) })
}

/** Serves a fake of the REST API of Forgejo and Gitea, based on the public documentation. */
export const fakeForgejo = (state: ForgeState) =>
  forgeServer(state, "/api/v1", 429, (request) => {
    const token = state.tokens.get(request.authorization.replace(/^token /, ""))
    if (token === undefined) return { status: 401, body: { message: "invalid username, password or token" } }
    const { path } = request
    if (path === "/user") return may(token, "user") ? ok(user(token.account)) : scopeRefused("read:user")
    const [, id] = /^\/repositories\/(\d+)$/.exec(path) ?? []
    if (id !== undefined) {
      const repository = withId(state, id)
      return repository === undefined ? notFound : inRepository(state, request, token, repository, "")
    }
    const [, repositoryPath, within] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? []
    if (repositoryPath === undefined) return notFound
    const { moved, repository } = lookedUp(state, repositoryPath)
    if (repository === undefined) return notFound
    return moved
      ? { status: 307, headers: { location: `/api/v1/repos/${repository.path}${within ?? ""}` }, body: {} }
      : inRepository(state, request, token, repository, within ?? "")
  })
