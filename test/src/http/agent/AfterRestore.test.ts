import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { approvedApply, begun, farPlane, offerTo, planOn, world } from "../support/FarPlane.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

plane.live("after a restore, applies in a pool wait until the leases from before the restore have expired", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const sql = yield* SqlClient.SqlClient
    const agent = yield* enrolled()
    const id = yield* begun("restored")
    yield* planOn(agent, (yield* offerTo(agent)).offer)
    yield* sql`INSERT INTO restore_review ${sql.insert({
      record_id: "agt_of_the_backup",
      kind: "agent",
      previous_status: "enrolled",
      restored_at: ago(60),
      decision: "confirmed",
      decided_at: ago(30)
    })}`
    const { apply } = yield* approvedApply(id)
    // A plan changes nothing, so it does not wait for the old leases.
    yield* begun("restored-meanwhile", { "meanwhile.md": "plan" })
    const plan = (yield* offerTo(agent)).offer
    expect(plan.kind).toBe("plan")
    yield* planOn(agent, plan)
    expect((yield* agent.next(agent.claim()).pipe(Effect.timeoutOption("1 second")))._tag).toBe("None")
    const { queue } = yield* (yield* Runs).read(apply.id)
    expect(queue).toMatchObject({ reason: "no_agent", missing: [{ property: "leases" }] })
    const until = Date.parse(queue?.missing?.[0]?.needed ?? "")
    const [restored] = yield* sql<{ at: string }>`SELECT restored_at AS at FROM restore_review`
    expect(until - Date.parse(restored?.at ?? "")).toBe((2700 * 1.01 + 60) * 1000)
    yield* sql`UPDATE restore_review SET restored_at = ${ago(2700 * 1.01 + 61)}`
    expect((yield* offerTo(agent)).offer.runId).toBe(apply.id)
  })
)
