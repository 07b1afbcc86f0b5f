import { expect, test } from "bun:test"
import { terminalPicture } from "../../scripts/TerminalPicture.ts"

test("a picture of a terminal contains commands and outputs in order, with escaped characters", () => {
  const picture = terminalPicture([
    { command: "svc plan hello", output: 'input = "a" -> "b" & <c>\n' },
    { command: "svc apply hello", output: "done\n" }
  ])
  const texts = [...picture.matchAll(/<text class="(\w+)"[^>]*>(.*)<\/text>/g)].map(([, kind, text]) => [kind, text])
  expect(texts).toEqual([
    ["command", "$ svc plan hello"],
    ["output", 'input = "a" -&gt; "b" &amp; &lt;c&gt;'],
    ["output", ""],
    ["command", "$ svc apply hello"],
    ["output", "done"]
  ])
})

test("a picture of a terminal has colours for light and dark themes, and breaks lines of more than 110 characters", () => {
  const picture = terminalPicture([{ command: "svc", output: "x".repeat(115) }])
  expect(picture).toContain("prefers-color-scheme: dark")
  expect(picture).toContain(`>${"x".repeat(110)}</text>`)
  expect(picture).toContain(">xxxxx</text>")
})
