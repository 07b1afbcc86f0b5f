import { expect, test } from "bun:test"
import { type NamedRecords, pinnedRecords } from "../../../../actors/commands/install-plan/PreflightProblem.ts"
import { ApiError } from "../../../../schema/errors/ApiError.ts"
import {
  CompatibilityReportId,
  InstallConfigId,
  RunId,
  SourceId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../../schema/records/Ids.ts"

const id = (prefix: string, last: string) => `${prefix}_${last.padStart(26, "0")}`
const workspace = WorkspaceId.make(id("ws", "1"))
const config = InstallConfigId.make(id("icfg", "1"))
const source = { id: SourceId.make(id("src", "1")), workspace_id: workspace, removed_at: null }
const url = "https://git.example.com/a.git"
const snapshot = {
  id: SourceSnapshotId.make(id("snap", "1")),
  source_id: source.id,
  url,
  ref: "refs/heads/main",
  path: "."
}
const run = { id: RunId.make(id("run", "1")), type: "compatibility_check", status: "succeeded" } as const
const report = {
  id: CompatibilityReportId.make(id("rep", "1")),
  source_snapshot_id: snapshot.id,
  created_by_run_id: run.id,
  install_config_id: config,
  status: "ready",
  module_path: "web"
} as const
const records: NamedRecords = { source, snapshot, report, run }
const request = { source: { name: "a", url } }

const wordsOf = (result: object) => (result instanceof ApiError ? result.message : undefined)
const notOneCheck = "not one successful compatibility check"

test("a preflight must identify one successful compatibility check in the Workspace", () => {
  expect(pinnedRecords(workspace, request, undefined, records)).toEqual({ source, snapshot, report, run })
  expect(pinnedRecords(workspace, request, config, records)).not.toBeInstanceOf(ApiError)
  expect(
    pinnedRecords(workspace, request, undefined, { ...records, report: { ...report, status: "needs_attention" } })
  ).not.toBeInstanceOf(ApiError)
})

const inexact: ReadonlyArray<Partial<NamedRecords>> = [
  { source: undefined },
  { source: { ...source, workspace_id: WorkspaceId.make(id("ws", "2")) } },
  { source: { ...source, removed_at: "2026-01-01T00:00:00.000Z" } },
  { source: { ...source, id: SourceId.make(id("src", "2")) } },
  { snapshot: undefined },
  { snapshot: { ...snapshot, id: SourceSnapshotId.make(id("snap", "2")) } },
  { report: undefined },
  { run: undefined },
  { run: { ...run, id: RunId.make(id("run", "2")) } },
  { run: { ...run, type: "source_sync" } },
  { run: { ...run, status: "failed" } }
]

test.each(inexact)("svc rejects a preflight that does not identify a single successful check: %p", (different) => {
  const refusal = pinnedRecords(workspace, request, undefined, { ...records, ...different })
  expect(wordsOf(refusal)).toContain(notOneCheck)
})

test("svc rejects a preflight if its check was for another configuration", () => {
  const other = InstallConfigId.make(id("icfg", "2"))
  expect(wordsOf(pinnedRecords(workspace, request, other, records))).toContain(notOneCheck)
})

test.each([
  ["report is not ready", request, { report: { ...report, status: "unsupported" as const } }],
  ["another module", { ...request, options: { modulePath: "db" } }, {}],
  ["another source", { source: { ...request.source, url: "https://git.example.com/b.git" } }, {}],
  ["another source", { source: { ...request.source, ref: "refs/heads/next" } }, {}],
  ["another source", { source: { ...request.source, path: "web" } }, {}]
])("%s", (words, asked, different) => {
  expect(wordsOf(pinnedRecords(workspace, asked, undefined, { ...records, ...different }))).toContain(words)
})

test("the preflight accepts a different spelling of the ref and module path", () => {
  const asked = { source: { ...request.source, ref: "refs/heads/main", path: "." }, options: { modulePath: "web" } }
  expect(pinnedRecords(workspace, asked, undefined, records)).not.toBeInstanceOf(ApiError)
})
