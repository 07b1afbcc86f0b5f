import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pendingPlan } from "../../../../actors/ledger/run/RunRow.ts"
import { RunStatus, RunType } from "../../../../schema/records/Run.ts"
import { isPendingPlan } from "../../../../schema/records/RunTransitions.ts"

const root = join(import.meta.dir, "../../../..")

const files = ["actors", "src"].flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ path: join(room, name), text: readFileSync(join(root, room, name), "utf8") }))
)

/** Returns the files that write to a table or pass its name to the retention statements. */
const writers = (table: string) => {
  const statement = new RegExp(
    `\\b(UPDATE|INTO|DELETE FROM)\\s+${table}\\b|\\{[^{}]*\\btable: "${table}"[^{}]*\\bof:|\\btable: "${table}",\\s+(staysItself|since):`
  )
  return files
    .filter(({ text }) => statement.test(text))
    .map(({ path }) => path)
    .toSorted()
}

const setClauses = files.flatMap(({ path, text }) =>
  [...text.matchAll(/\bUPDATE\s+runs\b([\s\S]*?)\bWHERE\b/gi)].map(([, set = ""]) => ({ path, set }))
)

describe("Run rows", () => {
  test("only the Run's own modules write Run rows", () => {
    expect(writers("runs")).toEqual([
      "actors/ledger/run/ChangeBases.ts",
      "actors/ledger/run/LogRemoval.ts",
      "actors/ledger/run/RunLedger.ts",
      "actors/ledger/run/RunLifecycle.ts",
      "actors/ledger/run/RunLogs.ts",
      "actors/ledger/run/RunSequences.ts",
      "actors/upkeep/retention/RetainedKinds.ts"
    ])
    expect(writers("run_events")).toEqual([
      "actors/ledger/run/RunJournal.ts",
      "actors/ledger/run/RunLedger.ts",
      "actors/upkeep/retention/RetainedKinds.ts"
    ])
    expect(writers("run_log_chunks")).toEqual([
      "actors/ledger/run/LogRemoval.ts",
      "actors/ledger/run/RunLedger.ts",
      "actors/ledger/run/RunLogs.ts",
      "actors/upkeep/retention/RetainedKinds.ts"
    ])
  })

  test("only one module changes the status of a Run", () => {
    expect(setClauses.length).toBeGreaterThan(5)
    const moving = setClauses.filter(({ set }) => /\bstatus\b/.test(set)).map(({ path }) => path)
    expect([...new Set(moving)]).toEqual(["actors/ledger/run/RunLifecycle.ts"])
    const numbering = setClauses.filter(({ set }) => /last_(event|log)_seq =/.test(set)).map(({ path }) => path)
    expect([...new Set(numbering)]).toEqual(["actors/ledger/run/RunSequences.ts"])
  })
})

test("the SQL condition for a pending plan matches its TypeScript predicate", () => {
  const database = new Database(":memory:")
  database.run("CREATE TABLE runs (type TEXT, status TEXT, approved_at TEXT, used_by_run_id TEXT)")
  for (const type of RunType.literals) {
    for (const status of RunStatus.literals) {
      for (const isApproved of [false, true]) {
        for (const isUsed of [false, true]) {
          database.run("DELETE FROM runs")
          database.run("INSERT INTO runs VALUES (?, ?, ?, ?)", [
            type,
            status,
            isApproved ? "2026-01-01T00:00:00.000Z" : null,
            isUsed ? "run_apply" : null
          ])
          const found = database.query(`SELECT 1 FROM runs r WHERE ${pendingPlan("r.")}`).all().length === 1
          expect({ type, status, isApproved, isUsed, found }).toEqual({
            type,
            status,
            isApproved,
            isUsed,
            found: isPendingPlan({ type, status, isApproved, isUsed })
          })
        }
      }
    }
  }
  database.close()
})
