import type { RunRow } from "../run/RunRow.ts"
import type { CapsuleRow } from "./CapsuleRow.ts"

/** What a Run records of the authority it was made for, beside the column of the Capsule that it was taken from. */
export const authorityColumns = [
  ["execution_authority_epoch", "execution_authority_epoch"],
  ["install_config_id", "install_config_id"],
  ["base_state_generation", "current_state_generation"]
] as const

type RunAuthority = Pick<RunRow, (typeof authorityColumns)[number][0]>
type CapsuleAuthority = Pick<CapsuleRow, (typeof authorityColumns)[number][1]>

/** Whether the Capsule's configuration or state has changed since the Run was made for it. */
export const authorityMoved = (run: RunAuthority, capsule: CapsuleAuthority): boolean =>
  authorityColumns.some(([ofRun, ofCapsule]) => run[ofRun] !== capsule[ofCapsule])
