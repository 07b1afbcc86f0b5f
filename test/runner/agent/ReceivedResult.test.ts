import { describe, expect, test } from "bun:test"
import { receivedResult } from "../../../runner/agent/ReceivedResult.ts"
import { runnerFailure } from "../../../runner/execution/RunnerFailure.ts"

describe("Agent reports", () => {
  test("svc sanitises an agent's job report a second time before showing the report", () => {
    const hostile = "before\u001b[2Jafter\u202e"
    const diagnostics = [
      { severity: "error" as const, summary: hostile, detail: hostile, address: hostile, path: hostile, line: 3 }
    ]
    const result = receivedResult({
      kind: "apply",
      status: "failed",
      failure: runnerFailure("prepare_failed", "prepare", hostile, { diagnostics })
    })
    const shown = JSON.stringify(result)
    expect(shown).toContain("beforeafterU+202E")
    expect(shown).not.toContain("\u202e")
    expect(shown).not.toContain("\\u001b")
  })
})
