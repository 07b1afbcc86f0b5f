import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { stateToolProblem } from "../../../runner/execution/StateFit.ts"
import type { RunDiagnostic, RunEvidence, ToolIdentity } from "../../../schema/records/Run.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { StateUploadRow } from "../../ledger/state/StateUploads.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"

type Base = Pick<StateVersionRow, "state_upload_id"> | undefined

const isTakenOver = (base: Base): boolean => base !== undefined && base.state_upload_id !== null

/**
 * Returns an error if the tool is older than the adopted state. The check runs here because the Run's tool is not determined
 * earlier.
 */
export const newerState = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, base: Base, tool: ToolIdentity) {
  if (!isTakenOver(base)) return undefined
  const [upload] = yield* Effect.orDie(StateUploadRow.some(sql, "tool_version")`SELECT tool_version
    FROM state_uploads WHERE id = ${base?.state_upload_id ?? ""}`)
  return stateToolProblem(upload?.tool_version ?? undefined, tool)
})

/** The warning for an imported Capsule. */
const importedWarning: RunDiagnostic = {
  severity: "warning",
  summary: "The Capsule was imported, and the installation it comes from is not locked.",
  detail:
    "That installation may have applied since the backup was made, and may still apply. Release the Capsule there before you apply here, and read every change in this plan: the state is as old as the backup."
}

/** Warns reviewers that a plan is based on an adopted state to which nothing has been applied yet. */
export const takenOverWarning = (
  base: Base,
  { imported_from }: Pick<CapsuleRow, "imported_from">
): ReadonlyArray<RunDiagnostic> => {
  if (!isTakenOver(base)) return []
  return imported_from === null
    ? [
        {
          severity: "warning",
          summary: "The state was taken over, and its old backend is not locked.",
          detail:
            "Whoever can reach that backend can still apply to the same resources. Withdraw their access, or remove the state there, before you apply here."
        }
      ]
    : [importedWarning]
}

/**
 * The left-over state or import on which the plan is based, shown to reviewers. Set only if the state was not committed by
 * an apply of the Capsule.
 */
export const adoptedBase = (
  base: Pick<StateVersionRow, "state_upload_id" | "left_over_state_id"> | undefined
): Pick<RunEvidence, "adopts"> => {
  if (base === undefined || (base.state_upload_id === null && base.left_over_state_id === null)) return {}
  return { adopts: base.state_upload_id === null ? "left_over" : "upload" }
}
