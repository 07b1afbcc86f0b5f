import { Effect, FileSystem, Path } from "effect"
import { execFileSync } from "node:child_process"
import { request as httpRequest } from "node:http"
import { fakeForgejo } from "./FakeForgejo.ts"
import { forgeState, openPullRequest } from "./ForgeState.ts"
import { serveByHttpBackend } from "../GitServer.ts"
import { loopback } from "../LoopbackServer.ts"

const repositoryPath = "team/infra"
const robot = { id: 7, login: "svc-robot" }
const developer = { id: 8, login: "aiko" }

/** The token of svc's account at the forge. */
export const forgeToken = "forge-token"

export type MergeWay = "merge" | "squash" | "rebase"

/**
 * Creates a repository that the installed Git serves, and its pull requests at a fake forge. The repository and the forge
 * have the same origin, because svc uses a forge Connection only for repositories at the origin of the forge. Everything is
 * removed when the Scope closes.
 */
export const forgeRepository = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "dashboard-forge-" })
  const [gitdir, clone] = [path.join(folder, "repository.git"), path.join(folder, "clone")]
  const environment = {
    ...process.env,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) => [
        [`GIT_${who}_NAME`, "Aiko"],
        [`GIT_${who}_EMAIL`, "aiko@acme.example"]
      ])
    )
  }
  const gitIn =
    (cwd: string) =>
    (...args: ReadonlyArray<string>): string =>
      execFileSync("git", args, { cwd, encoding: "utf8", stdio: "pipe", env: environment }).trim()
  const git = gitIn(clone)
  const write = Effect.fnUntraced(function* (changed: Readonly<Record<string, string>>, message: string) {
    for (const [name, text] of Object.entries(changed)) {
      yield* fs.makeDirectory(path.dirname(path.join(clone, name)), { recursive: true })
      yield* fs.writeFileString(path.join(clone, name), text)
    }
    git("add", "-A")
    git("commit", "-q", "-m", message)
    return git("rev-parse", "HEAD")
  }, Effect.orDie)

  gitIn(folder)("init", "-q", "--bare", "-b", "main", gitdir)
  for (const setting of ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"]) {
    gitIn(gitdir)("config", setting, "true")
  }
  gitIn(folder)("clone", "-q", gitdir, clone)
  git("checkout", "-q", "-B", "main")
  yield* write(files, "First revision")
  git("push", "-q", "origin", "main")

  const state = forgeState()
  const repository = state.addRepository(repositoryPath)
  repository.collaborators.set(robot.login, "write")
  state.tokens.set(forgeToken, { account: robot, permissions: new Set(["user", "repository", "issue"]) })
  const forge = yield* fakeForgejo(state)
  const { origin: repositories } = yield* serveByHttpBackend(gitdir)
  const origin = yield* loopback((request, response) => {
    const address = request.url ?? "/"
    const target = address.startsWith("/api/")
      ? `${forge}${address}`
      : `${repositories}${address.replace(`/${repositoryPath}.git`, "/repository.git")}`
    const passed = httpRequest(target, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on("error", () => response.destroy())
    request.pipe(passed)
  })

  const branchOf = (number: number) => `topic-${number}`
  const pushHead = (number: number) => {
    git("push", "-q", "--force", "origin", `HEAD:refs/heads/${branchOf(number)}`, `HEAD:refs/pull/${number}/head`)
    return git("rev-parse", "HEAD")
  }
  const pullRequestOf = (number: number) => {
    const found = repository.pullRequests.get(number)
    if (found === undefined) throw new Error(`There is no pull request #${number}.`)
    return found
  }
  return {
    origin,
    url: `${origin}/${repositoryPath}.git`,
    state,
    /** Sets the access of svc's account to the repository. */
    grant: (access: "read" | "write") => repository.collaborators.set(robot.login, access),
    /** Opens a pull request from a new branch off `main`. */
    open: Effect.fnUntraced(function* (number: number, title: string, changed: Readonly<Record<string, string>>) {
      git("checkout", "-q", "-B", branchOf(number), "main")
      yield* write(changed, title)
      openPullRequest(repository, number, developer, {
        title,
        headCommit: pushHead(number),
        headRef: branchOf(number)
      })
    }),
    /** Replaces the commits of the branch. */
    forcePush: Effect.fnUntraced(function* (number: number, changed: Readonly<Record<string, string>>) {
      git("checkout", "-q", "-B", branchOf(number), "main")
      yield* write(changed, "Another way")
      pullRequestOf(number).headCommit = pushHead(number)
    }),
    commitToMain: Effect.fnUntraced(function* (changed: Readonly<Record<string, string>>, message: string) {
      git("checkout", "-q", "main")
      yield* write(changed, message)
      git("push", "-q", "origin", "main")
    }),
    merge: (number: number, way: MergeWay) => {
      const branch = branchOf(number)
      const { title } = pullRequestOf(number)
      git("checkout", "-q", "main")
      if (way === "merge") git("merge", "-q", "--no-ff", "-m", `Merge #${number}`, branch)
      if (way === "squash") {
        git("merge", "-q", "--squash", branch)
        git("commit", "-q", "-m", `${title} (#${number})`)
      }
      if (way === "rebase") {
        git("rebase", "-q", "main", branch)
        git("checkout", "-q", "main")
        git("merge", "-q", "--ff-only", branch)
      }
      git("push", "-q", "origin", "main")
      Object.assign(pullRequestOf(number), { state: "closed", merged: true, mergeCommit: git("rev-parse", "HEAD") })
    },
    headOf: (number: number): string => pullRequestOf(number).headCommit,
    /** The text of svc's comment; empty if there is none. */
    comment: (number: number): string => {
      const comments = pullRequestOf(number).comments.filter(({ author }) => author.id === robot.id)
      if (comments.length > 1) throw new Error(`#${number} has ${comments.length} comments of svc.`)
      return comments[0]?.body ?? ""
    },
    /** Returns the newest status of the head commit. */
    status: (number: number) => {
      const { headCommit } = pullRequestOf(number)
      return state.statuses.filter(({ commit }) => commit === headCommit).at(-1)
    }
  }
})
