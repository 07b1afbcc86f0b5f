import { describe, expect, test } from "bun:test"
import { BackupId, RunId, StateVersionId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { ResourceChange } from "../../../../schema/records/PlanDetails.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { driftText, planText, summaryText } from "../../../../src/cli/remote/PlanText.ts"
import { hasDecision } from "../../../../src/cli/remote/RunEnd.ts"
import { painter } from "../../../../src/cli/remote/TerminalText.ts"
import { planChanges } from "../../../browser/support/records/PlanChanges.ts"

const record: Run = {
  id: RunId.make("run_aaaaaaaaaaaaaaaaaaaaaaaa"),
  workspaceId: WorkspaceId.make("ws_aaaaaaaaaaaaaaaaaaaaaaaa"),
  type: "plan",
  status: "waiting_approval",
  requiresApproval: true,
  trigger: "user",
  attempt: 1,
  planDigest: "sha256:abc",
  createdAt: "2026-01-01T00:00:00.000Z",
  queuedAt: "2026-01-01T00:00:00.000Z"
}

const textOf = (more: Partial<Run>, hasColours = false) =>
  planText({ ...record, ...more }, "network/production · plan", painter(hasColours))

const thing = (more: Partial<ResourceChange>): ResourceChange => ({
  address: "test_thing.a",
  mode: "managed",
  type: "test_thing",
  name: "a",
  provider: "test",
  actions: ["update"],
  changedAttributes: [],
  ...more
})

describe("Terminal plans", () => {
  test("a terminal plan starts with a warning about objects that may be missing from the plan, and ends with other warnings", () => {
    const text = textOf({
      resourceChanges: planChanges,
      diagnostics: [
        { severity: "warning", summary: "Deprecated." },
        {
          severity: "warning",
          code: "left_over_state",
          summary: "A state was left behind.",
          detail: "Adopt or discard it."
        }
      ]
    })
    const places = ["(left_over_state)", "Adopt or discard it.", "1 to destroy", "Deprecated."].map((part) =>
      text.indexOf(part)
    )
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  test("a terminal plan of a stale ref lists the files whose newer contents the plan would undo", () => {
    const base = { ref: "main", resolvedCommit: "a".repeat(40), mergeBase: "b".repeat(40) }
    const stale = textOf({
      speculative: true,
      base: { ...base, standing: "stale", behind: 2, undoneFiles: ["extra.tf"], undoneFileCount: 3 }
    })
    expect(stale).toContain("(speculative)")
    expect(stale).toContain("main has 2 newer commits, and this plan would undo their changes")
    expect(stale).toContain("  extra.tf\n  and 2 more")
    expect(textOf({ base: { ...base, standing: "behind", behind: 1 } })).toContain("main has 1 newer commit, which")
    expect(textOf({ base: { ...base, standing: "unknown" } })).toContain("It is unknown how main has moved")
    expect(textOf({ base: { ...base, standing: "current", behind: 0 } })).not.toContain("main")
  })

  test("the command line shows a plan's carried approvals, or exactly how it differs from the approved change", () => {
    const runId = RunId.make("run_bbbbbbbbbbbbbbbbbbbbbbbb")
    const carried = textOf({
      changeDigest: "hmac-sha256:x",
      carriedFrom: { changeApprovalIds: [], runId, planDigest: "sha256:x", changeDigest: "hmac-sha256:x" }
    })
    expect(carried).toContain(`approved as the same change as in the speculative plan ${runId}`)
    expect(carried).toContain("change hmac-sha256:x")
    const differs = textOf({
      differsFrom: {
        runId,
        pullRequestNumber: 12,
        reasons: [{ code: "change", message: "The plan makes another change." }],
        lines: [
          { side: "approved", text: "test_thing.a size: 1 → 2" },
          { side: "planned", text: "test_thing.a size: 1 → \u001b[31m3" }
        ],
        moreLines: 4
      }
    })
    expect(differs).toContain(`differs from what was approved in #12, the speculative plan ${runId}:`)
    expect(differs).toContain("  The plan makes another change. (change)")
    expect(differs).toContain("  - approved: test_thing.a size: 1 → 2")
    expect(differs).toContain("and 4 more lines")
    expect(differs).not.toContain("\u001b")
  })

  test("a terminal plan lists the riskiest changes first, and labels every change with its verb", () => {
    const text = textOf({ resourceChanges: planChanges })
    const heads = text.split("\n").filter((line) => /^[-±⊘~+↓→?] \d/.test(line))
    expect(heads).toEqual([
      "- 1 to destroy",
      "± 1 to replace: destroyed and created again",
      "~ 4 to change",
      "+ 2 to create",
      "↓ 1 to import: they exist already",
      "→ 1 to move to another address",
      "? 1 to read during the apply",
      "~ 2 with new labels only"
    ])
    expect(text).toContain("# forces replacement")
    expect(text.split("\n").at(-1)).toBe("digest sha256:abc")
  })

  test("a terminal plan shows a ref outside the lane, the data opened for that ref, and the person who allowed the access", () => {
    const openedForRef = { ref: "refs/pull/9/head", opened: ["inputs", "state"], basis: "other_ref" } as const
    expect(textOf({ openedForRef: { ...openedForRef, openedBy: "usr_admin" } })).toContain(
      "refs/pull/9/head is neither the adopted lane nor the default ref: opened inputs, state for its code, by usr_admin (an owner or admin started this)"
    )
  })

  test("a terminal plan shows imported, moved, sensitive and unknown values", () => {
    const text = textOf({
      resourceChanges: [
        thing({ actions: ["no-op"], importing: { id: "i-123" } }),
        thing({ address: "test_thing.b", actions: ["no-op"], previousAddress: "test_thing.old" }),
        thing({
          address: "test_thing.c",
          changedAttributes: [
            { name: "password", before: "hunter2", after: "hunter3", sensitive: true },
            { name: "size", before: 1, after: 2 },
            { name: "url", before: "a", unknown: true }
          ]
        })
      ]
    })
    expect(text).toContain("↓ test_thing.a  # imports i-123")
    expect(text).toContain("→ test_thing.b  # was test_thing.old")
    expect(text).toContain("password: (sensitive value) → (sensitive value)")
    expect(text).toContain("size: 1 → 2")
    expect(text).toMatch(/url: "?a"? → \(known after apply\)|known after apply: url/)
    expect(text).not.toContain("hunter")
  })

  test("a terminal plan lists the Outputs that remain private, with the reason", () => {
    const text = textOf({
      outputChanges: [
        { name: "dsn", actions: ["create"], sensitive: true, reason: "holds_secret", origins: ["var.password"] },
        { name: "same", actions: ["no-op"], sensitive: false, before: 1, after: 1 }
      ]
    })
    expect(text).toContain("dsn: (none) → (sensitive value)  # stays private: it repeats var.password")
    expect(text).not.toContain("same")
  })

  test("a terminal plan distinguishes deposed and tainted objects from the live object", () => {
    const text = textOf({
      resourceChanges: [
        thing({ actions: ["delete"] }),
        thing({ actions: ["delete"], deposed: "0a1b2c3d" }),
        thing({ address: "test_thing.b", actions: ["delete", "create"], tainted: true })
      ]
    })
    const lines = text.split("\n").filter((line) => line.startsWith("  - ") || line.startsWith("  ± "))
    expect(lines).toEqual([
      "  - test_thing.a",
      "  - test_thing.a (deposed object 0a1b2c3d)  # left over from a replacement that failed; not the live object",
      "  ± test_thing.b  # tainted: it is marked as damaged"
    ])
  })

  test("a terminal plan shows a destroyed sensitive Output without a value after the change", () => {
    const hidden = { actions: ["delete"], sensitive: true } as const
    const text = textOf({
      outputChanges: [
        { name: "new", ...hidden, beforeSensitive: true },
        { name: "old", ...hidden }
      ]
    })
    expect(text).toContain("new: (sensitive value) → (none)")
    expect(text).toContain("old: (sensitive value) → (none)")
  })

  test("a terminal plan lists the Outputs that the apply publishes and withdraws, with the reason", () => {
    const text = textOf({
      outputChanges: [
        {
          name: "shown",
          actions: ["update"],
          sensitive: true,
          beforeSensitive: true,
          afterSensitive: false,
          publication: { change: "published", reason: "mark_removed" }
        },
        {
          name: "hidden",
          actions: ["no-op"],
          sensitive: true,
          afterSensitive: true,
          publication: { change: "withdrawn", reason: "holds_secret" },
          reason: "holds_secret",
          origins: ["var.key"]
        }
      ]
    })
    expect(text).toContain("# becomes public: the module no longer marks it as sensitive")
    expect(text).toContain("# is withdrawn: it repeats a secret; it repeats var.key")
  })

  test("a terminal plan describes drift as changes outside svc", () => {
    const text = driftText(
      {
        ...record,
        resourceDrift: [
          thing({ actions: ["delete"], changedAttributes: [{ name: "id", before: "x" }] }),
          thing({ address: "test_thing.b", changedAttributes: [{ name: "tags", before: "x", after: "y" }] })
        ]
      },
      painter(false)
    )
    expect(text.split("\n")).toEqual([
      "1 deleted outside svc",
      "  test_thing.a",
      "1 changed outside svc",
      "  test_thing.b",
      '      tags: "x" → "y"'
    ])
  })

  test("a plan that accepts drift shows the accepted changes, and explains that only the state changes", () => {
    const accepting = {
      purpose: "accept_drift",
      refreshOnly: true,
      resourceChanges: [],
      planSummary: { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
      driftedResources: 1,
      resourceDrift: [thing({ actions: ["delete"] })]
    } as const
    const text = textOf(accepting)
    expect(text).toContain("1 deleted outside svc\n  test_thing.a")
    expect(text).toContain("1 resource to accept: only the state changes.")
    expect(text).not.toContain("No resource changes.")
    expect(summaryText({ ...record, ...accepting, status: "succeeded", planRunId: record.id })).toBe(
      "1 resource accepted: only the state was changed."
    )
    expect(hasDecision({ ...record, ...accepting })).toBe(true)
    expect(hasDecision({ ...record, ...accepting, resourceDrift: [] })).toBe(false)
  })

  test("a restore shows its changes to records, as the dashboard does, without resource counts", () => {
    const standing = (generation: number) => ({
      stateVersionId: StateVersionId.make("sv_aaaaaaaaaaaaaaaaaaaaaaaa"),
      generation,
      serial: generation * 2,
      resourceCount: generation
    })
    const text = textOf({
      type: "restore",
      restore: {
        backupId: BackupId.make("bkp_aaaaaaaaaaaaaaaaaaaaaaaa"),
        backupCreatedAt: "2026-01-01T00:00:00.000Z",
        current: standing(4),
        restored: standing(1),
        next: { generation: 5, serial: 9, executionAuthorityEpoch: 3 },
        configuration: [
          { kind: "input", name: "region", change: "changed" },
          { kind: "provider", name: "aws", change: "removed" }
        ],
        pointers: [{ name: "ref", current: "main", restored: "release" }],
        outputs: [{ name: "url", publication: { change: "published", reason: "restored" } }]
      }
    })
    for (const line of [
      "state: generation 4, serial 8, 4 resources → generation 1, serial 2, 1 resource",
      "after the restore: generation 5, serial 9",
      "ref: main → release",
      "input region gets its earlier value",
      "provider aws is no longer set",
      "Output url becomes public",
      "It changes svc's records and no infrastructure.",
      "digest sha256:abc"
    ]) {
      expect(text).toContain(line)
    }
    expect(text).not.toContain("There is no plan.")
  })

  test("untrusted text in a terminal plan cannot move the cursor or hide a line", () => {
    const evil = "a\u001b[2K\u001b[1A\r\nb\u202ec"
    const text = textOf({
      resourceChanges: [thing({ address: evil, changedAttributes: [{ name: evil, before: evil }] })]
    })
    for (const hidden of ["\u001b", "\r", "\u202e"]) expect(text).not.toContain(hidden)
    expect(textOf({ resourceChanges: [thing({ address: evil })] }, true)).not.toContain("\u001b[2K")
  })

  test("a terminal plan is coloured only if the terminal supports colours", () => {
    expect(textOf({ resourceChanges: planChanges }, true)).toContain("\u001b[31m- aws")
    expect(textOf({ resourceChanges: planChanges })).not.toContain("\u001b")
  })
})
