import { describe, expect, test } from "bun:test"
import { RunId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { ResourceChange } from "../../../../schema/records/PlanDetails.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { planText } from "../../../../src/cli/remote/PlanText.ts"
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

describe("a plan in the terminal", () => {
  test("starts with what the plan may not know of, before its changes; other warnings follow them", () => {
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

  test("lists the riskiest changes first, and every verb by name", () => {
    const text = textOf({ resourceChanges: planChanges })
    const heads = text.split("\n").filter((line) => /^[-±⊘~+↓→?] \d/.test(line))
    expect(heads).toEqual([
      "- 1 to destroy",
      "± 1 to replace: destroyed and created anew",
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

  test("names the ref outside the lane, what was opened for it, and who did", () => {
    const openedForRef = { ref: "refs/pull/9/head", opened: ["inputs", "state"], basis: "other_ref" } as const
    expect(textOf({ openedForRef: { ...openedForRef, openedBy: "usr_admin" } })).toContain(
      "refs/pull/9/head is neither the adopted lane nor the default ref: opened inputs, state for its code, by usr_admin (an owner or admin started this)"
    )
  })

  test("names what is imported, moved, sensitive and not yet known", () => {
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

  test("states which Output stays private, and why", () => {
    const text = textOf({
      outputChanges: [
        { name: "dsn", actions: ["create"], sensitive: true, reason: "holds_secret", origins: ["var.password"] },
        { name: "same", actions: ["no-op"], sensitive: false, before: 1, after: 1 }
      ]
    })
    expect(text).toContain("dsn: (none) → (sensitive value)  # stays private: it repeats var.password")
    expect(text).not.toContain("same")
  })

  test("does not let untrusted text move the cursor or hide a line", () => {
    const evil = "a\u001b[2K\u001b[1A\r\nb\u202ec"
    const text = textOf({
      resourceChanges: [thing({ address: evil, changedAttributes: [{ name: evil, before: evil }] })]
    })
    for (const hidden of ["\u001b", "\r", "\u202e"]) expect(text).not.toContain(hidden)
    expect(textOf({ resourceChanges: [thing({ address: evil })] }, true)).not.toContain("\u001b[2K")
  })

  test("is coloured only if the terminal supports colours", () => {
    expect(textOf({ resourceChanges: planChanges }, true)).toContain("\u001b[31m- aws")
    expect(textOf({ resourceChanges: planChanges })).not.toContain("\u001b")
  })
})
