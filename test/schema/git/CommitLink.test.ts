import { expect, test } from "bun:test"
import { commitLink } from "../../../schema/git/CommitLink.ts"

const commit = "0123456789abcdef0123456789abcdef01234567"

test.each([
  ["https://github.com/acme/platform.git", `https://github.com/acme/platform/commit/${commit}`],
  ["https://gitlab.com/acme/infra/platform.git", `https://gitlab.com/acme/infra/platform/-/commit/${commit}`],
  ["https://bitbucket.org/acme/platform", `https://bitbucket.org/acme/platform/commits/${commit}`],
  ["https://codeberg.org/acme/platform.git/", `https://codeberg.org/acme/platform/commit/${commit}`],
  ["https://gitea.com/acme/platform.git", `https://gitea.com/acme/platform/commit/${commit}`],
  ["https://git.sr.ht/~acme/platform", `https://git.sr.ht/~acme/platform/commit/${commit}`]
])("%s", (address, link) => {
  expect(commitLink(address, commit)).toBe(link)
})

test.each([
  "https://git.acme.example/platform.git",
  "https://user:secret@github.com/acme/platform.git",
  "https://token@github.com/acme/platform.git",
  "https://github.com:8443/acme/platform.git",
  "https://github.com/acme/platform.git?token=secret",
  "https://github.com.evil.example/acme/platform.git",
  "https://constructor/acme/platform",
  "http://github.com/acme/platform.git",
  "ssh://git@github.com/acme/platform.git",
  "git@github.com:acme/platform.git",
  "https://github.com/acme/%2e%2e/evil",
  "https://github.com/",
  ""
])("no link for %s", (address) => {
  expect(commitLink(address, commit)).toBeUndefined()
})

test("no link for what is not a commit id", () => {
  expect(commitLink("https://github.com/acme/platform", "main/../../evil")).toBeUndefined()
})
