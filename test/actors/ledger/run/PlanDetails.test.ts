import { afterAll, expect, test } from "bun:test"
import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import {
  EvidenceJson,
  ListedRunRow,
  mergedEvidence,
  noEvidence,
  PlanDetailsJson
} from "../../../../actors/ledger/run/RunRow.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { planDetailNames } from "../../../../schema/records/PlanDetails.ts"
import { type RunEvidence } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { endedRun } from "./support/ListedRuns.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const change = {
  address: "aws_vpc.main",
  mode: "managed",
  type: "aws_vpc",
  name: "main",
  provider: "hashicorp/aws",
  actions: ["create"],
  changedAttributes: [{ name: "name", after: "b" }]
} as const
const evidence: RunEvidence = {
  planSummary: { add: 1, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
  resourceChanges: [change],
  outputChanges: [{ name: "endpoint", actions: ["create"], sensitive: false, after: "https://example.test" }],
  resourceDrift: [change],
  driftedResources: 1
}

tests.live("a list of Runs contains plan summaries, and a single Run contains every planned change", () =>
  Effect.gen(function* () {
    const runs = yield* Runs
    const { workspaceId } = yield* TestPlane
    const id = yield* endedRun(workspaceId, "detailed", 1, { evidence })
    const read = yield* runs.read(id)
    expect(read).toMatchObject(evidence)
    const listed = (yield* runs.list(workspaceId, {}, { limit: 100 })).items.find((run) => run.id === id)
    expect(listed).toEqual(Struct.omit(read, planDetailNames))
    const { items } = yield* runs.changes(workspaceId, {}, { limit: 100 })
    expect(items.find((run) => run.id === id)).toEqual(listed)
  })
)

tests.live("lists of Runs select neither the plan details nor a column that is stored after them", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = yield* sql<{ name: string }>`SELECT name FROM pragma_table_info('runs') ORDER BY cid`
    // SQLite reads the pages of all earlier columns to reach a column, so a list that selected a column after the details would
    // read the details too.
    const names = columns.map(({ name }) => name)
    const behind = names.slice(names.indexOf("plan_details"))
    expect(behind).toContain("plan_details")
    expect(Object.keys(ListedRunRow.columns).filter((name) => behind.includes(name))).toEqual([])
  })
)

test("later evidence replaces only its own fields of a plan's details", () => {
  const planned = mergedEvidence(noEvidence, evidence)
  const later = mergedEvidence(planned, { diagnostics: [], outputChanges: [] })
  expect(EvidenceJson.read(later.evidence)).toEqual({ ...Struct.omit(evidence, planDetailNames), diagnostics: [] })
  expect(PlanDetailsJson.read(later.plan_details)).toEqual({
    ...Struct.pick(evidence, planDetailNames),
    outputChanges: []
  })
})
