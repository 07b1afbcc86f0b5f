import { describe, expect, test } from "bun:test"
import { onlyCheckFailed, reviewedModel, snapshotChoices } from "../../src/dashboard/screens/capsule/ReAdoption.ts"
import { fieldsOf } from "../../src/dashboard/forms/FormModel.ts"
import { installConfig } from "../browser/support/records/InstallConfigs.ts"
import { capsules } from "../browser/support/records/Capsules.ts"
import { baseRun } from "../browser/support/records/Runs.ts"

const run = (fields: Parameters<typeof baseRun>[0]) => baseRun({ capsuleId: "cap_0000000000000001", ...fields })
const failedCheck = run({
  id: "run_0000000000000101",
  type: "apply",
  status: "failed",
  finishedAt: "2026-01-01T00:10:00.000Z",
  error: { code: "lifecycle_failed", message: "The check failed." }
})

describe("Offered re-adoptions", () => {
  test("a re-adoption is offered if only a check failed in the last deciding Run", () => {
    const plan = run({
      id: "run_0000000000000102",
      type: "plan",
      status: "failed",
      finishedAt: "2026-01-01T00:20:00.000Z"
    })
    expect(onlyCheckFailed([plan, failedCheck])).toBe(true)
    const interrupted = { ...failedCheck, error: { code: "lifecycle_interrupted", message: "It ended." } }
    expect(onlyCheckFailed([interrupted])).toBe(true)
  })

  test("a re-adoption is not offered after another failure, a later decision, or no decision", () => {
    expect(onlyCheckFailed([])).toBe(false)
    expect(onlyCheckFailed([{ ...failedCheck, error: { code: "tool_failed", message: "It failed." } }])).toBe(false)
    for (const type of ["apply", "destroy_apply", "restore"] as const) {
      const later = run({
        id: "run_0000000000000103",
        type,
        status: "cancelled",
        finishedAt: "2026-01-01T00:30:00.000Z"
      })
      expect(onlyCheckFailed([failedCheck, later])).toBe(false)
    }
  })

  test("a re-adoption uses the configuration's snapshot, or the adopted snapshot if they differ", () => {
    const [capsule] = capsules
    if (capsule === undefined) throw new Error("no capsule")
    const adopted = capsule.adoptedSourceRevision?.sourceSnapshotId
    expect(snapshotChoices(capsule, installConfig).map(({ of }) => of)).toEqual(["configuration", "adopted"])
    expect(snapshotChoices(capsule, adopted === undefined ? {} : { sourceSnapshotId: adopted })).toHaveLength(1)
    expect(snapshotChoices({}, {})).toEqual([])
  })

  test("a re-adoption requires no secret, and no value that another source supplies", () => {
    const asked = fieldsOf(reviewedModel(installConfig)).map(({ name }) => name)
    const open = installConfig.variables.filter(({ origin, sensitive }) => origin === "user" && !sensitive)
    expect(asked.toSorted()).toEqual(open.map(({ name }) => name).toSorted())
    expect(installConfig.variables.some(({ sensitive }) => sensitive)).toBe(true)
  })
})
