import { expect } from "bun:test"
import { Effect, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { type StoredAmount, StoredBytes } from "../../../actors/upkeep/retention/StoredBytes.ts"
import { storedMetrics } from "../../../src/observability/StoredMetrics.ts"
import { it } from "../../support/Effect.ts"
import { namedWorkspace } from "../../support/NamedIds.ts"

const letters = [..."abcdefghijklmnopqrstuvwxyz"]

it.effect("stored-bytes metrics list the largest Workspaces individually, and group the rest", () => {
  let amounts: ReadonlyArray<StoredAmount> = letters.map((letter, index) => ({
    workspaceId: namedWorkspace(letter),
    kind: "logs",
    bytes: 100 - index
  }))
  const counted = Layer.succeed(StoredBytes, {
    measured: Effect.sync(() => ({ at: "2026-01-01T00:00:00.000Z", amounts })),
    measure: Effect.die("not asked for"),
    measureSometimes: Effect.void
  })
  const lines = Effect.map(PrometheusMetrics.format(), (text) =>
    text.split("\n").filter((line) => line.includes('kind="logs"'))
  )
  const of = (workspace: string) => (line: string) => line.includes(`workspace="${workspace}"`)
  return Effect.gen(function* () {
    yield* Layer.build(storedMetrics.pipe(Layer.provide(counted)))
    yield* TestClock.adjust("1 second")
    const first = yield* lines
    expect(first.filter((line) => line.startsWith("svc_workspace_stored_bytes"))).toHaveLength(21)
    expect(first.find(of("other"))).toEndWith(" 465")
    expect(first.find(of(namedWorkspace("a")))).toEndWith(" 100")
    amounts = amounts.slice(1)
    yield* TestClock.adjust("15 seconds")
    expect((yield* lines).find(of(namedWorkspace("a")))).toEndWith(" 0")
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.scoped)
})
