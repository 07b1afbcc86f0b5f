import { expect, test } from "bun:test"
import { repositoryHeads } from "../../../runner/git/PullRequestRefs.ts"

const ref = (name: string, target?: string) => ({ name, commit: "a".repeat(40), target })

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
