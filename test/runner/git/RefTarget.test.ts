import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { parseGitRef } from "../../../schema/git/GitRef.ts"
import { refTarget } from "../../../runner/git/RefTarget.ts"

const accepted = (text: string) => Result.match(parseGitRef(text), { onSuccess: String, onFailure: () => undefined })
const commit = "0123456789abcdef0123456789abcdef01234567"

describe("a GitRef", () => {
  for (const text of [
    "HEAD",
    "main",
    "feature/x",
    "v1.2.3",
    "refs/heads/main",
    "refs/pull/1/head",
    "a.b",
    "r\u00e9f",
    commit
  ])
    test(`accepts ${text}`, () => expect(accepted(text)).toBe(text))

  test("a commit ref has only one spelling", () => expect(accepted(commit.toUpperCase())).toBe(commit))

  for (const text of [
    "",
    "-c",
    "--upload-pack=touch /tmp/x",
    "@",
    "@{u}",
    "main@{1}",
    "a..b",
    "refs/../x",
    "refs/heads",
    "refs/",
    "x.lock",
    "x.lock/y",
    "a b",
    "a\tb",
    "a\u0000b",
    "a\u200bb",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a/.b",
    "a.",
    "x".repeat(4096)
  ])
    test(`parsing rejects the ref ${JSON.stringify(text.slice(0, 40))}`, () =>
      expect(Result.isFailure(parseGitRef(text))).toBe(true))

  test("a ref determines the prefixes that svc requests", () => {
    const target = (text: string) => Result.map(parseGitRef(text), refTarget)
    expect(target("HEAD")).toEqual(Result.succeed({ _tag: "head" }))
    expect(target(commit)).toEqual(Result.succeed({ _tag: "commit", commit }))
    expect(target("refs/tags/v1")).toEqual(Result.succeed({ _tag: "full", name: "refs/tags/v1" }))
    expect(target("v1")).toEqual(Result.succeed({ _tag: "short", candidates: ["refs/heads/v1", "refs/tags/v1"] }))
    expect(target("heads/v1")).toEqual(
      Result.succeed({ _tag: "short", candidates: ["refs/heads/heads/v1", "refs/tags/heads/v1", "refs/heads/v1"] })
    )
  })
})
