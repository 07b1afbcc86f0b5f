import { describe, expect, test } from "bun:test"
import { httpsOnly } from "../../../schema/git/RepositoryAddress.ts"
import { parsePackedSource } from "../../../schema/handoff/PackedSource.ts"

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
  ])("the packed source %s is refused", (text) => {
    expect(parsePackedSource(text, httpsOnly)).toBeUndefined()
  })
})
