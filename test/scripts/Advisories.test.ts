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
  test("a response without vulnerabilities passes", () => {
    expect(advisoryVerdict(answer())).toEqual({ kind: "passed", lesser: [] })
  })

  test("an advisory of high or critical severity fails the check, which lists the package and its versions", () => {
    expect(advisoryVerdict(answer("low", "high", "critical"))).toEqual({
      kind: "failed",
      advisories: ["package-1 <1.2.3: high", "package-2 <1.2.3: critical"]
    })
  })

  test("an advisory of lower severity is listed and passes", () => {
    expect(advisoryVerdict(answer("moderate"))).toEqual({ kind: "passed", lesser: ["package-0 <1.2.3: moderate"] })
  })

  test("the check passes if the registry does not respond", () => {
    for (const text of ["", "<html>", JSON.stringify({ message: "405 Method Not Allowed", error: {} })]) {
      expect(advisoryVerdict(text).kind).toBe("unanswered")
    }
  })
})
