import { Effect, Option, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { estimateCost, Prices } from "../../../actors/ledger/run/CostEstimates.ts"
import { Runs, RunStreams } from "../../../actors/ledger/run/Runs.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { RunGroupId, RunId, StateVersionId } from "../../../schema/records/Ids.ts"
import { Run } from "../../../schema/records/Run.ts"
import { commandContext, maybeIdempotent, pathId, repeatableAnswer } from "./Commands.ts"
import { liveAnswer } from "./LiveRuns.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const defaultSequenceLimit = 500

const applyAnswer = repeatableAnswer(SvcApi.groups.runs.endpoints.apply, Schema.Struct({ run: Run }))
const runOf = (params: { readonly runId: string }) => pathId(RunId, params.runId, "Run")
const groupOf = (params: { readonly runGroupId: string }) => pathId(RunGroupId, params.runGroupId, "Run group")
const stateOf = (params: { readonly stateVersionId: string }) =>
  pathId(StateVersionId, params.stateVersionId, "StateVersion")

export const runHandlers = HttpApiBuilder.group(
  SvcApi,
  "runs",
  Effect.fn(function* (handlers) {
    const runs = yield* Runs
    const streams = yield* RunStreams
    const capsules = yield* Capsules
    const prices = yield* Prices
    return storedAnswers("runs", handlers).handleAll({
      read: Effect.fnUntraced(function* ({ params }) {
        return { run: yield* runs.read(yield* runOf(params)) }
      }),
      approve: Effect.fnUntraced(function* ({ params, payload }) {
        return { run: yield* runs.approve(yield* commandContext, yield* runOf(params), payload) }
      }),
      apply: Effect.fnUntraced(function* ({ headers, params }) {
        const id = yield* runOf(params)
        const request = yield* maybeIdempotent(headers, { planRunId: id })
        const { replayed, value } = yield* runs.apply(yield* commandContext, id, request)
        return yield* applyAnswer({ run: value }, replayed)
      }),
      cancel: Effect.fnUntraced(function* ({ params, payload }) {
        return { run: yield* runs.cancel(yield* commandContext, yield* runOf(params), payload.reason) }
      }),
      logs: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = yield* runOf(params)
        const live = yield* liveAnswer(request, id, "logs", query.after)
        if (Option.isSome(live)) return live.value
        const page = yield* streams.logs(id, query.after ?? 0, query.limit ?? defaultSequenceLimit)
        return { entries: page.items, nextAfter: page.nextAfter, done: page.done }
      }),
      events: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = yield* runOf(params)
        const live = yield* liveAnswer(request, id, "events", query.after)
        if (Option.isSome(live)) return live.value
        const page = yield* streams.events(id, query.after ?? 0, query.limit ?? defaultSequenceLimit)
        return { events: page.items, nextAfter: page.nextAfter, done: page.done }
      }),
      changeCauses: Effect.fnUntraced(function* ({ params }) {
        return { changeCauses: yield* runs.changeCauses(yield* runOf(params)) }
      }),
      sourceChanges: Effect.fnUntraced(function* ({ params }) {
        return { sourceChanges: yield* runs.sourceChanges(yield* runOf(params)) }
      }),
      cost: Effect.fnUntraced(function* ({ params }) {
        const run = yield* runs.read(yield* runOf(params))
        const planned = run.planRunId === undefined ? run : yield* runs.read(run.planRunId)
        return { cost: { ...estimateCost(prices.table, planned), runId: run.id } }
      }),
      group: Effect.fnUntraced(function* ({ params }) {
        return yield* runs.group(yield* groupOf(params))
      }),
      approveGroup: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* runs.approveGroup(yield* commandContext, yield* groupOf(params), payload)
      }),
      cancelGroup: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* runs.cancelGroup(yield* commandContext, yield* groupOf(params), payload.reason)
      }),
      stateVersion: Effect.fnUntraced(function* ({ params }) {
        return { stateVersion: yield* capsules.stateVersion(yield* stateOf(params)) }
      }),
      rollbackPlan: Effect.fnUntraced(function* ({ params, payload = {} }) {
        return { run: yield* runs.rollbackPlan(yield* commandContext, yield* stateOf(params), payload) }
      })
    })
  })
)
