import { expect } from "bun:test"
import { Effect, Result } from "effect"
import { receivedFact } from "../../../../actors/ledger/run/RunJournal.ts"
import { longestEventText } from "../../../../schema/events/RunEvent.ts"
import { it } from "../../../support/Effect.ts"

const created = { address: "demo.a", action: "create" }

it.effect("a runner cannot report events of reserved kinds", () =>
  Effect.gen(function* () {
    const refused: ReadonlyArray<unknown> = [
      { kind: "run.paused", data: {} },
      { kind: "run.succeeded", data: {} },
      { kind: "run.approved", data: { planDigest: "sha256:1" } },
      { kind: "state.saved", data: { serial: 1, resourceCount: 1, final: false } },
      { kind: "run.phase", data: { phase: "apply", more: 1 } },
      { kind: "run.phase", data: { phase: "dance" } },
      { kind: "run.phase", data: { phase: "apply" }, seq: 1 },
      { kind: "resource.started", data: { ...created, more: { deep: "x" } } },
      { kind: "resource.started", data: { ...created, address: { deep: "x" } } },
      { kind: "diagnostic", data: [] },
      { kind: "diagnostic" },
      "diagnostic",
      null
    ]
    for (const fact of refused) {
      expect({ fact, isRefused: Result.isFailure(yield* Effect.result(receivedFact(fact))) }).toEqual({
        fact,
        isRefused: true
      })
    }
  })
)

it.effect("svc itself sanitises and truncates the strings in reported events", () =>
  Effect.gen(function* () {
    const received = yield* receivedFact({
      kind: "diagnostic",
      data: {
        severity: "error",
        summary: "a\u001b[31mb\u001b]0;title\u0007c\u202ed\u0000e",
        detail: "\u0007".repeat(2 * longestEventText),
        line: 3
      }
    })
    expect(received).toMatchObject({ kind: "diagnostic", data: { summary: "abcU+202Ed\\x00e", line: 3 } })
    expect(received.kind === "diagnostic" && received.data.detail?.length).toBe(longestEventText)
  })
)

it.effect("reported events without secrets are accepted unchanged", () =>
  Effect.gen(function* () {
    const facts = [
      { kind: "run.phase", data: { phase: "init" } },
      { kind: "resource.completed", data: { ...created, id: "ä\n\tb", elapsedSeconds: 0.5 } },
      { kind: "plan.summary", data: { add: 1, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 } }
    ]
    for (const fact of facts) expect<unknown>(yield* receivedFact(fact)).toEqual(fact)
  })
)
