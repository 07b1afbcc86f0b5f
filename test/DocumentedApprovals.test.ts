import { describe, expect, test } from "bun:test"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Matches a command substitution that contacts the server. */
const asks = /\$\([^)]*\b(?:svc|api|curl|fetch)\b/

/** If a line approves a plan that nobody has read, returns the reason for this verdict. Otherwise returns `undefined`. */
const blindness = (line: string): string | undefined => {
  if (/\b(?:svc approve|\/approve)\b/.test(line) && asks.test(line)) {
    return "takes the digest at the moment of the approval"
  }
  if (/--digest\b.*\$\(/.test(line) && asks.test(line)) return "takes the digest at the moment of the approval"
  return /\/approve\b.*(?:-d|--data)\s*'\{\s*\}'/.test(line) ? "names no digest" : undefined
}

describe("Documented approvals", () => {
  test("documented approvals use the Run id and digest of a plan that an earlier command read", async () => {
    const blind: Array<string> = []
    const places = ["*.md", "docs/**/*.md", "examples/**/*", "src/**/*.ts", "src/**/*.tsx"]
    const documents = places.flatMap((place) => [...new Bun.Glob(place).scanSync({ cwd: root })])
    expect(documents).toContain("docs/terminal.md")
    for (const file of documents) {
      if (file === "CHANGELOG.md" || /\.(?:png|svg|woff2?|gz)$/.test(file)) continue
      const lines = (await Bun.file(`${root}${file}`).text()).split("\n")
      for (const [index, line] of lines.entries()) {
        const why = blindness(line)
        if (why !== undefined) blind.push(`${file}:${index + 1} ${why}`)
      }
    }
    expect(blind).toEqual([])
  })

  test("the check detects every command in earlier documentation that approved a plan without reading it", () => {
    const forms = [
      'svc approve network --digest "$(svc run get network --json | jq -r .run.planDigest)"',
      'api "$SVC/api/v1/runs/$RUN/approve" -d "{\\"planDigest\\": \\"$(curl -s $SVC/api/v1/runs/$RUN | jq -r .run.planDigest)\\"}"',
      `api "$SVC/api/v1/runs/$RUN/approve" -d '{}'`
    ]
    expect(forms.filter((line) => blindness(line) === undefined)).toEqual([])
    expect(blindness('svc approve "$(jq -r .run.id plan.json)" --digest "$(jq -r .run.planDigest plan.json)"')).toBe(
      undefined
    )
  })
})
