import { describe, expect, test } from "bun:test"
import { namedRevisions } from "../../../../actors/inputs/git/RemoteRevisions.ts"
import type { NamedRef } from "../../../../runner/git/GitRemote.ts"

const commit = "a".repeat(40)
const branch = (name: string): NamedRef => ({ kind: "branch", name, commit })
const tag = (name: string): NamedRef => ({ kind: "tag", name, commit })

describe("Repository revisions", () => {
  test("branches are listed by name, and tags with the highest version first", () => {
    const { branches, tags } = namedRevisions([branch("main"), branch("feature/b"), tag("v1.9.0"), tag("v1.10.0")])
    expect(branches.map(({ name }) => name)).toEqual(["feature/b", "main"])
    expect(tags.map(({ name }) => name)).toEqual(["v1.10.0", "v1.9.0"])
  })

  test("a branch is selected by its full ref if a tag or commit could have the same name", () => {
    const { branches, tags } = namedRevisions([branch("release"), tag("release"), branch(commit), branch("main")])
    expect(branches.map(({ ref }) => ref)).toEqual([`refs/heads/${commit}`, "main", "refs/heads/release"])
    expect(tags.map(({ ref }) => ref)).toEqual(["refs/tags/release"])
  })

  test("lists of branches and tags are truncated after two hundred names each, and marked as truncated", () => {
    const many = Array.from({ length: 201 }, (_, at) => branch(`b${at}`))
    const { branches, truncated } = namedRevisions(many)
    expect([branches.length, truncated]).toEqual([200, true])
    expect(namedRevisions(many.slice(1)).truncated).toBe(false)
  })
})
