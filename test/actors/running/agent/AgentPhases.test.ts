import { describe, expect, test } from "bun:test"
import { type ExecutionSpan, phaseDurations } from "../../../../actors/running/agent/AgentPhases.ts"

const span: ExecutionSpan = { acceptedAt: 1_000_000, resultAt: 1_010_000, finishedAt: 1_012_000 }

describe("Agent phases", () => {
  test("phases of an agent's Run have the reported durations, and the last phase ends when the result arrives", () => {
    for (const ahead of [0, 3_600_000, -3_600_000]) {
      const at = (millis: number) => span.acceptedAt + ahead + millis
      expect(
        phaseDurations(
          [
            { phase: "prepare", at: at(100) },
            { phase: "init", at: at(1_100) },
            { phase: "apply", at: at(3_100) }
          ],
          span
        )
      ).toEqual([
        { phase: "prepare", millis: 1_000 },
        { phase: "init", millis: 2_000 },
        { phase: "apply", millis: 7_000 }
      ])
    }
  })

  test("phases of an agent's Run are never negative or longer than the execution, even if the clock changes", () => {
    const jumped = [
      { phase: "prepare" as const, at: 0 },
      { phase: "init" as const, at: 86_400_000 },
      { phase: "plan" as const, at: 1_000 }
    ]
    expect(phaseDurations(jumped, span).map(({ millis }) => millis)).toEqual([10_000, 0, 9_000])
  })

  test("if there is no result, the last phase is omitted, and the server's own checks are counted as a separate phase", () => {
    const reported = [
      { phase: "prepare" as const, at: 5_000 },
      { phase: "apply" as const, at: 6_000 }
    ]
    expect(phaseDurations(reported, { ...span, resultAt: undefined })).toEqual([{ phase: "prepare", millis: 1_000 }])
    expect(phaseDurations([...reported, { phase: "check", at: 1_010_500 }], span)).toEqual([
      { phase: "prepare", millis: 1_000 },
      { phase: "apply", millis: 9_000 },
      { phase: "check", millis: 1_500 }
    ])
    expect(phaseDurations([], span)).toEqual([])
  })
})
