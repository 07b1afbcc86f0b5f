import type { Mutant } from "./Mutant.ts"

const decision = "test/actors/ledger/run/LogRetention.test.ts"
const audit = "test/actors/base/audit/Audit.test.ts"
const auditChain = "test/actors/base/audit/AuditVerification.test.ts"
const auditRemoval = "test/actors/base/audit/AuditRemoval.test.ts"
const emptyPages = "test/actors/base/database/EmptyPages.test.ts"
const emptyPagesFile = "actors/base/database/EmptyPages.ts"
const removal = "test/actors/ledger/run/LogRemoval.test.ts"
const records = "test/actors/upkeep/retention/RecordRemoval.test.ts"
const kept = "test/actors/upkeep/retention/KeptRecords.test.ts"
const needsFile = "actors/upkeep/retention/RetainedKinds.ts"
const recordsFile = "actors/upkeep/retention/RecordRemoval.ts"
const decisionFile = "actors/ledger/run/LogRemoval.ts"
const candidatesFile = "actors/ledger/run/LogRemoval.ts"
const removalFile = "actors/ledger/run/LogRemoval.ts"

/** Mutants of retention: the protection of old records, and queries of the operation history. */
export const retentionMutants: ReadonlyArray<Mutant> = [
  {
    name: "background work: one pass at a time",
    file: "actors/base/Cooldown.ts",
    text: "passing.withPermitsIfAvailable(1), ",
    broken: "",
    test: "test/actors/base/Cooldown.test.ts"
  },
  {
    name: "retention: a cooldown from before the date was corrected",
    file: "actors/base/Cooldown.ts",
    text: "since <= at && ",
    broken: "",
    test: "test/actors/base/Cooldown.test.ts"
  },
  {
    name: "retention: open plans",
    file: decisionFile,
    text: 'if (log.isPendingPlan) return "pending_plan"',
    broken: "",
    test: decision
  },
  {
    name: "retention: the very moment",
    file: decisionFile,
    text: "log.endedAt >= before",
    broken: "log.endedAt > before",
    test: decision
  },
  {
    name: "retention: Runs that execute again",
    file: decisionFile,
    text: "log.endedAt === null || !log.isOver",
    broken: "log.endedAt === null",
    test: decision
  },
  {
    name: "retention: the plan of the present state",
    file: candidatesFile,
    text: "(a.id = r.id OR a.plan_run_id = r.id)",
    broken: "a.id = r.id",
    test: removal
  },
  {
    name: "retention: the last Run",
    file: candidatesFile,
    text: "isNewest: row.newest === 1",
    broken: "isNewest: false",
    test: removal
  },
  {
    name: "retention: one audit event for each Workspace and batch",
    file: removalFile,
    text: "log_removed_at = ${yield* now}, log_removing = 1",
    broken: "log_removing = 1",
    test: removal
  },
  {
    name: "retention: lines that a killed process left",
    file: removalFile,
    text: "if (gone.length === chunksAtOnce) return true",
    broken: "",
    test: removal
  },
  {
    name: "empty pages: small steps",
    file: emptyPagesFile,
    text: "Math.min(pagesAtOnce, ",
    broken: "Math.min(Infinity, ",
    test: emptyPages
  },
  {
    name: "empty pages: a file that was never converted",
    file: "src/database/SqliteClient.ts",
    text: "PRAGMA auto_vacuum=INCREMENTAL; VACUUM",
    broken: "VACUUM",
    test: emptyPages
  },
  {
    name: "audit: the end of a window",
    file: "actors/base/audit/AuditFilter.ts",
    text: "created_at < ${filter.until}",
    broken: "created_at <= ${filter.until}",
    test: audit
  },
  {
    name: "audit: the person in the cursor",
    file: "actors/base/audit/Audit.ts",
    text: "filter.since, filter.actor, ",
    broken: "filter.since, ",
    test: audit
  },
  {
    name: "audit chain: a changed event",
    file: "actors/base/audit/AuditLink.ts",
    text: "    event.actor_subject,\n",
    broken: "",
    test: auditChain
  },
  {
    name: "audit chain: a removed event",
    file: "actors/base/audit/AuditLink.ts",
    text: "    previous,\n",
    broken: "",
    test: auditChain
  },
  {
    name: "audit chain: a removed end",
    file: "actors/base/audit/AuditChain.ts",
    text: "(seal) => seal === chain.seal",
    broken: "(seal) => seal !== undefined",
    test: auditChain
  },
  {
    name: "audit chain: no event gets a place later",
    file: "actors/base/audit/AuditBeginning.ts",
    text: "if (isComplete(yield* readChain(installationScope))) return",
    broken: "",
    test: auditChain
  },
  {
    name: "audit chain: the anchor of retention",
    file: "actors/base/audit/AuditRemoval.ts",
    text: "pruned_mac: last.mac",
    broken: "pruned_mac: chain.pruned_mac",
    test: auditRemoval
  },
  {
    name: "audit chain: only the beginning goes",
    file: "actors/base/audit/AuditRemoval.ts",
    text: "young === -1 ? rows : rows.slice(0, young)",
    broken: "rows.filter(({ created_at }) => created_at < until)",
    test: auditRemoval
  },
  {
    name: "retention: no half logs",
    file: "actors/commands/run/RunStreamsLive.ts",
    text: "r.log_removed_at IS NOT NULL",
    broken: "r.log_removed_at IS NULL AND 1 = 0",
    test: removal
  },
  {
    name: "retention: the snapshot of an open plan",
    file: needsFile,
    text: '`o.source_snapshot_id = ${id} AND ${isMoving("o.")}`',
    broken: '"1 = 0"',
    test: kept
  },
  {
    name: "retention: the current StateVersion",
    file: needsFile,
    text: "c.id = r.capsule_id AND c.current_state_version_id = r.id AND",
    broken: "1 = 0 AND",
    test: kept
  },
  {
    name: "retention: a destroyed Capsule keeps nothing",
    file: "schema/tables/CapsuleTables.ts",
    text: "`${alias}status <> 'destroyed'`",
    broken: '"1 = 1"',
    test: records
  },
  {
    name: "retention: a released Capsule keeps its state",
    file: "schema/tables/CapsuleTables.ts",
    text: "`${alias}status <> 'destroyed'`",
    broken: "`${alias}status NOT IN ('destroyed', 'released')`",
    test: records
  },
  {
    name: "retention: the StateVersions that a rollback may go back to",
    file: needsFile,
    text: "OFFSET ${rollbackTargets - 1}",
    broken: "OFFSET ${rollbackTargets - 2}",
    test: kept
  },
  {
    name: "retention: no receipt outlives its record",
    file: needsFile,
    text: "i.result_id = r.id",
    broken: "1 = 0",
    test: kept
  },
  {
    name: "retention: what is removed is counted with it",
    file: recordsFile,
    text: "Effect.tap((step) => count(step.removed)),",
    broken: "",
    test: records
  },
  {
    name: "retention: a record with many parts goes after them",
    file: "actors/upkeep/retention/RecordDeletion.ts",
    text: "part_rows > partsAtOnce)",
    broken: "part_rows > Infinity)",
    test: records
  }
]
