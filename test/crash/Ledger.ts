import { existsSync, readdirSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Layer, Option, Redacted, Schema, Scope } from "effect"
import { StateVersions } from "../../actors/ledger/state/StateVersions.ts"
import { storage } from "../../src/composition/Storage.ts"
import { makeCodecs } from "../../src/database/postgres/PostgresConnection.ts"
import { loadSettings, type Settings } from "../../src/settings/Settings.ts"
import type { StateVersionRow } from "../../actors/ledger/state/StateVersionRow.ts"
import { StateVersionId } from "../../schema/records/Ids.ts"

const text = Schema.NullOr(Schema.String)

const RunRecord = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  status: Schema.String,
  capsule_id: text,
  attempt: Schema.Int,
  owner: text,
  approved_at: text,
  used_by_run_id: text,
  state_version_id: text,
  error_code: text,
  evidence: Schema.fromJsonString(
    Schema.Struct({
      possiblyCreated: Schema.optionalKey(Schema.Array(Schema.String)),
      postApply: Schema.optionalKey(Schema.Array(Schema.Struct({ status: Schema.String })))
    })
  )
})
export type RunRecord = typeof RunRecord.Type

const CapsuleRecord = Schema.Struct({
  id: Schema.String,
  status: Schema.String,
  runtime_safety: Schema.String,
  current_state_version_id: text,
  current_state_generation: Schema.Int,
  execution_authority_epoch: Schema.Int,
  import_confirmed_at: Schema.NullOr(Schema.String)
})

const EventRecord = Schema.Struct({
  run_id: Schema.String,
  seq: Schema.Int,
  kind: Schema.String,
  data: Schema.fromJsonString(
    Schema.Struct({
      address: Schema.optionalKey(Schema.String),
      action: Schema.optionalKey(Schema.String),
      phase: Schema.optionalKey(Schema.String)
    })
  )
})

const ChunkRecord = Schema.Struct({ run_id: Schema.String, first_seq: Schema.Int, last_seq: Schema.Int })
const NamedRecord = Schema.Struct({ id: Schema.String })
const InstallRecord = Schema.Struct({ id: Schema.String, phase: Schema.String, private_variables: text })
const UploadRecord = Schema.Struct({
  id: Schema.String,
  is_used: Schema.Int,
  has_state: Schema.Int,
  versions: Schema.Int,
  plan_phase: text
})
const ExportRecord = Schema.Struct({ action: Schema.String, count: Schema.Int })
const StateId = Schema.Struct({ id: StateVersionId })
const Problems = Schema.Array(Schema.Record(Schema.String, Schema.Unknown))

const Creation = Schema.fromJsonString(Schema.Struct({ id: Schema.String, name: Schema.String }))
const State = Schema.fromJsonString(
  Schema.Struct({
    resources: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        instances: Schema.Array(Schema.Struct({ attributes: Schema.Struct({ id: Schema.String }) }))
      })
    )
  })
)

/** Capsules whose resource list differs from their state, although svc commits the two together. */
const unindexed = `SELECT c.id AS capsule_id, v.resource_count, i.outcome FROM capsules c
  JOIN state_versions v ON v.id = c.current_state_version_id LEFT JOIN state_indexes i ON i.state_version_id = v.id
  WHERE i.outcome IS NULL OR v.resource_count <>
    (SELECT COUNT(*) FROM resource_versions r WHERE r.capsule_id = c.id AND r.valid_to IS NULL)`

export interface StateRecord {
  readonly id: string
  readonly capsuleId: string
  readonly generation: number
  readonly partial: boolean
  readonly notes: ReadonlyArray<string>
}

/** Reads rows from a stopped server's database. */
interface LedgerRows {
  readonly all: (query: string) => Effect.Effect<ReadonlyArray<unknown>>
  /** Tie-breaker for rows that were created in the same millisecond. */
  readonly tieBreaker: string
  /** Queries that detect damage. They return no rows if the database is intact. */
  readonly integrity: ReadonlyArray<string>
  readonly close: Effect.Effect<void>
}

const rowsOfFile = (dataDir: string) =>
  Effect.sync((): LedgerRows => {
    const database = new DatabaseSync(`${dataDir}/svc.sqlite`, { readOnly: true })
    return {
      all: (query) => Effect.sync(() => database.prepare(query).all()),
      tieBreaker: "rowid",
      integrity: ["PRAGMA integrity_check", "PRAGMA foreign_key_check"],
      close: Effect.sync(() => database.close())
    }
  })

const rowsOfPostgres = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const session = yield* Scope.provide(PgConnection.make({ url, types: makeCodecs() }), scope)
    const rows: LedgerRows = {
      all: (query) => Effect.orDie(Effect.map(session.query(query, [], false), (result) => result.rows)),
      tieBreaker: "id",
      integrity: [],
      close: Scope.close(scope, Exit.void)
    }
    return rows
  }).pipe(Effect.orDie)

/**
 * Reads all rows that a stopped server has left behind, and decrypts states with the folder's master key. Uses the folder's
 * database file, unless the settings contain another database.
 */
export const readLedger = Effect.fn("readLedger")(function* (dataDir: string, more: Partial<Settings> = {}) {
  const { databaseUrl } = more
  const { stateIds, ...rows } = yield* Effect.acquireUseRelease(
    databaseUrl === undefined ? rowsOfFile(dataDir) : rowsOfPostgres(databaseUrl),
    (database) => {
      const read = <S extends Schema.Top>(schema: S, query: string) =>
        Effect.flatMap(database.all(query), Schema.decodeUnknownEffect(Schema.Array(schema)))
      return Effect.all({
        runs: read(RunRecord, `SELECT * FROM runs ORDER BY created_at, ${database.tieBreaker}`),
        stateIds: read(StateId, "SELECT id FROM state_versions ORDER BY generation"),
        capsules: read(CapsuleRecord, "SELECT * FROM capsules"),
        events: read(EventRecord, "SELECT * FROM run_events ORDER BY run_id, seq"),
        chunks: read(ChunkRecord, "SELECT * FROM run_log_chunks ORDER BY run_id, first_seq"),
        installPlans: read(InstallRecord, "SELECT * FROM install_plans"),
        uploads: read(
          UploadRecord,
          `SELECT u.id, u.used_at IS NOT NULL AS is_used, u.state IS NOT NULL AS has_state, p.phase AS plan_phase,
            (SELECT COUNT(*) FROM state_versions v WHERE v.state_upload_id = u.id) AS versions
          FROM state_uploads u LEFT JOIN install_plans p ON p.id = u.install_plan_id`
        ),
        exports: read(
          ExportRecord,
          "SELECT action, COUNT(*) AS count FROM audit_events WHERE action LIKE 'capsule.export%' GROUP BY action"
        ),
        restored: read(NamedRecord, "SELECT target_id AS id FROM audit_events WHERE action = 'capsule.restored'"),
        checkpoints: read(NamedRecord, "SELECT run_id AS id FROM run_checkpoints"),
        plans: read(NamedRecord, "SELECT run_id AS id FROM run_plans"),
        integrity: Effect.forEach([...database.integrity, unindexed], database.all).pipe(
          Effect.flatMap((found) => Schema.decodeUnknownEffect(Problems)(found.flat())),
          Effect.map((found) => found.filter((row) => row["integrity_check"] !== "ok"))
        )
      })
    },
    ({ close }) => close
  )
  const settings = yield* loadSettings(new Map(), Option.none())
  const states = yield* Effect.gen(function* () {
    const versions = yield* StateVersions
    return yield* Effect.forEach(
      stateIds,
      Effect.fnUntraced(function* ({ id }) {
        const row: StateVersionRow | undefined = yield* versions.find(id)
        if (row === undefined) return yield* Effect.die(new Error(`StateVersion ${id} vanished`))
        const bytes = Redacted.value(yield* versions.open(row))
        const state = yield* Schema.decodeEffect(State)(new TextDecoder().decode(bytes))
        const record: StateRecord = {
          id,
          capsuleId: row.capsule_id,
          generation: row.generation,
          partial: row.partial === 1,
          notes: state.resources.flatMap(({ instances }) => instances.map(({ attributes }) => attributes.id))
        }
        return record
      })
    )
  }).pipe(Effect.provide(StateVersions.layer.pipe(Layer.provide(storage({ ...settings, ...more, dataDir })))))
  return { ...rows, states }
})
export type Ledger = Effect.Success<ReturnType<typeof readLedger>>

/** Reads the provider's actual work: every creation, in order, and the objects that exist now. */
export const readCloud = Effect.fn("readCloud")(function* (notesDir: string) {
  const log = `${notesDir}/creations.log`
  const lines = existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : []
  return {
    created: yield* Effect.forEach(lines, (line) => Schema.decodeEffect(Creation)(line)),
    present: readdirSync(notesDir)
      .filter((name) => name.endsWith(".json"))
      .map((name) => decodeURIComponent(name.slice(0, -".json".length)))
  }
})
export type Cloud = Effect.Success<ReturnType<typeof readCloud>>
