import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import type { RunId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { RunType } from "../../../../schema/records/Run.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { testQueue } from "./support/TestQueue.ts"

const tests = suite(testQueue({ concurrency: 2, workspaceConcurrency: 2 }).pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

const at = "2026-01-01T00:00:00.000Z"
let counter = 0

const pool = Effect.fnUntraced(function* (name: string, ...workspaces: ReadonlyArray<WorkspaceId>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO agent_pools ${sql.insert({ name, lease_seconds: 2700, created_at: at })}`
  for (const workspace_id of workspaces) {
    yield* sql`INSERT INTO agent_pool_workspaces ${sql.insert({ pool: name, workspace_id, assigned_at: at })}`
  }
})

const workspace = Effect.gen(function* () {
  counter += 1
  const owner = yield* newPerson(`turns-${counter}`)
  return (yield* newWorkspace(owner.subject, { handle: `turns-${counter}` })).id
})

/** Queues Runs in a pool in the order of the calls, all for the same person by default. */
const queued = Effect.fnUntraced(function* (
  workspaceId: WorkspaceId,
  to: string,
  count: number,
  { by = "ada", type = "plan" }: { readonly by?: string; readonly type?: RunType } = {}
) {
  const ledger = yield* RunLedger
  const ids: Array<RunId> = []
  for (let index = 0; index < count; index++) {
    counter += 1
    const id = namedRun(`turn${counter}`)
    yield* ledger.insert({ id, workspaceId, type, trigger: "user", createdBy: by, spec: {} })
    const places = to === "local" ? {} : { pool: to, slot_pool: `agents:${to}` }
    yield* setRun(id, { ...places, queued_at: new Date(Date.parse(at) + counter * 1000).toISOString() })
    ids.push(id)
  }
  return ids
})

const claimed = (of: string, fits: (id: RunId) => boolean = () => true) =>
  Effect.gen(function* () {
    const queue = yield* RunQueue
    const run = yield* transaction(yield* SqlClient.SqlClient)(
      queue.claimOf(of, "agt_one", (id) => Effect.succeed(fits(id)))
    )
    return run?.id
  })

const claimedAll = Effect.fnUntraced(function* (of: string, most: number) {
  const ids: Array<RunId | undefined> = []
  for (let index = 0; index < most; index++) ids.push(yield* claimed(of))
  return ids
})

tests.live("Workspaces that share a pool take turns, regardless of how many Runs each has queued", () =>
  Effect.gen(function* () {
    const [many, few] = [yield* workspace, yield* workspace]
    yield* pool("shared", many, few)
    const first = yield* queued(many, "shared", 20)
    const second = yield* queued(few, "shared", 3)
    const order = yield* claimedAll("shared", 8)
    expect(order).toEqual([first[0], second[0], first[1], second[1], first[2], second[2], first[3], first[4]])
    // People within a Workspace also take turns, and checks come after people's requests.
    const [check] = yield* queued(few, "shared", 1, { type: "drift_check" })
    const [colleague] = yield* queued(many, "shared", 1, { by: "bob" })
    expect(yield* claimedAll("shared", 2)).toEqual([colleague, first[5]])
    const rest = yield* claimedAll("shared", 15)
    expect(rest.slice(0, 14)).toEqual(first.slice(6))
    expect(rest[14]).toBe(check)
    expect(yield* claimed("shared")).toBeUndefined()
  })
)

tests.live("a Run that no agent can execute, or a pool without agents, does not delay other Runs", () =>
  Effect.gen(function* () {
    const [one, other] = [yield* workspace, yield* workspace]
    yield* pool("dead", one)
    yield* pool("near", one, other)
    yield* queued(one, "dead", 30)
    const odd = yield* queued(one, "near", 3)
    const [plain] = yield* queued(one, "near", 1)
    const [theirs] = yield* queued(other, "near", 1)
    const fits = (id: RunId) => !odd.includes(id)
    expect(yield* claimed("near", fits)).toBe(plain)
    expect(yield* claimed("near", fits)).toBe(theirs)
    expect(yield* claimed("near", fits)).toBeUndefined()
    // Runs that wait for agents or run on agents do not occupy places on the control plane.
    const local = yield* queued(one, "local", 3)
    const queue = yield* RunQueue
    expect((yield* queue.claim("this machine"))?.id).toBe(local[0])
    expect((yield* queue.claim("this machine"))?.id).toBe(local[1])
    expect(yield* queue.claim("this machine")).toBeUndefined()
    expect(yield* claimed("near")).toBe(odd[0])
  })
)

tests.live("agents of a pool receive no Runs from a Workspace without an assignment to the pool", () =>
  Effect.gen(function* () {
    const [assigned, stranger] = [yield* workspace, yield* workspace]
    yield* pool("own", assigned)
    yield* queued(stranger, "own", 2)
    const [run] = yield* queued(assigned, "own", 1)
    expect(yield* claimed("own")).toBe(run)
    expect(yield* claimed("own")).toBeUndefined()
  })
)
