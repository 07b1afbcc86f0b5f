import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { ancestry, commitsAhead, historyDepth, mergeBase } from "../../../runner/git/CommitHistory.ts"
import { GitRemote } from "../../../runner/git/GitRemote.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { it } from "../../support/Effect.ts"
import { serveByHttpBackend } from "../../support/GitServer.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { remote, urlOf } from "./support/RemoteFixture.ts"

const git = (gitdir: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["--git-dir", gitdir, ...args], { encoding: "utf8" }).trim()

/** Creates a repository with this many commits on main, oldest first. */
const repositoryOf = Effect.fnUntraced(function* (count: number) {
  const gitdir = `${yield* temporaryFolder}/repository`
  yield* createRepository({ gitdir })
  const commits = yield* Effect.forEach(Array.from({ length: count }), (_, at) =>
    commitFiles({ gitdir, message: `Change ${at}`, files: { "main.tf": `# ${at}` }, timestamp: 1_735_689_600 + at })
  )
  return { gitdir, commits }
})

const historyOf = (url: string, commit: string) =>
  Effect.flatMap(GitRemote, (service) => service.history({ url: urlOf({ url }), commit })).pipe(
    Effect.provide(remote({ url }))
  )

describe("GitRemote.history", () => {
  for (const server of ["git http-backend", "the built-in Git server"] as const)
    it.live(`the history reads messages and counts the commits ahead like git rev-list, from ${server}`, () =>
      Effect.gen(function* () {
        const { gitdir, commits } = yield* repositoryOf(5)
        const [, base = "", , fork = "", tip = ""] = commits
        git(gitdir, "config", "uploadpack.allowFilter", "true")
        git(gitdir, "config", "uploadpack.allowAnySHA1InWant", "true")
        const person = ["-c", "user.name=Mina", "-c", "user.email=mina@example.test"]
        const merged = git(gitdir, ...person, "commit-tree", `${tip}^{tree}`, "-p", tip, "-p", fork, "-m", "Merge it")
        const { url } = yield* server === "git http-backend" ? serveByHttpBackend(gitdir) : serveRepository({ gitdir })
        const history = yield* historyOf(url, merged)
        if (history === undefined) return expect(history).toBeDefined()
        expect(commitsAhead(history, merged, base)).toBe(
          Number(git(gitdir, "rev-list", "--count", `${base}..${merged}`))
        )
        expect(ancestry(history, merged)[0]).toMatchObject({
          commit: merged,
          parents: [tip, fork],
          description: { title: "Merge it", authorName: "Mina" }
        })
        expect(ancestry(history, tip).map(({ description }) => description.title)).toEqual(
          ["4", "3", "2", "1", "0"].map((at) => `Change ${at}`)
        )
      })
    )

  it.live("svc and git merge-base find the same commit at which two branches diverged, even after merges", () =>
    Effect.gen(function* () {
      const { gitdir, commits } = yield* repositoryOf(4)
      const [root = "", fork = "", , tip = ""] = commits
      git(gitdir, "config", "uploadpack.allowFilter", "true")
      git(gitdir, "config", "uploadpack.allowAnySHA1InWant", "true")
      const person = ["-c", "user.name=Mina", "-c", "user.email=mina@example.test"]
      const child = (message: string, ...parents: ReadonlyArray<string>) =>
        git(gitdir, ...person, "commit-tree", `${tip}^{tree}`, ...parents.flatMap((id) => ["-p", id]), "-m", message)
      const branch = child("Branch", child("Before", fork))
      const updated = child("Update the branch", branch, tip)
      const later = child("Later on main", tip)
      const { url } = yield* serveByHttpBackend(gitdir)
      const pairs = [
        [branch, tip],
        [updated, tip],
        [updated, later],
        [branch, later],
        [root, later]
      ] as const
      for (const [one, other] of pairs) {
        const histories = [yield* historyOf(url, one), yield* historyOf(url, other)]
        const history = new Map(histories.flatMap((each) => [...(each ?? [])]))
        expect(mergeBase(history, one, other)).toBe(git(gitdir, "merge-base", one, other))
      }
      // Each of the two merges contains both branches, so both tips are equally good merge bases.
      const crossed = [child("One", branch, later), child("Other", later, branch)] as const
      const both = new Map(
        (yield* Effect.forEach(crossed, (commit) => historyOf(url, commit))).flatMap((each) => [...(each ?? [])])
      )
      expect(git(gitdir, "merge-base", "--all", ...crossed).split("\n")).toHaveLength(2)
      expect(mergeBase(both, ...crossed)).toBeUndefined()
    })
  )

  it.live("the history omits the count if the deployed commit is older than the commits that were read", () =>
    Effect.gen(function* () {
      const { gitdir, commits } = yield* repositoryOf(historyDepth + 2)
      const { url } = yield* serveRepository({ gitdir })
      const tip = commits.at(-1) ?? ""
      const history = yield* historyOf(url, tip)
      if (history === undefined) return expect(history).toBeDefined()
      expect(history.size).toBe(historyDepth)
      expect(commitsAhead(history, tip, commits[0] ?? "")).toBeUndefined()
      expect(commitsAhead(history, tip, commits[2] ?? "")).toBe(historyDepth - 1)
    })
  )

  it.live("the history is not requested from a server that cannot omit files", () =>
    Effect.gen(function* () {
      const { gitdir, commits } = yield* repositoryOf(1)
      const { url } = yield* serveRepository({ gitdir, protocolV2: false })
      expect(yield* historyOf(url, commits[0] ?? "")).toBeUndefined()
    })
  )
})

describe("GitRemote.namedRefs", () => {
  it.live("the history lists branches and tags by name, with the commit behind an annotated tag", () =>
    Effect.gen(function* () {
      const { gitdir, commits } = yield* repositoryOf(2)
      const [first = "", second = ""] = commits
      git(gitdir, "update-ref", "refs/heads/feature/logs", first)
      git(gitdir, "-c", "user.name=M", "-c", "user.email=m@example.test", "tag", "-a", "v1.0.0", first, "-m", "One")
      git(gitdir, "update-ref", "refs/notes/commits", first)
      const { url } = yield* serveRepository({ gitdir })
      const refs = yield* Effect.flatMap(GitRemote, (service) => service.namedRefs({ url: urlOf({ url }) })).pipe(
        Effect.provide(remote({ url }))
      )
      expect(refs).toEqual([
        { kind: "branch", name: "feature/logs", commit: first },
        { kind: "branch", name: "main", commit: second },
        { kind: "tag", name: "v1.0.0", commit: first }
      ])
    })
  )
})
