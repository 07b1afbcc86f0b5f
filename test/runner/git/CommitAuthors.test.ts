import { expect, test } from "bun:test"
import { commitAuthors } from "../../../runner/git/CommitAuthors.ts"

const commit = (...lines: ReadonlyArray<string>) => Buffer.from(lines.join("\n"))
const tree = `tree ${"0".repeat(40)}`

test("a commit's author, committer and co-authors are listed in lower case, without duplicates", () => {
  const bytes = commit(
    tree,
    `parent ${"1".repeat(40)}`,
    "author Ada L <Ada@Example.com> 1700000000 +0100",
    "committer Bob <bob@example.com> 1700000000 +0000",
    "gpgsig -----BEGIN PGP SIGNATURE-----",
    " author Eve <eve@example.com> 1700000000 +0000",
    "",
    "A change",
    "",
    "author Mallory <mallory@example.com> 1700000000 +0000",
    "Co-authored-by: Cy <cy@example.com>",
    "co-authored-by: Ada <ada@example.com>"
  )
  expect(commitAuthors(bytes)).toEqual(["ada@example.com", "bob@example.com", "cy@example.com"])
})

test("a commit without readable addresses has no authors", () => {
  expect(commitAuthors(commit(tree, "author nobody", "", "author X <x@example.com> 1 +0000"))).toEqual([])
  expect(commitAuthors(commit(tree, "author Nobody <> 1700000000 +0000"))).toEqual([])
})
