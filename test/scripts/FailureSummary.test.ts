import { describe, expect, test } from "bun:test"
import { failureSummary } from "../../scripts/FailureSummary.ts"

const bunLog = `bun test v1.4.5

test/actors/Hosting.test.ts:
(pass) hosting > begins [0.09ms]
[12:00:00.000] INFO (#1): noise of the test
12 |   const found = yield* read
13 |   expect(found).toBe(2)
                        ^
error: expect(received).toBe(expected)

Expected: 2
Received: 1

      at <anonymous> (/repository/test/actors/Hosting.test.ts:13:19)
(fail) hosting > counts [12.30ms]
(fail) hosting > ends [200.31ms]
  ^ this test timed out after 200ms.
(pass) hosting > goes on [0.09ms]

# Unhandled error between tests
-------------------------------
error: Cannot find module './missing.ts'
-------------------------------

2 tests failed:
(fail) hosting > counts [12.30ms]

 2 pass
 2 fail
 1 error
`

const ended = (exitCode: number, log: string, name = "npm test") => ({ name, exitCode, log })

describe("Failure summary", () => {
  test("the failure summary is empty when every suite exited with 0", () => {
    expect(failureSummary([ended(0, bunLog)])).toBe("")
  })

  test("the failure summary lists each failed test once, with its file and error, but without earlier noise", () => {
    expect(failureSummary([ended(0, bunLog, "npm run other"), ended(1, bunLog)])).toBe(
      `npm test ended with 1
  test/actors/Hosting.test.ts: hosting > counts
      error: expect(received).toBe(expected)
      Expected: 2
      Received: 1
            at <anonymous> (/repository/test/actors/Hosting.test.ts:13:19)
  test/actors/Hosting.test.ts: hosting > ends
      ^ this test timed out after 200ms.
  test/actors/Hosting.test.ts: outside of its tests
      error: Cannot find module './missing.ts'`
    )
  })

  test("the failure summary supports coloured output and GitHub's groups", () => {
    const log = "::group::test/A.test.ts:\n\x1b[31merror: no\x1b[0m\n\x1b[31m(fail)\x1b[0m one [1.00ms]\n::endgroup::"
    expect(failureSummary([ended(1, log)])).toBe("npm test ended with 1\n  test/A.test.ts: one\n      error: no")
  })

  test("the failure summary recognises killed servers and surviving mutants", () => {
    const crash =
      "ok      install.created:1  4.1 s\nFAILED  plan.settled:1  3.0 s\n    A process stayed: tofu\n    So did another"
    const guards = "noticed role\nMISSED  fence: owner\n"
    expect(failureSummary([ended(1, crash, "crash"), ended(1, guards, "guards")])).toBe(
      `crash ended with 1
  plan.settled:1  3.0 s
      A process stayed: tofu
      So did another
guards ended with 1
  fence: owner`
    )
  })

  test("the failure summary lists the file whose process crashed", () => {
    const log = "test/A.test.ts:\n✗ test/A.test.ts (worker crashed: SIGKILL)\n\n 6 pass\n 1 fail\n"
    expect(failureSummary([ended(1, log)])).toBe("npm test ended with 1\n  test/A.test.ts (worker crashed: SIGKILL)")
  })

  test("the failure summary shows the last lines of a suite that reports no test", () => {
    const log = Array.from({ length: 90 }, (_, index) => `line ${index}`).join("\n")
    const lines = failureSummary([ended(2, log, "build")]).split("\n")
    expect(lines).toHaveLength(17)
    expect(lines.at(-1)).toBe("      line 89")
  })

  test("the failure summary has at most 60 lines of 240 characters, and lists names before error text", () => {
    const error = `error: ${"wide ".repeat(100)}\n${"at somewhere\n".repeat(30)}`
    const log = Array.from({ length: 24 }, (_, index) => `${error}(fail) test ${index} [1.00ms]`).join("\n")
    const few = Array.from({ length: 3 }, (_, index) => `${error}(fail) test ${index} [1.00ms]`).join("\n")
    const lines = failureSummary([ended(1, log)]).split("\n")
    expect(lines.length).toBeLessThanOrEqual(60)
    expect(lines.filter((line) => / test \d+$/.test(line))).toHaveLength(20)
    expect(lines.at(-1)).toBe("  and 4 more")
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(241)
    expect(
      failureSummary([ended(1, few)])
        .split("\n")
        .filter((line) => line.includes("somewhere"))
    ).toHaveLength(42)
  })
})
