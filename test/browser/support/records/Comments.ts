import type { RunComment } from "../../../../src/dashboard/api/Types.ts"
import { aiko, me } from "./People.ts"
import { reviewRun } from "./Runs.ts"
import { ago } from "./Seeds.ts"

/** A discussion of a plan that awaits review. */
export const comments: ReadonlyArray<RunComment> = [
  {
    id: "cmt_0000000000000001",
    runId: reviewRun,
    author: aiko,
    text: "@Mina Sato does the replacement wait for the window?",
    mentions: [me],
    createdAt: ago(9)
  },
  { id: "cmt_0000000000000002", runId: reviewRun, author: aiko, createdAt: ago(8), removedAt: ago(7) },
  { id: "cmt_0000000000000003", runId: reviewRun, author: me, text: "Yes,\ntonight.", createdAt: ago(6) }
]
