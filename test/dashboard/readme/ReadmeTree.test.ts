import { describe, expect, test } from "bun:test"
import { type ReadmeBlock, type ReadmeInline, readmeTree } from "../../../src/dashboard/readme/ReadmeTree.ts"

const textOf = (parts: ReadonlyArray<ReadmeInline>): string =>
  parts.map((part) => ("parts" in part ? textOf(part.parts) : "text" in part ? part.text : "")).join("")

const kindsIn = (blocks: ReadonlyArray<ReadmeBlock>): ReadonlyArray<string> =>
  blocks.flatMap((block) => [
    block.kind,
    ...("blocks" in block ? kindsIn(block.blocks) : []),
    ...("items" in block ? block.items.flatMap((item) => kindsIn(item.blocks)) : [])
  ])

describe("a README", () => {
  test("the dashboard converts a README into headings, lists, tables, code and quotes", () => {
    const { blocks, isCut } = readmeTree(
      [
        "# Payments &amp; more",
        "Text with **bold**, `code` and [a link](docs/use.md).",
        "- one\n- [x] two",
        "2. three",
        "| name | type |\n|---|---|\n| a | `string` |",
        "```hcl\nmodule {}\n```",
        "> quoted",
        "---"
      ].join("\n\n")
    )
    expect(isCut).toBe(false)
    expect(blocks.map(({ kind }) => kind)).toEqual([
      "heading",
      "paragraph",
      "list",
      "list",
      "table",
      "code",
      "quote",
      "rule"
    ])
    const [heading, paragraph, list, ordered, table, code] = blocks
    expect(heading?.kind === "heading" && [heading.depth, textOf(heading.parts)]).toEqual([1, "Payments & more"])
    expect(paragraph?.kind === "paragraph" && paragraph.parts).toContainEqual({
      kind: "link",
      address: "docs/use.md",
      parts: [{ kind: "text", text: "a link" }]
    })
    expect(list?.kind === "list" && list.items.map(({ checked }) => checked)).toEqual([undefined, true])
    expect(ordered).toMatchObject({ kind: "list", start: 2 })
    expect(table?.kind === "table" && table.rows[0]?.map(textOf)).toEqual(["a", "string"])
    expect(code).toEqual({ kind: "code", text: "module {}" })
  })

  test("the dashboard drops HTML tags from a README, and keeps the text between them", () => {
    const { blocks } = readmeTree(
      `<div onclick="alert(1)">hello <script>alert(2)</script></div>\n\nline<br>two <img src=x onerror=alert(3)> <a href="javascript:alert(4)">go</a>\n\n<!-- BEGIN -->`
    )
    expect(JSON.stringify(blocks)).not.toMatch(/[<>]|onclick|onerror|javascript/)
    expect(kindsIn(blocks)).toEqual(["paragraph", "paragraph"])
    expect(JSON.stringify(blocks)).toContain('"kind":"break"')
  })

  test("the dashboard shows an image in a README as text and an address, and never fetches the image", () => {
    const [block] = readmeTree("![A diagram](https://tracker.example/pixel.png)").blocks
    expect(block).toEqual({
      kind: "paragraph",
      parts: [{ kind: "image", address: "https://tracker.example/pixel.png", text: "A diagram" }]
    })
  })

  test("the dashboard truncates a README that is too long or too deeply nested", () => {
    const long = readmeTree("word *word*\n\n".repeat(5000))
    expect(long.isCut).toBe(true)
    expect(long.blocks.length).toBeLessThan(6000)
    const deep = readmeTree(Array.from({ length: 60 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n"))
    expect(deep.isCut).toBe(true)
    expect(kindsIn(deep.blocks).length).toBeLessThan(60)
  })
})
