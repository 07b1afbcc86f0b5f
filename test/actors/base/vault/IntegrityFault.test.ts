import { afterAll, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Cause, Effect, Exit, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { derivedId } from "../../../../actors/base/Identity.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { ApplyRecovery } from "../../../../actors/running/execution/ApplyRecovery.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { hasIntegrityFault } from "../../../../actors/base/vault/IntegrityFault.ts"
import { loadKeyring } from "../../../../actors/base/vault/MasterKeyStore.ts"
import { integrityFaults, sealedColumns } from "../../../../actors/base/vault/SealedPlaces.ts"
import { VaultOpenFailed } from "../../../../actors/base/vault/Sealing.ts"
import { RunId, SourceId } from "../../../../schema/records/Ids.ts"
import { failureResponse } from "../../../../src/http-kit/ErrorResponse.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  demoConnection,
  driven,
  freshKey,
  planned,
  replanned,
  requestOf,
  settled
} from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const module = (input: string) => ({ "main.tf": `resource "terraform_data" "a" { input = "${input}" }` })

const faultsNow = Effect.gen(function* () {
  const { dataDir } = yield* TestPlane
  return yield* integrityFaults(yield* loadKeyring({ kind: "file", file: `${dataDir}/master.key`, create: false }, []))
})

/** Returns the database columns that currently contain sealed values. */
const columnsInUse = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = yield* sql<{ table: string; column: string }>`SELECT m.name AS "table", c.name AS "column"
    FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
  const used: Array<string> = []
  for (const { column, table } of columns) {
    const found =
      yield* sql`SELECT 1 AS one FROM ${sql(table)} WHERE ${sql(column)} LIKE 'v_.dk\\_%' ESCAPE '\\' LIMIT 1`
    if (found.length > 0) used.push(`${table}.${column}`)
  }
  return used
})

describe.skipIf(Bun.which("terraform") === null)("Moved sealed values", () => {
  tests.live(
    "a damaged sealed value fails a plan with integrity_fault on the first attempt, and the vault check reports it",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const one = yield* active("moved-one", module("1"))
        const two = yield* active("moved-two", module("2"))
        const [stateOfOne, stateOfTwo] = [
          one.capsule.currentStateVersionId ?? "",
          two.capsule.currentStateVersionId ?? ""
        ]
        expect(yield* faultsNow).toEqual([])
        yield* sql`UPDATE state_versions SET state = (SELECT state FROM state_versions WHERE id = ${stateOfTwo})
        WHERE id = ${stateOfOne}`
        const run = yield* replanned(one.capsule.id)
        expect([run.status, run.error?.code, run.attempt]).toEqual(["failed", "integrity_fault", 1])
        expect(run.error?.message).toContain("svc doctor")
        expect(yield* faultsNow).toEqual([`state_versions.state of ${stateOfOne}`])
        // The other Capsule can still be planned.
        expect((yield* replanned(two.capsule.id)).status).toBe("waiting_approval")
      })
  )

  tests.live("every caller of an actor receives an integrity fault for a damaged sealed value", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const connectionCommands = yield* ConnectionCommands
      const one = yield* demoConnection("first-token-value")
      const two = yield* demoConnection("second-token-value")
      yield* sql`UPDATE connections SET sealed_values = (SELECT sealed_values FROM connections WHERE id = ${two.id})
        WHERE id = ${one.id}`
      const exit = yield* Effect.exit(connectionCommands.Test(one.id, { context }))
      expect(Exit.isFailure(exit) && hasIntegrityFault(exit.cause)).toBe(true)
      const response = yield* failureResponse(Exit.isFailure(exit) ? exit.cause : Cause.die("nothing failed"), "req_1")
      expect(response.status).toBe(500)
      expect((yield* connectionCommands.Test(two.id, { context })).connection.status).toBe("verified")

      // Renaming the Connection neither opens the sealed value nor repairs it.
      expect(
        (yield* connectionCommands.Update(one.id, { context, request: { displayName: "kept" } })).connection.displayName
      ).toBe("kept")
      const files = [{ name: "a.json", content: "{}", envName: "A_FILE" }]
      const partly = yield* Effect.exit(connectionCommands.Update(one.id, { context, request: { files } }))
      expect(Exit.isFailure(partly) && hasIntegrityFault(partly.cause)).toBe(true)
      const still = yield* Effect.exit(connectionCommands.Test(one.id, { context }))
      expect(Exit.isFailure(still) && hasIntegrityFault(still.cause)).toBe(true)
      // Checks the remedy that the message suggests: entering the value again in the same field.
      const { notesDir } = yield* TestPlane
      yield* connectionCommands.Update(one.id, {
        context,
        request: { values: { DEMO_TOKEN: "third-token-value", DEMO_DIR: notesDir } }
      })
      expect((yield* connectionCommands.Test(one.id, { context })).connection.status).toBe("verified")
    })
  )

  tests.live("an install plan with a damaged sealed value fails instead of being retried endlessly", () =>
    Effect.gen(function* () {
      const { commit, context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const plans = yield* InstallPlans
      const files = { "main.tf": 'variable "name" { type = string }' }
      yield* commit("values-one", files)
      yield* commit("values-two", files)
      const create = Effect.fnUntraced(function* (branch: string) {
        const request = yield* requestOf(branch, { variables: { name: branch } })
        return (yield* plans.create(context, workspaceId, request, freshKey(branch))).value.id
      })
      const one = yield* create("values-one")
      const two = yield* create("values-two")
      // Both plans fail before svc fetches their Sources.
      yield* sql`UPDATE install_plans SET private_variables =
        (SELECT private_variables FROM install_plans WHERE id = ${two}) WHERE id = ${one}`
      const ended = yield* driven(one)
      expect([ended.phase, ended.diagnostics.map(({ code }) => code)]).toEqual(["failed", ["integrity_fault"]])
      expect((yield* sql`SELECT id FROM capsules WHERE name = 'values-one'`).length).toBe(0)
      expect((yield* driven(two)).phase).toBe("reviewable")
    })
  )

  tests.live("a damaged sealed value does not stop recovery from settling an apply whose checkpoint was moved", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const { capsuleId, plan } = yield* planned("moved-checkpoint", module("3"))
      const applyId = derivedId(RunId, "run", "moved-checkpoint", "apply")
      yield* ledger.insert({
        id: applyId,
        workspaceId: plan.workspaceId,
        type: "apply",
        capsuleId,
        planRunId: plan.id,
        installConfigId: (yield* ledger.find(plan.id))?.install_config_id ?? undefined,
        trigger: "user",
        spec: {}
      })
      const hold = yield* heldRun(applyId)
      const state = Redacted.make(new TextEncoder().encode("{}"))
      yield* Effect.flatMap(RunCheckpoints, (checkpoints) => checkpoints.save(hold, plan.workspaceId, state))
      yield* sql`UPDATE run_checkpoints SET state = (SELECT plan_file FROM run_plans LIMIT 1) WHERE run_id = ${applyId}`
      const run = yield* ledger.find(applyId)
      if (run === undefined) return yield* Effect.die("no Run")
      const error = { code: "apply_interrupted", message: "interrupted" }
      yield* Effect.flatMap(ApplyRecovery, (recovery) =>
        recovery.settle(run, { kind: "nothing" }, { untouched: error, interrupted: error })
      )
      const ended = yield* settled(applyId)
      expect([ended.status, ended.error?.code]).toEqual(["failed", "integrity_fault"])
    })
  )

  tests.live("the vault check finds damaged values in every column that has ever contained a sealed value", () =>
    Effect.gen(function* () {
      const used = yield* columnsInUse
      expect(used).toEqual(expect.arrayContaining(["connections.sealed_values", "install_configs.private_variables"]))
      const known = sealedColumns.map(({ column, table }) => `${table}.${column}`)
      expect(used.filter((column) => !known.includes(column))).toEqual([])
    })
  )
})

tests.live("the vault check reports an active Source without a webhook secret, but not a removed Source", () =>
  Effect.gen(function* () {
    const { context, workspaceId } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const sources = yield* Sources
    const before = yield* faultsNow
    const newSource = sources.create(context, {
      workspaceId,
      name: "hooked",
      url: "https://git.example.com/hooked.git"
    })
    const { source: removed } = yield* newSource
    yield* sources.remove(context, SourceId.make(removed.id))
    expect(yield* faultsNow).toEqual(before)
    const { source: used } = yield* newSource
    yield* sql`UPDATE sources SET hook_secret = '' WHERE id = ${used.id}`
    expect((yield* faultsNow).filter((fault) => !before.includes(fault))).toEqual([`sources.hook_secret of ${used.id}`])
  })
)

test("the vault check covers every column that the code seals", () => {
  const actors = join(import.meta.dir, "../../../../actors")
  const named = readdirSync(actors, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => [
      ...readFileSync(join(actors, name), "utf8").matchAll(/table: "([a-z_]+)",\s*column: "([a-z_]+)"/g)
    ])
    .map(([, table, column]) => `${table}.${column}`)
  const known = sealedColumns.map(({ column, table }) => `${table}.${column}`)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((place) => !known.includes(place))).toEqual([])
})

tests.live("an integrity fault response describes the fault and reveals nothing about the value", () =>
  Effect.gen(function* () {
    const response = yield* failureResponse(Cause.die(VaultOpenFailed.anywhere()), "req_1")
    const { code, message } = JSON.parse(
      new TextDecoder().decode(response.body._tag === "Uint8Array" ? response.body.body : new Uint8Array())
    ).error
    expect([response.status, code]).toEqual([500, "integrity_fault"])
    expect(message).toContain("svc doctor")
  })
)
