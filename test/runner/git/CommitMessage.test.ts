import { expect, test } from "bun:test"
import { describeCommit } from "../../../runner/git/CommitMessage.ts"

const header = [
  `tree ${"0".repeat(40)}`,
  "author Ada Lovelace <ada@example.com> 1700000000 +0900",
  "committer Bob <bob@example.com> 1700000100 +0000"
]

const commit = (message: string, lines: ReadonlyArray<string> = header) =>
  Buffer.from(`${lines.join("\n")}\n\n${message}`)

const authored = (line: string) => describeCommit(commit("Fix\n", [header[0] ?? "", line]))

test("a commit is described by its title, the rest of its message, its author's name without an address, and its time", () => {
  const message =
    "Deny the old export\n\nNobody reads it.\n\nCo-authored-by: Cy <cy@example.com>\nReviewed-by: Di <d@x.y>\n"
  expect(describeCommit(commit(message))).toEqual({
    title: "Deny the old export",
    body: "Nobody reads it.\n\nCo-authored-by: Cy\nReviewed-by: Di",
    authorName: "Ada Lovelace",
    authoredAt: "2023-11-14T22:13:20.000Z"
  })
})

test("a one-line message has only a title, and an empty message has an empty title", () => {
  expect(describeCommit(commit("One line\n")).body).toBeUndefined()
  expect(describeCommit(commit(""))).toMatchObject({ title: "" })
  expect(describeCommit(commit("\n\n  Late title \n"))).toMatchObject({ title: "Late title" })
})

test("control and bidirectional characters in a commit are shown as text, and colours are removed", () => {
  const { body, title } = describeCommit(commit("\u001b[31mSafe\u001b[0m \u202egnp.exe\u2066\n\na\u0000b\rc\u2028d"))
  expect(title).toBe("Safe U+202Egnp.exeU+2066")
  expect(body).toBe("a\\x00b\\x0dcU+2028d")
})

test("a commit's title, message and name are never cut inside a character", () => {
  const { authorName, body, title } = describeCommit(
    commit(`${"😀".repeat(300)}\n\n${"b".repeat(9000)}`, [`author ${"n".repeat(300)} <n@example.com> 1 +0000`])
  )
  expect([...title]).toHaveLength(200)
  expect(title.endsWith("😀…")).toBe(true)
  expect(body).toHaveLength(4000)
  expect(authorName).toHaveLength(100)
})

test("an author name that is an address loses its domain, and an empty name is omitted", () => {
  expect(authored("author ada@example.com <ada@example.com> 1 +0000").authorName).toBe("ada")
  expect(authored("author  <ada@example.com> 1 +0000").authorName).toBeUndefined()
})

test("lines of a commit that are not Git author lines are ignored", () => {
  expect(authored("author Ada")).toEqual({ title: "Fix" })
  expect(authored("author Ada <a@b.c> 999999999999 +0000")).toEqual({ title: "Fix", authorName: "Ada" })
})

test("text in a commit's signature cannot replace the author", () => {
  const lines = ["gpgsig -----BEGIN", " author Eve <e@x.y> 5 +0000", " -----END", ...header]
  expect(describeCommit(commit("Fix", lines)).authorName).toBe("Ada Lovelace")
})

test("a commit's message is decoded with its declared encoding, or as UTF-8 if that encoding is unknown", () => {
  const latin = Buffer.from(`${header.join("\n")}\nencoding ISO-8859-1\n\nGr\u00fc\u00dfe\n`, "latin1")
  expect(describeCommit(latin).title).toBe("Grüße")
  expect(describeCommit(commit("Grüße", [...header, "encoding klingon"])).title).toBe("Grüße")
})

test.each([
  "iso-8859-15",
  "windows-1251",
  "cp1251",
  "koi8-r",
  "euc-jp",
  "shift_jis",
  "iso-2022-jp",
  "euc-kr",
  "gbk",
  "gb18030",
  "big5"
])("a commit message in %s is decoded", (label) => {
  expect(describeCommit(commit("Fix", [...header, `encoding ${label}`])).title).toBe("Fix")
})
