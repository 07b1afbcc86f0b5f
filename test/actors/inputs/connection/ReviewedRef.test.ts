import { describe, expect, test } from "bun:test"
import { decideRef, type RefAttempt } from "../../../../actors/inputs/connection/ConnectionUse.ts"

const fork: RefAttempt = {
  ref: "refs/pull/9/head",
  lanes: ["refs/heads/main", "HEAD"],
  isOfLane: false,
  allowed: [],
  isManager: false,
  automatic: false
}

type Row = readonly [name: string, changed: Partial<RefAttempt>, decision: ReturnType<typeof decideRef>]

const rows: ReadonlyArray<Row> = [
  ["a member does not open private data for another ref", {}, undefined],
  ["nor for a bare commit that no lane had", { ref: "a".repeat(40) }, undefined],
  ["a ref without any lane to compare with is outside", { lanes: [] }, undefined],
  ["a ref whose name begins like the lane's is outside", { ref: "refs/heads/main-2" }, undefined],
  ["the adopted lane is reviewed", { ref: "refs/heads/main" }, "lane"],
  ["the default ref is reviewed", { ref: "HEAD" }, "lane"],
  ["a commit that svc resolved a lane to is reviewed", { ref: "a".repeat(40), isOfLane: true }, "lane"],
  ["a rule allows a ref for a member", { allowed: ["refs/pull/9/head"] }, "rule"],
  ["a rule allows a ref for an automatic Run", { allowed: ["refs/pull/9/head"], automatic: true }, "rule"],
  ["a rule for another ref allows nothing", { allowed: ["refs/pull/8/head"] }, undefined],
  ["an owner or admin opens in person", { isManager: true }, "other_ref"],
  ["an automation of an owner or admin does not", { isManager: true, automatic: true }, undefined],
  ["an automatic Run follows the lane", { ref: "HEAD", automatic: true }, "lane"]
]

describe("Reviewed refs", () => {
  for (const [name, changed, decision] of rows) {
    test(name, () => expect(decideRef({ ...fork, ...changed })).toBe(decision))
  }
})
