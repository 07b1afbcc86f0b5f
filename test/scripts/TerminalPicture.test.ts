import { expect, test } from "bun:test"
import { terminalPicture } from "../../scripts/TerminalPicture.ts"

test("a terminal picture contains commands and their output in order, with special characters escaped", () => {
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

test("a terminal picture has light and dark colours, and wraps lines longer than 110 characters", () => {
  const picture = terminalPicture([{ command: "svc", output: "x".repeat(115) }])
  expect(picture).toContain("prefers-color-scheme: dark")
  expect(picture).toContain(`>${"x".repeat(110)}</text>`)
  expect(picture).toContain(">xxxxx</text>")
})
