import { expect, test } from "bun:test"
import { readmeTarget } from "../../../src/dashboard/readme/ReadmeLink.ts"

const commit = "0123456789abcdef0123456789abcdef01234567"
const place = { gitAddress: "https://github.com/acme/platform.git", commit, folder: "modules/payments" }
const file = (path: string) => `https://github.com/acme/platform/blob/${commit}/${path}`

test.each([
  ["https://example.test/a?b#c", "https://example.test/a?b#c"],
  ["docs/use.md", file("modules/payments/docs/use.md")],
  ["./use me.md", file("modules/payments/use%20me.md")],
  ["../shared/README.md#top", file("modules/shared/README.md")],
  ["../../../../../etc/passwd", file("etc/passwd")],
  ["/LICENSE", file("LICENSE")]
])("the README link %s leads to %s", (address, target) => {
  expect(readmeTarget(address, place)).toBe(target)
})

test.each([
  "http://example.test/",
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "file:///etc/passwd",
  "mailto:a@example.test",
  "//evil.example/x",
  "\\\\evil.example\\x",
  "https://user:secret@example.test/",
  "#anchor",
  ""
])("the README link %s leads nowhere", (address) => {
  expect(readmeTarget(address, place)).toBeUndefined()
})

test("a path has no link if the forge is unknown", () => {
  expect(readmeTarget("docs/use.md", { ...place, gitAddress: "https://git.acme.example/platform.git" })).toBeUndefined()
  expect(readmeTarget("docs/use.md", { ...place, gitAddress: undefined })).toBeUndefined()
})
