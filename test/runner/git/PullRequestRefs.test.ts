import { expect, test } from "bun:test"
import { repositoryHeads } from "../../../runner/git/PullRequestRefs.ts"

const ref = (name: string, target?: string) => ({ name, commit: "a".repeat(40), target })

test("svc finds each merge queue commit with its base and pull request, and does not list merge queue branches", () => {
  const sha = "9".repeat(40)
  const { branches, queued } = repositoryHeads([
    ref("refs/heads/main"),
    ref(`refs/heads/gh-readonly-queue/main/pr-104-${sha}`),
    ref(`refs/heads/gh-readonly-queue/release/2/pr-7-${sha}`),
    ref("refs/heads/gh-readonly-queue/main/pr-104"),
    ref(`refs/heads/gh-readonly-queue/pr-104-${sha}`),
    ref(`refs/heads/gh-readonly-queue/main/pr-0-${sha}`),
    ref(`refs/tags/gh-readonly-queue/main/pr-104-${sha}`)
  ])
  expect(queued.map(({ baseBranch, number }) => [baseBranch, number])).toEqual([
    ["main", 104],
    ["release/2", 7]
  ])
  expect([...branches.keys()]).toEqual([
    "refs/heads/main",
    "refs/heads/gh-readonly-queue/main/pr-104",
    `refs/heads/gh-readonly-queue/pr-104-${sha}`,
    `refs/heads/gh-readonly-queue/main/pr-0-${sha}`
  ])
})

test("svc finds the heads of pull and merge requests by number, and ignores all other refs", () => {
  const { branches, defaultBranch, pullRequests } = repositoryHeads([
    ref("HEAD", "refs/heads/main"),
    ref("refs/heads/main"),
    ref("refs/heads/refs/pull/9/head"),
    ref("refs/pull/7/head"),
    ref("refs/pull/7/merge"),
    ref("refs/pull/12/head"),
    ref("refs/merge-requests/3/head"),
    ref("refs/pull/0/head"),
    ref("refs/pull/01/head"),
    ref("refs/pull/1e3/head"),
    ref("refs/pull/99999999999/head"),
    ref("refs/pull/5/head/more")
  ])
  expect(defaultBranch).toBe("refs/heads/main")
  expect([...branches.keys()]).toEqual(["refs/heads/main", "refs/heads/refs/pull/9/head"])
  expect(pullRequests.map(({ number, ref: name }) => [number, name])).toEqual([
    [12, "refs/pull/12/head"],
    [7, "refs/pull/7/head"],
    [3, "refs/merge-requests/3/head"]
  ])
})
