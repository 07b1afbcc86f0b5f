import { expect } from "bun:test"
import { Effect, type Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { AuditChainRow, type AuditScope } from "../../../../actors/base/audit/AuditChainRow.ts"
import { beginChains } from "../../../../actors/base/audit/AuditBeginning.ts"
import { headOf } from "../../../../actors/base/audit/AuditHeads.ts"
import { AuditKeys, chainText, linkText, readAuditKey } from "../../../../actors/base/audit/AuditLink.ts"
import { AuditRow } from "../../../../actors/base/audit/AuditRow.ts"
import { verifyAudit } from "../../../../actors/base/audit/AuditVerification.ts"
import { parseKeyring } from "../../../../actors/base/vault/MasterKey.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { testFoundation } from "../../../support/Actors.ts"
import { it } from "../../../support/Effect.ts"
import { namedRun, namedWorkspace } from "../../../support/NamedIds.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

const workspace = namedWorkspace("a")
const other = namedWorkspace("b")
const inserted = AuditRow.columns.id.make(`act_${"x".repeat(24)}`)

const entry = (id: string, workspaceId: typeof workspace | null = workspace) => ({
  workspaceId,
  actor: { kind: "user" as const, subject: "usr_aaaaaaaaaaaaaaaaaaaa" },
  action: "member.add",
  target: { kind: "thing", id },
  data: { role: "admin" }
})

/** Seven events in one Workspace, three in another, and two that belong to the installation, interleaved. */
const furnish = Effect.gen(function* () {
  const audit = yield* Audit
  for (let n = 1; n <= 7; n++) {
    yield* audit.append(entry(`a${n}`))
    if (n <= 3) yield* audit.append(entry(`b${n}`, other))
    if (n <= 2) yield* audit.append(entry(`i${n}`, null))
  }
})

const verify = Effect.flatMap(AuditKeys, (key) => verifyAudit(key, undefined))
const head = Effect.flatMap(AuditKeys, (key) => headOf(key, undefined, undefined))
const compare = (kept: Effect.Success<typeof head>) =>
  Effect.flatMap(AuditKeys, (key) => verifyAudit(key, { head: kept, installationId: undefined }))

/** Returns the position of the first fault in each chain. */
const places = Effect.map(verify, ({ faults }) => faults.map(({ position, workspaceId }) => [workspaceId, position]))

const fresh = (name: string, body: Effect.Effect<unknown, unknown, Layer.Success<typeof testFoundation>>) =>
  it.live(name, () => Effect.provide(Effect.andThen(furnish, body), testFoundation))

fresh(
  "an untouched history verifies, with one gapless chain per Workspace",
  Effect.gen(function* () {
    expect(yield* verify).toEqual({
      faults: [],
      chains: [
        { workspaceId: null, position: 2, prunedPosition: 0 },
        { workspaceId: workspace, position: 7, prunedPosition: 0 },
        { workspaceId: other, position: 3, prunedPosition: 0 }
      ]
    })
  })
)

const tampering: ReadonlyArray<readonly [name: string, statement: string, position: number | undefined]> = [
  ["a changed actor", "UPDATE audit_events SET actor_subject = 'usr_b' WHERE target_id = 'a4'", 4],
  ["changed data", `UPDATE audit_events SET data = '{"role":"owner"}' WHERE target_id = 'a4'`, 4],
  ["a changed time", "UPDATE audit_events SET created_at = '2020-01-01T00:00:00.000Z' WHERE target_id = 'a4'", 4],
  ["a changed Run", `UPDATE audit_events SET run_id = '${namedRun("x")}' WHERE target_id = 'a4'`, 4],
  ["a changed request", "UPDATE audit_events SET request_id = 'req_x' WHERE target_id = 'a4'", 4],
  ["a removed event", "DELETE FROM audit_events WHERE target_id = 'a4'", 4],
  ["the first one removed", "DELETE FROM audit_events WHERE target_id = 'a1'", 1],
  ["the last one removed", "DELETE FROM audit_events WHERE target_id = 'a7'", 7],
  [
    "the last one removed and the end put back",
    `DELETE FROM audit_events WHERE target_id = 'a7';
     UPDATE audit_chains SET position = 6, mac = (SELECT mac FROM audit_events WHERE target_id = 'a6') WHERE position = 7`,
    undefined
  ],
  [
    "a removed beginning that claims to be retention",
    `UPDATE audit_chains SET pruned_position = 2, pruned_mac = (SELECT mac FROM audit_events WHERE target_id = 'a2')
      WHERE position = 7; DELETE FROM audit_events WHERE target_id IN ('a1', 'a2')`,
    undefined
  ],
  [
    "two that changed places",
    `UPDATE audit_events SET position = 99 WHERE target_id = 'a4'; UPDATE audit_events SET position = 4 WHERE target_id = 'a5';
     UPDATE audit_events SET position = 5 WHERE target_id = 'a4'`,
    4
  ],
  [
    "an event put at the end",
    `INSERT INTO audit_events SELECT '${inserted}', workspace_id, actor_kind, actor_subject, actor_token_id, action, target_kind,
      'x', capsule_id, run_id, data, request_id, created_at, 8, mac FROM audit_events WHERE target_id = 'a7'`,
    8
  ]
]

for (const [name, statement, position] of tampering) {
  fresh(
    `an attacker with access only to the database is detected: ${name}`,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const each of statement.split(";")) yield* sql.unsafe(each)
      expect(yield* places).toEqual([[workspace, position]])
    })
  )
}

fresh(
  "an event without a position, and a history removed as a whole, are detected",
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO audit_events (id, workspace_id, actor_kind, action, target_kind, target_id, data, created_at)
      VALUES (${inserted}, ${workspace}, 'user', 'a', 't', 'x', '{}', '2026-01-01T00:00:00.000Z')`
    expect((yield* verify).faults).toMatchObject([{ workspaceId: null, eventId: inserted }])
    // Restarting does not add the inserted event to a chain, so the fault remains.
    yield* Effect.flatMap(AuditKeys, beginChains)
    expect((yield* verify).faults).toMatchObject([{ workspaceId: null, eventId: inserted }])
    yield* sql`DELETE FROM audit_events WHERE id = ${inserted}`
    expect((yield* verify).faults).toEqual([])
    yield* sql`DELETE FROM audit_events WHERE workspace_id = ${other}`
    yield* sql`DELETE FROM audit_chains WHERE scope = ${other}`
    expect((yield* verify).faults).toMatchObject([
      { workspaceId: null, message: expect.stringContaining("whole Workspace") }
    ])
  })
)

fresh(
  "a missing chain row does not stop the service, and is detected",
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`DELETE FROM audit_chains`
    yield* Effect.flatMap(AuditKeys, beginChains)
    expect((yield* verify).faults).toHaveLength(3)
    yield* (yield* Audit).append(entry("a8"))
    yield* (yield* Audit).append(entry("i3", null))
    expect((yield* places).slice(0, 2)).toEqual([
      [null, 3],
      [workspace, 8]
    ])
  })
)

fresh(
  "a kept head detects an older copy that ends before it, and a different history",
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const audit = yield* Audit
    const events = yield* AuditRow.rows(sql)`SELECT * FROM audit_events`
    const chains = yield* AuditChainRow.rows(sql)`SELECT * FROM audit_chains`
    yield* audit.append(entry("a8"))
    const kept = yield* head
    yield* audit.append(entry("a9"))
    expect((yield* compare(kept)).faults).toEqual([])
    // Restores an older copy of the database.
    yield* sql`DELETE FROM audit_events`
    yield* sql`DELETE FROM audit_chains`
    for (const event of events) yield* sql`INSERT INTO audit_events ${sql.insert(event)}`
    for (const chain of chains) yield* sql`INSERT INTO audit_chains ${sql.insert(chain)}`
    expect((yield* verify).faults).toEqual([])
    expect((yield* compare(kept)).faults).toMatchObject([
      { workspaceId: workspace, position: 8, message: expect.stringContaining("ends at position 7") }
    ])
    // From here on, the restored database continues with a different history.
    yield* audit.append(entry("another a8"))
    expect((yield* verify).faults).toEqual([])
    expect((yield* compare(kept)).faults).toMatchObject([
      { workspaceId: workspace, position: 8, message: expect.stringContaining("not that of the exported head") }
    ])
    const foreign = yield* compare({ ...kept, keyId: "dk_other" })
    expect(foreign.faults).toMatchObject([{ message: expect.stringContaining("dk_other") }])
  })
)

fresh(
  "rotating the master key and removing the retired key leaves the chains valid",
  Effect.gen(function* () {
    const kept = yield* head
    yield* (yield* Vault).rotateMasterKey({ forgetRetired: true })
    yield* (yield* Audit).append(entry("a8"))
    const { masterKeyFile } = yield* DataFolder
    const text = yield* Effect.promise(() => Bun.file(masterKeyFile).text())
    const key = yield* readAuditKey(yield* parseKeyring(Redacted.make(text), "the file"))
    expect((yield* verifyAudit(key, { head: kept, installationId: undefined })).faults).toEqual([])
  })
)

fresh(
  "servers that start at once begin the chains once",
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const key = yield* AuditKeys
    yield* sql`UPDATE audit_events SET position = NULL, mac = NULL`
    yield* sql`DELETE FROM audit_chains`
    yield* Effect.all([beginChains(key), beginChains(key), beginChains(key)], { concurrency: "unbounded" })
    expect((yield* verify).faults).toEqual([])
    expect(yield* sql`SELECT 1 AS one FROM audit_events WHERE action = 'audit_chain.begin'`).toHaveLength(1)
  })
)

fresh(
  "events of an earlier release get positions in order of time, even after a crash, and an event records this",
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const key = yield* AuditKeys
    // Gives the events distinct timestamps, because events from the same millisecond would be ordered by id.
    yield* sql`UPDATE audit_events SET position = NULL, mac = NULL,
      created_at = '2026-01-01T00:00:00.00' || substr(target_id, 2, 1) || 'Z'`
    yield* sql`DELETE FROM audit_chains`
    yield* sql`UPDATE audit_events SET created_at = '2020-01-01T00:00:00.000Z' WHERE target_id = 'a7'`
    yield* createTrigger(
      sql,
      `CREATE TRIGGER crash BEFORE UPDATE ON audit_events WHEN OLD.target_id = 'b2'
      BEGIN SELECT RAISE(ABORT, 'crash'); END`
    )
    yield* Effect.exit(beginChains(key))
    expect((yield* verify).faults.map(({ message }) => message)).toContainEqual(expect.stringContaining("not begun"))
    yield* dropTrigger(sql, "crash")
    yield* beginChains(key)
    expect(yield* verify).toMatchObject({
      faults: [],
      chains: [{ position: 3 }, { position: 7 }, { position: 3 }]
    })
    const rows = yield* AuditRow.rows(
      sql
    )`SELECT * FROM audit_events WHERE workspace_id = ${workspace} ORDER BY position`
    expect(rows.map(({ target_id }) => target_id)).toEqual(["a7", "a1", "a2", "a3", "a4", "a5", "a6"])
    const begun = yield* AuditRow.rows(sql)`SELECT * FROM audit_events WHERE action = 'audit_chain.begin'`
    expect(begun.map(({ data, position }) => [JSON.parse(data), position])).toEqual([[{ events: 12 }, 3]])
    // Starting the chains again has no effect, because every event is already in a chain.
    yield* beginChains(key)
    expect((yield* verify).chains[0]?.position).toBe(3)
  })
)

fresh(
  "a failed transaction writes no event, and one transaction may write several",
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const audit = yield* Audit
    const twice = Effect.andThen(audit.append(entry("a8")), audit.append(entry("a9")))
    yield* Effect.exit(sql.withTransaction(Effect.andThen(twice, Effect.fail("no"))))
    expect((yield* verify).chains[1]?.position).toBe(7)
    yield* sql.withTransaction(twice)
    yield* Effect.all(
      [1, 2, 3].map((n) => audit.append(entry(`c${n}`))),
      { concurrency: "unbounded" }
    )
    expect(yield* verify).toMatchObject({ faults: [], chains: [{}, { position: 12 }, {}] })
  })
)

it.live("the format of audit links and seals never changes, because stored digests depend on the format", () =>
  Effect.sync(() => {
    const scope: AuditScope = workspace
    const event = {
      id: Schema.decodeSync(AuditRow.columns.id)("act_aaaaaaaaaaaaaaaaaaaaaaaa"),
      workspace_id: workspace,
      actor_kind: "user" as const,
      actor_subject: "usr_1",
      actor_token_id: null,
      action: "run.approve",
      target_kind: "run",
      target_id: "run_1",
      capsule_id: null,
      run_id: null,
      data: "{}",
      request_id: null,
      created_at: Schema.decodeSync(AuditRow.columns.created_at)("2026-01-01T00:00:00.000Z")
    }
    expect(linkText(scope, 3, "before", event)).toBe(
      `["svc/audit/link/v1","${workspace}",3,"before","act_aaaaaaaaaaaaaaaaaaaaaaaa","user","usr_1",null,"run.approve","run","run_1",null,null,"{}",null,"2026-01-01T00:00:00.000Z"]`
    )
    const chain = { scope, position: 3, mac: "m", pruned_position: 1, pruned_mac: "p", chains: null }
    expect(chainText(chain)).toBe(`["svc/audit/chain/v1","${workspace}",3,"m",1,"p",null]`)
  })
)
