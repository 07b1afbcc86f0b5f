import { expect, test } from "bun:test"
import { Result } from "effect"
import {
  driftCheckChoice,
  resultingAutoUpdate,
  resultingStatus
} from "../../../../actors/commands/capsule/CapsuleSettings.ts"
import { SourceSnapshotId, StateVersionId, Subject } from "../../../../schema/records/Ids.ts"
import { CapsuleStatus } from "../../../../schema/records/Capsule.ts"

const state = StateVersionId.make("sv_00000000000000000000000a")
const disabled = {
  status: "disabled",
  runtime_safety: "safe",
  current_state_version_id: state,
  adopted_snapshot_id: SourceSnapshotId.make("snap_00000000000000000000000a"),
  imported_from: null,
  import_confirmed_at: null
} as const

test("enabling a Capsule restores the status that its recorded state justifies", () => {
  expect(resultingStatus(disabled, "active")).toEqual(Result.succeed("active"))
  expect(resultingStatus({ ...disabled, current_state_version_id: null }, "active")).toEqual(Result.succeed("pending"))
  // This Capsule has adopted a state, but has never been applied.
  expect(resultingStatus({ ...disabled, adopted_snapshot_id: null }, "active")).toEqual(Result.succeed("pending"))
  for (const current_state_version_id of [state, null]) {
    const unknown = { ...disabled, runtime_safety: "unknown", current_state_version_id } as const
    expect(resultingStatus(unknown, "active")).toEqual(Result.succeed("error"))
  }
})

test("an omitted or unchanged Capsule setting changes nothing", () => {
  for (const status of CapsuleStatus.literals) {
    const capsule = { ...disabled, status }
    expect(resultingStatus(capsule, undefined)).toEqual(Result.succeed(undefined))
    expect(resultingStatus(capsule, "disabled")).toEqual(Result.succeed(status === "disabled" ? undefined : "disabled"))
    if (status === "disabled" || status === "active") continue
    expect([status, Result.isFailure(resultingStatus(capsule, "active"))]).toEqual([status, true])
  }
  expect(resultingStatus({ ...disabled, status: "active" }, "active")).toEqual(Result.succeed(undefined))
})

test("turning auto-update off also turns off automatic applies, which cannot be enabled alone", () => {
  const on = { auto_update_enabled: 1, auto_update_apply: 1 } as const
  const off = { auto_update_enabled: 0, auto_update_apply: 0 } as const
  expect(resultingAutoUpdate(on)).toEqual(Result.succeed({ enabled: true, apply: true }))
  expect(resultingAutoUpdate(on, { enabled: false })).toEqual(Result.succeed({ enabled: false, apply: false }))
  expect(resultingAutoUpdate(on, { apply: false })).toEqual(Result.succeed({ enabled: true, apply: false }))
  expect(resultingAutoUpdate(off, { enabled: true })).toEqual(Result.succeed({ enabled: true, apply: false }))
  expect(resultingAutoUpdate(off, { enabled: true, apply: true })).toEqual(
    Result.succeed({ enabled: true, apply: true })
  )
  expect(Result.isFailure(resultingAutoUpdate(off, { apply: true }))).toBe(true)
  expect(Result.isFailure(resultingAutoUpdate(on, { enabled: false, apply: true }))).toBe(true)
})

test("changing a drift check setting records the author and reschedules the next check", () => {
  const by = Subject.make("usr_00000000000000000000000a")
  expect(driftCheckChoice({ mode: "inherit" }, by)).toEqual({
    drift_check_hours: null,
    drift_check_by: null,
    drift_check_due_at: null
  })
  expect(driftCheckChoice({ mode: "off" }, by)).toMatchObject({ drift_check_hours: 0, drift_check_by: null })
  expect(driftCheckChoice({ mode: "every", hours: 6 }, by)).toMatchObject({ drift_check_hours: 6, drift_check_by: by })
  expect(driftCheckChoice({ mode: "every", hours: 6 }, undefined).drift_check_by).toBeNull()
})
