import { DatabaseSync } from "node:sqlite"
import { Clock, Context, Effect, FileSystem, Schema } from "effect"
import { serviceContext } from "../../actors/Command.ts"
import { Sources } from "../../actors/source/Sources.ts"
import { SourceId, WorkspaceId } from "../../schema/records/Ids.ts"
import { embedded } from "./support/Embedded.ts"
import { type Figure, median } from "./support/Figures.ts"

const rounds = 9
const commands = 200
// Before that, much of the time goes into compiling the code.
const warmUps = 5

const perSecond = Effect.fnUntraced(function* <E>(work: Effect.Effect<unknown, E>) {
  const started = yield* Clock.currentTimeNanos
  yield* work
  return commands / (Number((yield* Clock.currentTimeNanos) - started) / 1e9)
})

/** The same rows by hand: one immediate transaction that reads, updates, notes and reads again, equally durable. */
const bareTransaction = Effect.fnUntraced(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-bare-" })
  const database = yield* Effect.acquireRelease(
    Effect.sync(() => new DatabaseSync(`${folder}/bare.sqlite`)),
    (open) => Effect.sync(() => open.close())
  )
  database.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON;
    CREATE TABLE sources (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, updated_at TEXT NOT NULL);
    CREATE TABLE audit (id INTEGER PRIMARY KEY, action TEXT NOT NULL, target TEXT NOT NULL, data TEXT NOT NULL, created_at TEXT NOT NULL);
    CREATE INDEX audit_by_time ON audit (created_at, id);
    INSERT INTO sources VALUES ('src_1', 'one', '')`)
  const begin = database.prepare("BEGIN IMMEDIATE")
  const commit = database.prepare("COMMIT")
  const find = database.prepare("SELECT * FROM sources WHERE id = ?")
  const update = database.prepare("UPDATE sources SET name = ?, updated_at = ? WHERE id = ?")
  const note = database.prepare("INSERT INTO audit (action, target, data, created_at) VALUES (?, ?, ?, ?)")
  let count = 0
  return () => {
    const at = new Date().toISOString()
    begin.run()
    find.get("src_1")
    update.run(`name ${count++}`, at, "src_1")
    note.run("source.update", "src_1", '{"fields":["name"]}', at)
    find.get("src_1")
    commit.run()
  }
})

/** A command through an actor and its transaction against the bare transaction, alternating. */
export const commandsFigure = Effect.gen(function* () {
  const { services, workspaceId } = yield* embedded
  const sources = Context.get(services, Sources)
  const { source } = yield* sources.create(serviceContext, {
    workspaceId: Schema.decodeUnknownSync(WorkspaceId)(workspaceId),
    name: "bench",
    url: "https://git.example.com/team/module.git"
  })
  const id = Schema.decodeUnknownSync(SourceId)(source.id)
  const bare = yield* bareTransaction()
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
    name: "command through an actor against a bare transaction",
    figure: median(ratios),
    unit: "x",
    target: { atLeast: 0.35 },
    detail: `${median(rates).toFixed(0)} commands/s, one at a time`
  }
  return [figure]
}).pipe(Effect.scoped)
