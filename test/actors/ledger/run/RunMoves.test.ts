import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { expirePlans } from "../../../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { awaitRun } from "../../../../actors/ledger/run/RunJournal.ts"
import type { CapsuleId, RunId } from "../../../../schema/records/Ids.ts"
import type { RunStatus, RunType } from "../../../../schema/records/Run.ts"
import { transitionEvent } from "../../../../schema/records/RunTransitions.ts"
import { suite } from "../../../support/Effect.ts"
import { freshKey, planned } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { createTable, createTrigger } from "../../../support/Dialect.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const commands = [
  "plan",
  "destroyPlan",
  "driftCheck",
  "approve",
  "apply",
  "cancel",
  "configure",
  "expire",
  "wait"
] as const
/** All commands. Those that advance a Run are repeated, so that they are chosen more often than those that finish it. */
const weighted = [...commands, "plan", "wait", "wait", "wait", "approve", "approve", "apply", "apply"] as const
type Command = (typeof commands)[number]

/** Fixed first steps, so that the random walk starts with a module that can change and a Capsule that has changed. */
const opening: ReadonlyArray<readonly [Command, number]> = [
  ["approve", 1],
  ["apply", 1],
  ["wait", 0],
  ["driftCheck", 0],
  ["wait", 0]
]

interface Move {
  readonly run_id: string
  readonly type: RunType
  readonly was: RunStatus
  readonly is: RunStatus
  readonly approved: number
  readonly used: number
}

const isLegal = ({ approved, is, type, used, was }: Move): boolean =>
  transitionEvent({ type, status: was, isApproved: approved === 1, isUsed: used === 1 }, is) !== undefined

const watchMoves = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* createTable(
    sql,
    `CREATE TABLE moves (seq INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, type TEXT, was TEXT, "is" TEXT,
      approved INTEGER, used INTEGER)`
  )
  yield* createTrigger(
    sql,
    `CREATE TRIGGER watch_moves AFTER UPDATE OF status ON runs WHEN OLD.status <> NEW.status BEGIN
    INSERT INTO moves (run_id, type, was, "is", approved, used) VALUES (NEW.id, NEW.type, OLD.status, NEW.status,
      CASE WHEN NEW.approved_at IS NULL THEN 0 ELSE 1 END, CASE WHEN OLD.used_by_run_id IS NULL THEN 0 ELSE 1 END); END`
  )
})

/** Runs the command on the chosen Run. The test itself checks which results are legal. */
const perform = Effect.fnUntraced(function* (capsuleId: CapsuleId, command: Command, choice: number) {
  const { context, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { items } = yield* runs.list(workspaceId, { capsuleId }, { limit: 6 })
  const status = command === "approve" ? "waiting_approval" : command === "apply" ? "succeeded" : undefined
  const fitting = items.filter((item) => item.status === status && item.type.endsWith("plan"))
  // Usually picks a Run to which the command applies, but sometimes any Run.
  const from = fitting.length > 0 && choice > 0 ? fitting : items
  const run = from[choice % Math.max(from.length, 1)]
  const id: RunId = run?.id ?? (yield* Effect.die("no Run"))
  switch (command) {
    case "plan":
      return yield* capsuleCommands.Plan(capsuleId, { context })
    case "destroyPlan":
      return yield* capsuleCommands.DestroyPlan(capsuleId, { context })
    case "driftCheck":
      return yield* capsuleCommands.DriftCheck(capsuleId, { context })
    case "approve":
      return yield* runCommands.Approve(id, { context })
    case "apply":
      return yield* runs.apply(context, id, undefined)
    case "cancel":
      return yield* runCommands.Cancel(id, { context })
    case "configure": {
      const { installConfigReAdoption } = yield* capsules.read(capsuleId)
      const expected = { authorityGuard: installConfigReAdoption.authorityGuard }
      return yield* capsuleCommands.ConfigurationPlan(capsuleId, {
        context,
        request: { variablePatch: { set: { n: choice } }, expected },
        idempotency: freshKey()
      })
    }
    case "expire":
      yield* sql`UPDATE runs SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${id} AND expires_at IS NOT NULL`
      return yield* expirePlans
    case "wait":
      return yield* awaitRun(id)
  }
})

describe.skipIf(Bun.which("terraform") === null)("Run moves", () => {
  tests.live(
    "no sequence of requests causes an illegal Run move or uses a plan twice",
    () =>
      Effect.gen(function* () {
        const { workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const runs = yield* Runs
        yield* watchMoves
        const module = `
          variable "n" {
            type    = number
            default = 0
          }
          resource "terraform_data" "a" { input = var.n }`
        const { capsuleId } = yield* planned("moves", { "main.tf": module })
        const step = fc.tuple(fc.constantFrom(...weighted), fc.nat(5))
        const [sequence] = fc.sample(fc.array(step, { minLength: 45, maxLength: 45 }), {
          seed: 20_261_121,
          numRuns: 1
        })
        const answers = new Map<string, number>()
        for (const [command, choice] of [...opening, ...(sequence ?? [])]) {
          const answer = yield* perform(capsuleId, command, choice).pipe(
            Effect.as("done"),
            Effect.catch((error) => Effect.succeed("code" in error ? String(error.code) : "fault"))
          )
          answers.set(answer, (answers.get(answer) ?? 0) + 1)
        }
        // svc either executed each command or rejected it with a reason.
        expect([...answers.keys()].toSorted()).toEqual(expect.arrayContaining(["done", "failed_precondition"]))
        expect(answers.get("fault")).toBeUndefined()
        for (const run of (yield* runs.list(workspaceId, { capsuleId }, { limit: 100 })).items) yield* awaitRun(run.id)

        const moves = yield* sql<Move>`SELECT * FROM moves ORDER BY seq`
        expect(moves.length).toBeGreaterThan(30)
        expect(moves.filter((move) => !isLegal(move))).toEqual([])
        // Checks that the test detects a move that the table does not contain.
        expect(isLegal({ run_id: "", type: "apply", was: "failed", is: "running", approved: 0, used: 0 })).toBe(false)
        const applies = yield* sql`SELECT plan_run_id FROM runs WHERE type IN ('apply', 'destroy_apply')
          GROUP BY plan_run_id HAVING COUNT(*) > 1`
        expect(applies).toEqual([])
        const done = yield* sql`SELECT DISTINCT type FROM runs WHERE status = 'succeeded' AND started_at IS NOT NULL`
        expect(done.map((row) => row["type"])).toEqual(expect.arrayContaining(["apply", "drift_check"]))
        const unreviewed = yield* sql`SELECT a.id FROM runs a JOIN runs p ON p.id = a.plan_run_id
          WHERE a.started_at IS NOT NULL AND p.approved_at IS NULL`
        expect(unreviewed).toEqual([])
        const statesOf =
          yield* sql`SELECT generation FROM state_versions WHERE capsule_id = ${capsuleId} ORDER BY generation`
        expect(statesOf).toEqual(statesOf.map((_, index) => ({ generation: index + 1 })))
      }),
    90_000
  )
})
