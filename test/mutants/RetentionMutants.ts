import type { Mutant } from "./Mutant.ts"

const decision = "test/actors/run/LogRetention.test.ts"
const audit = "test/actors/audit/Audit.test.ts"
const emptyPages = "test/actors/database/EmptyPages.test.ts"
const emptyPagesFile = "actors/database/EmptyPages.ts"
const removal = "test/actors/run/LogRemoval.test.ts"
const decisionFile = "actors/run/LogRetention.ts"
const candidatesFile = "actors/run/LogCandidates.ts"
const removalFile = "actors/run/LogRemoval.ts"

/** What keeps a record from being removed when its time is over, and how the operation history is asked. */
export const retentionMutants: ReadonlyArray<Mutant> = [
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
    file: "actors/audit/Audit.ts",
    text: "created_at < ${filter.until}",
    broken: "created_at <= ${filter.until}",
    test: audit
  },
  {
    name: "audit: the person in the cursor",
    file: "actors/audit/Audit.ts",
    text: "filter.since, filter.actor, ",
    broken: "filter.since, ",
    test: audit
  },
  {
    name: "retention: no half logs",
    file: "actors/run-commands/RunStreamsLive.ts",
    text: "r.log_removed_at IS NOT NULL",
    broken: "r.log_removed_at IS NULL AND 1 = 0",
    test: removal
  }
]
