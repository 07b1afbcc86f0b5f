import { describe, expect, test } from "bun:test"
import { blockedPart, codeStyles, withoutInline } from "../../scripts/DocsBuild.ts"

describe("Finished pages of the documentation", () => {
  test("an inline script becomes a file, and scripts with an address stay unchanged", () => {
    const page =
      '<script type="module" src="/docs/a.js"></script><script id="mode">let a = "<b>"\n</script><p style="x:1">t</p>'
    const { scripts, text } = withoutInline(page, "/docs/")
    const [[name = "", code] = []] = scripts
    expect(name).toMatch(/^assets\/page\.[0-9a-f]{8}\.js$/)
    expect(code).toBe('let a = "<b>"\n')
    expect(text).toBe(
      `<script type="module" src="/docs/a.js"></script><script id="mode" src="/docs/${name}"></script><p>t</p>`
    )
    // Equal scripts of two pages share a file.
    expect([...withoutInline(`<i></i>${page}`, "/docs/").scripts.keys()]).toEqual([name])
  })

  test("the style sheet has a rule for each class of code, once", () => {
    const page = '<span class="code-light__032F62 code-dark__9ECBFF">a</span><span class="code-light__032F62">b</span>'
    expect(codeStyles([page, "class: 'code-dark-font-weight__bold'"]).split("\n")).toEqual([
      ".code-dark-font-weight__bold{--shiki-dark-font-weight:bold}",
      ".code-dark__9ECBFF{--shiki-dark:#9ECBFF}",
      ".code-light__032F62{--shiki-light:#032F62}"
    ])
  })

  test("what the server's policy would block is found in pages and in the contents that scripts insert", () => {
    expect(blockedPart("a.html", '<p>on one line="x"</p>')).toBeUndefined()
    expect(blockedPart("a.html", '<a href="x" onclick="y()">z</a>')).toContain("onclick")
    expect(blockedPart("a.js", 'insert("<p class=\\"a\\">")')).toBeUndefined()
    expect(blockedPart("a.js", "insert('<p style=\"color:red\">')")).toBe(' style="color:red"')
    expect(blockedPart("a.js", 'insert("<p style=\\"color:red\\">")')).toContain("color:red")
  })
})
