import { describe, expect, test } from "bun:test"
import { Schema } from "effect"
import { PublicGitAddress } from "../../../schema/git/GitAddress.ts"
import { PublicGitRef } from "../../../schema/git/GitRef.ts"
import { httpsOnly } from "../../../schema/git/RepositoryAddress.ts"
import { formatPackedSource, parsePackedSource } from "../../../schema/handoff/PackedSource.ts"

const isUrl = Schema.is(PublicGitAddress)
const isRef = Schema.is(PublicGitRef)

test.each([
  "https://github.com/team/repository",
  "https://github.com/team/repository.git",
  "https://git.example.com:8443/a/b/c.git",
  "https://xn--bcher-kva.example/a",
  "https://[2001:db8::1]/a",
  "https://git.example.com/~team/a%20b",
  "https://H.example:443/a/"
])("%s is a Git URL", (url) => {
  expect(isUrl(url)).toBe(true)
})

test.each([
  "http://github.com/a",
  "git://github.com/a",
  "ssh://git@github.com/a",
  "file:///a",
  "ext::sh -c x",
  "git@github.com:a/b",
  "javascript:alert(1)",
  "https://u:p@h.example/r",
  "https://u@h.example/r",
  "https://@h.example/r",
  "https://h@evil.example",
  "https://h\\@evil.example/r",
  "https://h#@evil.example/r",
  "ht\ntps://h.example/r",
  "https:h.example/x",
  "https:///h.example/x",
  "https://h.example",
  "https://h.example/",
  "https://h.example/a?b",
  "https://h.example/a?",
  "https://h.example/a#b",
  "https://h.example/a#",
  "HTTPS://h.example/a",
  "https://h.example/a/../b",
  "https://h.example/./a",
  "https://h.example/%2e%2e/a",
  "https://h.example//a",
  "https://h.example/a//b",
  "https://h.example/a b",
  " https://h.example/a",
  "https://h.example/a ",
  "https://h.example/a\\b",
  "https://h.example/é",
  "https://é.example/a",
  "https://127.1/a",
  "https://0x7f.1/a",
  "https://2130706433/a",
  "https://0177.0.0.1/a",
  "https://１27.0.0.1/a",
  "https://h_\u0000.example/a",
  `https://h.example/${"a".repeat(2048)}`,
  ""
])("%p is not (G5, G6)", (url) => {
  expect(isUrl(url)).toBe(false)
})

test.each([
  "main",
  "HEAD",
  "v1.2.3",
  "release/2026",
  "feature/a-b_c",
  "refs/tags/v1",
  "a".repeat(40),
  "日本",
  "1.0.0+build",
  "a@b",
  "a".repeat(255)
])("%p is a ref", (ref) => {
  expect(isRef(ref)).toBe(true)
})

test.each([
  "",
  "-c",
  "--upload-pack=touch",
  "@",
  "@{u}",
  "a@{1}",
  "a..b",
  "refs/../x",
  "x.lock",
  "a/x.lock/b",
  ".a",
  "a/.b",
  "a.",
  "/a",
  "a/",
  "a//b",
  "a b",
  "a~1",
  "a^",
  "a:b",
  "a?",
  "a*",
  "a[b",
  "a\\b",
  "a\u0000b",
  "a\nb",
  "a\u007f",
  "e\u0301",
  "a\u202eb",
  "a".repeat(256),
  "x".repeat(4096)
])("%p is no ref (G7)", (ref) => {
  expect(isRef(ref)).toBe(false)
})

describe("packed sources", () => {
  test.each([
    ["git::https://h.example/a.git", { git: "https://h.example/a.git" }],
    ["git::https://h.example/a.git//modules/app", { git: "https://h.example/a.git", path: "modules/app" }],
    ["git::https://h.example/a.git?ref=v1.2.0", { git: "https://h.example/a.git", ref: "v1.2.0" }],
    [
      "git::https://h.example/a.git//modules/app?ref=main",
      { git: "https://h.example/a.git", path: "modules/app", ref: "main" }
    ]
  ])("%s", (text, expected) => {
    expect(parsePackedSource(text, httpsOnly)).toEqual(expected)
    expect(formatPackedSource(expected)).toBe(text)
  })

  test.each([
    "https://h.example/a.git",
    "git::http://h.example/a",
    "git::ssh://git@h.example/a",
    "git::git@h.example:a",
    "git::file:///a",
    "hg::https://h.example/a",
    "git::https://u:p@h.example/a",
    "git::https://h.example/a//",
    "git::https://h.example/a//../b",
    "git::https://h.example/a//b//c",
    "git::https://h.example//a",
    "git::https://h.example/a?",
    "git::https://h.example/a?ref=",
    "git::https://h.example/a?ref=a&ref=b",
    "git::https://h.example/a?depth=1",
    "git::https://h.example/a?ref=a&depth=1",
    "git::https://h.example/a?ref=a?b",
    "git::https://h.example/a?ref=--x",
    "git::https://h.example/a?sshkey=x",
    "git::https://h.example/a?ref=a%2e%2eb",
    "git::https://h.example/a#x",
    "git::git::https://h.example/a",
    "GIT::https://h.example/a",
    "git::",
    ""
  ])("%s is none", (text) => {
    expect(parsePackedSource(text, httpsOnly)).toBeUndefined()
  })
})
