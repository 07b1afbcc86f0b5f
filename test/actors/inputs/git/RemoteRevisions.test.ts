import { describe, expect, test } from "bun:test"
import { namedRevisions } from "../../../../actors/inputs/git/RemoteRevisions.ts"
import type { NamedRef } from "../../../../runner/git/GitRemote.ts"

const commit = "a".repeat(40)
const branch = (name: string): NamedRef => ({ kind: "branch", name, commit })
const tag = (name: string): NamedRef => ({ kind: "tag", name, commit })

describe("the revisions of a repository", () => {
  test("list branches by name and the highest version first", () => {
    const { branches, tags } = namedRevisions([branch("main"), branch("feature/b"), tag("v1.9.0"), tag("v1.10.0")])
    expect(branches.map(({ name }) => name)).toEqual(["feature/b", "main"])
    expect(tags.map(({ name }) => name)).toEqual(["v1.10.0", "v1.9.0"])
  })

  test("select a branch by its full ref when a tag or a commit could have its name", () => {
    const { branches, tags } = namedRevisions([branch("release"), tag("release"), branch(commit), branch("main")])
    expect(branches.map(({ ref }) => ref)).toEqual([`refs/heads/${commit}`, "main", "refs/heads/release"])
    expect(tags.map(({ ref }) => ref)).toEqual(["refs/tags/release"])
  })

  test("are cut after two hundred names of each kind, and the answer has that", () => {
    const many = Array.from({ length: 201 }, (_, at) => branch(`b${at}`))
    const { branches, truncated } = namedRevisions(many)
    expect([branches.length, truncated]).toEqual([200, true])
    expect(namedRevisions(many.slice(1)).truncated).toBe(false)
  })
})
