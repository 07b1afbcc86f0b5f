import type { ChangeApproval } from "../../../../src/dashboard/api/Types.ts"
import { aiko } from "./People.ts"
import { reviewRun } from "./Runs.ts"
import { ago, digest } from "./Seeds.ts"

export const changeDigest = "hmac-sha256:0vQ0zqWcCzT1tS2r4yJ3kHn9aXbLmPeUfGdRiVwOsQY"

export const changeApprovals: ReadonlyArray<ChangeApproval> = [
  {
    id: "cha_0000000000000001",
    runId: reviewRun,
    subject: aiko,
    planDigest: digest(11),
    changeDigest,
    commit: "0".repeat(40),
    comment: "Read it.",
    at: ago(5)
  }
]
