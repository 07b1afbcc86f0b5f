import { describe, expect, test } from "bun:test"
import { advisoryVerdict } from "../../scripts/Advisories.ts"

const answer = (...severities: ReadonlyArray<string>) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(
      severities.map((severity, index) => [
        `package-${index}`,
        { name: "", severity, isDirect: true, via: [], range: "<1.2.3" }
      ])
    ),
    metadata: {}
  })

describe("Advisories", () => {
  test("an answer without vulnerabilities passes", () => {
    expect(advisoryVerdict(answer())).toEqual({ kind: "passed", lesser: [] })
  })

  test("advisories of high and critical severity fail, with the package and its versions", () => {
    expect(advisoryVerdict(answer("low", "high", "critical"))).toEqual({
      kind: "failed",
      advisories: ["package-1 <1.2.3: high", "package-2 <1.2.3: critical"]
    })
  })

  test("advisories of lesser severity are listed and pass", () => {
    expect(advisoryVerdict(answer("moderate"))).toEqual({ kind: "passed", lesser: ["package-0 <1.2.3: moderate"] })
  })

  test("a registry that does not answer is no failure", () => {
    for (const text of ["", "<html>", JSON.stringify({ message: "405 Method Not Allowed", error: {} })]) {
      expect(advisoryVerdict(text).kind).toBe("unanswered")
    }
  })
})
