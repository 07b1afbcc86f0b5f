import { describe, expect, setDefaultTimeout } from "bun:test"
import { Clock, Duration, Effect, Layer, Queue } from "effect"
import { CleanupRhythm } from "../../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import { eventually } from "../../support/Eventually.ts"
import { live } from "../cli/support/CommandLine.ts"
import { freshKey, servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(120_000)

const files = { "main.tf": `output "greeting" { value = "hello" }` }

/** Creates a clock like the machine's that the test can move forward. */
const movedClock = Effect.map(Clock.clockWith(Effect.succeed), (clock) => {
  let ahead = 0
  const millis = () => clock.currentTimeMillisUnsafe() + ahead
  const moved: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe() + BigInt(ahead) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  const pass = (duration: Duration.Input) =>
    Effect.sync(() => {
      ahead += Duration.toMillis(duration)
    })
  return { moved, pass }
})

/** Builds a cleanup that runs only when the test requests it. */
const cleanups = Effect.gen(function* () {
  const asked = yield* Queue.unbounded<void>()
  const done = yield* Queue.unbounded<void>()
  const layer = Layer.succeed(CleanupRhythm, (turn) =>
    Queue.take(asked).pipe(Effect.andThen(turn), Effect.andThen(Queue.offer(done, undefined)), Effect.forever)
  )
  return { layer, run: Effect.andThen(Queue.offer(asked, undefined), Queue.take(done)) }
})

describe.skipIf(Bun.which("terraform") === null)("Expiring records", () => {
  live("tokens, receipts, plans, logs and install records are usable until they expire, and refused afterwards", () =>
    Effect.gen(function* () {
      const { moved, pass } = yield* movedClock
      const cleanup = yield* cleanups
      const plane = yield* servedPlane({ files, clock: moved, cleanup: cleanup.layer })
      const { applied, asPerson, bearer, call, ended, installed, workspaceId } = plane
      const { capsuleId, installPlan, planRunId } = yield* installed("app")
      const apply = yield* applied(planRunId)
      const status = (runId: string) => Effect.map(call("GET", `/api/v1/runs/${runId}`), ({ body }) => body.run?.status)

      // Creates a personal access token.
      const expires_at = new Date(Date.now() + 86_400_000).toISOString()
      const created = yield* call("POST", "/api/v1/account/tokens", {
        headers: asPerson,
        body: { name: "a day", scopes: ["read"], expires_at }
      })
      expect(created.status).toBe(201)
      const current = call("GET", "/api/v1/account/tokens/current", {
        headers: { authorization: `Bearer ${created.body.token}` }
      })
      expect((yield* current).status).toBe(200)

      // Creates a plan, and returns it with the receipt of its request.
      const key = freshKey()
      const plan = call("POST", `/api/v1/capsules/${capsuleId}/plan`, { headers: key })
      const first = yield* plan
      expect(first.status).toBe(201)
      const { id } = first.body.run
      const { expiresAt = "" } = yield* ended(id)
      expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 6 * 86_400_000)

      yield* pass("47 hours")
      yield* cleanup.run
      expect((yield* current).status).toBe(401)
      expect((yield* current).body.error.code).toBe("invalid_token")
      const repeated = yield* plan
      expect([repeated.status, repeated.body.run.id]).toEqual([200, id])

      yield* pass("2 hours")
      yield* cleanup.run
      const again = yield* plan
      expect(again.status).toBe(201)
      expect(again.body.run.id).not.toBe(id)
      const waiting = again.body.run.id
      expect((yield* ended(waiting)).status).toBe("waiting_approval")

      yield* pass("6 days")
      yield* cleanup.run
      expect(yield* status(waiting)).toBe("waiting_approval")
      // The plan becomes unusable when the time passes, before cleanup marks it as expired.
      yield* pass("2 days")
      const late = yield* call("POST", `/api/v1/runs/${waiting}/approve`, { body: {} })
      expect([late.status, late.body.error.code]).toEqual([409, "failed_precondition"])
      yield* cleanup.run
      expect(yield* status(waiting)).toBe("expired")
      const { events } = (yield* call("GET", `/api/v1/runs/${waiting}/events`)).body
      expect(events.map(({ kind }: { readonly kind: string }) => kind)).toContain("run.expired")

      // A log expires only if its Run is not the newest. Each read uses a fresh token, because tokens expire too.
      const read = (path: string) => Effect.flatMap(bearer, (headers) => call("GET", `/api/v1/${path}`, { headers }))
      const lines = Effect.map(read(`runs/${id}/logs`), ({ body }) => body.entries.length)
      expect(yield* lines).toBeGreaterThan(0)
      yield* pass("91 days")
      yield* eventually(Effect.andThen(cleanup.run, lines), (count) => count === 0)
      expect((yield* read(`runs/${id}`)).status).toBe(200)

      yield* pass("366 days")
      const record = Effect.map(read(`install-plans/${installPlan.id}`), (answer) => answer.status)
      expect(yield* record).toBe(200)
      // The records are scanned once a day, so advance the clock by a day for each attempt.
      const nextDay = pass("1 day").pipe(Effect.andThen(cleanup.run), Effect.andThen(record))
      yield* eventually(nextDay, (answer) => answer === 404)
      // Cleanup keeps the newest Runs, the Capsule's own records and the operation history.
      expect((yield* read(`runs/${apply.id}`)).body.run.status).toBe("succeeded")
      expect((yield* read(`capsules/${capsuleId}/outputs`)).body.outputs).toHaveLength(1)
      const activity = yield* read(`workspaces/${workspaceId}/activity?runId=${id}`)
      expect(activity.body.events.length).toBeGreaterThan(0)
    })
  )
})
