import { expect, test } from "bun:test"
import { commitLink, fileLink } from "../../../schema/git/CommitLink.ts"

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
])("a repository at %s has no commit link", (address) => {
  expect(commitLink(address, commit)).toBeUndefined()
})

test("a commit link requires a commit id", () => {
  expect(commitLink("https://github.com/acme/platform", "main/../../evil")).toBeUndefined()
})

test.each([
  ["github.com", "blob/COMMIT"],
  ["gitlab.com", "-/blob/COMMIT"],
  ["bitbucket.org", "src/COMMIT"],
  ["codeberg.org", "src/commit/COMMIT"],
  ["gitea.com", "src/commit/COMMIT"],
  ["git.sr.ht", "tree/COMMIT/item"]
])("a file in a repository at %s has a link", (host, page) => {
  const repository = `https://${host}/acme/platform`
  const below = `${repository}/${page.replace("COMMIT", commit)}`
  expect(fileLink(`${repository}.git`, commit, "modules/a b/main.tf")).toBe(`${below}/modules/a%20b/main.tf`)
  expect(fileLink(repository, commit, "../../x?y#z")).toBe(`${below}/x`)
  expect(fileLink(repository, commit, "//evil.example/x")).toBe(`${below}/evil.example/x`)
})

test("a file has no link if its commit has no link", () => {
  expect(fileLink("https://git.acme.example/platform.git", commit, "main.tf")).toBeUndefined()
})
