import { expect } from "bun:test"
import { Effect, Result } from "effect"
import { blocked, inSteps, type RunSteps } from "../../../../actors/running/execution/RunSteps.ts"
import { holdLost } from "../../../../actors/ledger/run/RunHold.ts"
import type { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import { runnerFailure } from "../../../../runner/execution/RunnerFailure.ts"
import { world } from "../../../src/http/support/World.ts"
import { it } from "../../../support/Effect.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { ledgers } from "../../support/GuardedPlane.ts"

const hold = { runId: world.runId, owner: "inst_test#1", fence: 3 }

/** Runs steps that record their inputs, and returns the recorded inputs. */
const walked = Effect.fnUntraced(function* (changes: Partial<RunSteps<string, string>>) {
  const found = (yield* (yield* RunLedger).find(world.runId)) ?? (yield* Effect.die("no Run"))
  const run: RunRow = { ...found, type: "plan", status: "running", owner: hold.owner, fence: hold.fence }
  const notes: Array<string> = []
  const note = (text: string) => Effect.sync(() => void notes.push(text))
  const execution = inSteps(
    {
      prepare: () => Effect.as(note("prepare"), "the job"),
      execute: (job) => Effect.as(note(`execute ${job}`), "the outcome"),
      settle: (held, result) =>
        note(
          `settle ${held.fence} ${Result.match(result, { onFailure: ({ reason }) => reason, onSuccess: (outcome) => outcome })}`
        ),
      refuse: (_, { code }) => note(`refuse ${code}`),
      ...changes
    },
    note
  )
  const exit = yield* Effect.result(
    execution(run, {
      sink: { event: () => Effect.void, log: (_, __, text) => note(`log ${text}`), checkpoint: () => Effect.void },
      cancelRequested: Effect.never,
      runFolder: "/nowhere/run",
      record: (end) => end
    })
  )
  return { notes, exit: Result.isSuccess(exit) ? "over" : exit.failure._tag }
}, Effect.provide(ledgers))

it.live("a Run passes a kill point between each pair of consecutive steps", () =>
  Effect.gen(function* () {
    expect(yield* walked({})).toEqual({
      notes: ["prepare", "plan.prepared", "execute the job", "plan.executed", "settle 3 the outcome"],
      exit: "over"
    })
  })
)

it.live("a failed job is settled in the same way as a successful job", () =>
  Effect.gen(function* () {
    const { notes } = yield* walked({ execute: () => runnerFailure("plan_failed", "plan", "It failed.") })
    expect(notes).toEqual(["prepare", "plan.prepared", "plan.executed", "settle 3 plan_failed"])
  })
)

it.live("a blocked Run records the reason and executes nothing", () =>
  Effect.gen(function* () {
    const { notes } = yield* walked({ prepare: () => blocked("missing_input", "A value is missing.") })
    expect(notes).toEqual(["log A value is missing.", "refuse missing_input"])
  })
)

it.live("an execution that loses its hold during preparation stops without writing anything", () =>
  Effect.gen(function* () {
    expect(yield* walked({ prepare: () => holdLost(hold) })).toEqual({ notes: [], exit: "HoldLost" })
  })
)
