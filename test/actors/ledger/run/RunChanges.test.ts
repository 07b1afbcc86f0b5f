import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { RunFilter } from "../../../../actors/ledger/run/RunFilter.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"
import { newPerson, newWorkspace } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { namedCapsule, namedRun, namedSnapshot } from "../../../support/NamedIds.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { endedRun, minute } from "./support/ListedRuns.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const nameOf = (id: string) => id.replace(/^run_0+/, "")

/** Returns the ids of the changes in the list, each with the Runs that it groups. */
const changesOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId, filter: RunFilter = {}) {
  const { folded, items } = yield* (yield* Runs).changes(workspaceId, filter, { limit: 50 })
  return items.map(({ id }) => [
    nameOf(id),
    folded.filter(({ planRunId }) => planRunId === id).map((each) => nameOf(each.id))
  ])
})

const workspaceOf = (name: string) =>
  Effect.flatMap(newPerson(name), ({ subject }) => Effect.map(newWorkspace(subject, { handle: name }), ({ id }) => id))

tests.live("the list of changes groups a plan with its syncs, its checks, the plans it replaced and its apply", () =>
  Effect.gen(function* () {
    const workspaceId = yield* workspaceOf("changes")
    const run = (name: string, at: number, rest: Parameters<typeof endedRun>[3]) =>
      endedRun(workspaceId, name, at, rest)
    const capsuleId = namedCapsule("web")
    const other = namedCapsule("db")
    const sourceSnapshotId = namedSnapshot("one")
    yield* run("sync", 1, { type: "source_sync", sourceSnapshotId, trigger: "webhook" })
    yield* run("check", 2, { type: "compatibility_check", sourceSnapshotId })
    yield* run("replaced", 3, { capsuleId, status: "superseded" })
    yield* run("plan", 4, { capsuleId, sourceSnapshotId })
    yield* run("plandb", 5, { capsuleId: other, sourceSnapshotId, status: "waiting_approval" })
    yield* run("apply", 6, { capsuleId, type: "apply", planRunId: namedRun("plan"), sourceSnapshotId })
    yield* run("again", 7, { capsuleId, status: "superseded" })
    expect(yield* changesOf(workspaceId)).toEqual([
      ["again", []],
      ["plandb", ["check", "sync"]],
      ["plan", ["apply", "replaced", "check", "sync"]]
    ])
    expect(yield* changesOf(workspaceId, { capsuleId: other })).toEqual([["plandb", ["check", "sync"]]])
    expect(yield* changesOf(workspaceId, { until: minute(5) })).toEqual([
      ["plan", ["apply", "replaced", "check", "sync"]]
    ])
    // The new plan replaces only the plan that was made after the apply, not the plan that was made before the apply.
    yield* run("next", 8, { capsuleId, status: "waiting_approval" })
    expect((yield* changesOf(workspaceId)).slice(0, 1)).toEqual([["next", ["again"]]])
  })
)

tests.live("a speculative plan is a separate change that neither replaces other plans nor is replaced by them", () =>
  Effect.gen(function* () {
    const workspaceId = yield* workspaceOf("speculative")
    const run = (name: string, at: number, rest: Parameters<typeof endedRun>[3]) =>
      endedRun(workspaceId, name, at, rest)
    const capsuleId = namedCapsule("speculated")
    const sourceSnapshotId = namedSnapshot("head")
    const purpose = "speculative"
    yield* run("synchead", 1, { type: "source_sync", sourceSnapshotId })
    yield* run("lost", 2, { capsuleId, purpose, status: "superseded" })
    yield* run("outdated", 3, { capsuleId, status: "superseded" })
    yield* run("shown", 4, { capsuleId, purpose, sourceSnapshotId })
    yield* run("lane", 5, { capsuleId, status: "waiting_approval" })
    expect(yield* changesOf(workspaceId)).toEqual([
      ["lane", ["outdated"]],
      ["shown", ["synchead"]],
      ["lost", []]
    ])
    expect((yield* changesOf(workspaceId, { speculative: false })).map(([name]) => name)).toEqual(["lane"])
  })
)

tests.live("failures, syncs, and an apply whose plan was removed are listed as separate changes", () =>
  Effect.gen(function* () {
    const workspaceId = yield* workspaceOf("alone")
    const foreign = yield* workspaceOf("foreign")
    const run = (name: string, at: number, rest: Parameters<typeof endedRun>[3]) =>
      endedRun(workspaceId, name, at, rest)
    const capsuleId = namedCapsule("alone")
    const sourceSnapshotId = namedSnapshot("two")
    yield* run("quietsync", 1, { type: "source_sync", sourceSnapshotId: namedSnapshot("three") })
    yield* run("failedcheck", 2, { type: "compatibility_check", sourceSnapshotId, status: "failed" })
    yield* run("rollback", 3, { capsuleId, sourceSnapshotId: namedSnapshot("three"), purpose: "rollback" })
    yield* run("planned", 4, { capsuleId, sourceSnapshotId })
    yield* run("orphan", 5, { capsuleId, type: "apply", planRunId: namedRun("pruned") })
    yield* run("drifted", 6, { capsuleId, type: "drift_check", sourceSnapshotId })
    yield* endedRun(foreign, "theirs", 7, { type: "source_sync", sourceSnapshotId })
    expect(yield* changesOf(workspaceId)).toEqual([
      ["drifted", []],
      ["orphan", []],
      ["planned", []],
      ["rollback", []],
      ["failedcheck", []],
      ["quietsync", []]
    ])
    expect(yield* changesOf(foreign)).toEqual([["theirs", []]])
  })
)

tests.live(
  "paging through changes neither repeats nor omits a change, and rejects a filter that would split a change",
  () =>
    Effect.gen(function* () {
      const workspaceId = yield* workspaceOf("pages")
      const runs = yield* Runs
      for (const index of [1, 2, 3]) {
        const planRunId = yield* endedRun(workspaceId, `p${index}`, index * 2, { capsuleId: namedCapsule(`c${index}`) })
        yield* endedRun(workspaceId, `a${index}`, index * 2 + 1, { type: "apply", planRunId })
      }
      const first = yield* runs.changes(workspaceId, {}, { limit: 2 })
      const second = yield* runs.changes(workspaceId, {}, { limit: 2, cursor: first.nextCursor })
      expect([...first.items, ...second.items].map(({ id }) => nameOf(id))).toEqual(["p3", "p2", "p1"])
      expect(second.folded.map(({ id }) => nameOf(id))).toEqual(["a1"])
      const splitting: ReadonlyArray<RunFilter> = [
        { search: "web" },
        { actor: "user_x" },
        { type: ["plan"] },
        { status: ["failed"] },
        { trigger: ["user"] },
        { includeLooks: true }
      ]
      for (const filter of splitting) {
        expect((yield* Effect.flip(runs.changes(workspaceId, filter, { limit: 2 }))).code).toBe("invalid_request")
      }
    })
)
