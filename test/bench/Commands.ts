import { randomBytes } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { Clock, Context, Effect, FileSystem, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { serviceContext } from "../../actors/Command.ts"
import { Sources } from "../../actors/source/Sources.ts"
import { SourceId, WorkspaceId } from "../../schema/records/Ids.ts"
import { embedded } from "./support/Embedded.ts"
import { type Figure, median } from "./support/Figures.ts"

const rounds = 9
const commands = 200
// Until then, much of the time is spent compiling the code.
const warmUps = 20

const perSecond = Effect.fnUntraced(function* <E>(work: Effect.Effect<unknown, E>) {
  const started = yield* Clock.currentTimeNanos
  yield* work
  return commands / (Number((yield* Clock.currentTimeNanos) - started) / 1e9)
})

/**
 * The same operation written by hand, with equal durability: one immediate transaction that reads, updates, notes and reads
 * again. Uses a copy of the service's own tables, because each table and index that a command writes costs a commit about as much
 * as the statement itself.
 */
const bareTransaction = Effect.fnUntraced(function* (
  services: Context.Context<SqlClient.SqlClient>,
  id: SourceId,
  workspaceId: WorkspaceId
) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-bare-" })
  const sql = Context.get(services, SqlClient.SqlClient)
  yield* sql`VACUUM INTO ${`${folder}/bare.sqlite`}`
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(`${folder}/bare.sqlite`)),
    (open) => Effect.sync(() => open.close())
  )
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON")
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  const find = database.prepare("SELECT * FROM sources WHERE id = ?")
  const update = database.prepare("UPDATE sources SET name = ?, updated_at = ? WHERE id = ?")
  const chain = database.prepare("SELECT * FROM audit_chains WHERE scope = ?")
  const note = database.prepare(`INSERT INTO audit_events
    (id, workspace_id, actor_kind, action, target_kind, target_id, data, created_at, position, mac)
    VALUES (?, ?, 'service', 'source.update', 'source', ?, '{"fields":["name"]}', ?, ?, ?)`)
  const link = database.prepare("UPDATE audit_chains SET position = ?, mac = ?, seal = ? WHERE scope = ?")
  // The same length as a digest in base64. No digest is computed here.
  const mac = "m".repeat(43)
  let count = Number(chain.get(workspaceId)?.["position"])
  return () => {
    const at = new Date().toISOString()
    begin.run()
    find.get(id)
    update.run(`name ${count++}`, at, id)
    chain.get(workspaceId)
    note.run(`act_${randomBytes(12).toString("hex")}`, workspaceId, id, at, count, mac)
    link.run(count, mac, `${mac}${count}`, workspaceId)
    find.get(id)
    commit.run()
  }
})

/** A command through an actor and its transaction, compared with the same rows written by hand, alternating. */
export const commandsFigure = Effect.gen(function* () {
  const { services, workspaceId } = yield* embedded
  const sources = Context.get(services, Sources)
  const { source } = yield* sources.create(serviceContext, {
    workspaceId: Schema.decodeUnknownSync(WorkspaceId)(workspaceId),
    name: "bench",
    url: "https://git.example.com/team/module.git"
  })
  const id = Schema.decodeUnknownSync(SourceId)(source.id)
  const bare = yield* bareTransaction(services, id, Schema.decodeUnknownSync(WorkspaceId)(workspaceId))
  const own = Effect.forEach(
    Array.from({ length: commands }, (_, index) => index),
    (index) => sources.update(serviceContext, id, { name: `name ${index}` }),
    { discard: true }
  )
  const raw = Effect.sync(() => {
    for (let index = 0; index < commands; index++) bare()
  })
  for (let warmUp = 0; warmUp < warmUps; warmUp++) {
    yield* own
    yield* raw
  }
  const ratios: Array<number> = []
  const rates: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const theirs = yield* perSecond(raw)
    const ours = yield* perSecond(own)
    rates.push(ours)
    ratios.push(ours / theirs)
  }
  const figure: Figure = {
    name: "command through an actor against the same rows by hand",
    figure: median(ratios),
    unit: "x",
    target: { atLeast: 0.35 },
    detail: `${median(rates).toFixed(0)} commands/s, one at a time`
  }
  return [figure]
}).pipe(Effect.scoped)
