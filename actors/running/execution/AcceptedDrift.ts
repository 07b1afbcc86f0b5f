import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"

/**
 * The reason why drift of the Capsule cannot be accepted; `undefined` without a reason. The state is refreshed at the revision
 * and with the configuration that made it: with any other, its Outputs would be values that nobody has applied.
 */
export const acceptanceRefusal = (
  capsule: Pick<CapsuleRow, "adopted_snapshot_id" | "install_config_id">,
  base: Pick<StateVersionRow, "install_config_id" | "partial"> | undefined
): string | undefined => {
  if (base === undefined || capsule.adopted_snapshot_id === null) {
    return "The Capsule was never applied, so there is no state that could accept anything. Plan it."
  }
  if (base.partial === 1) {
    return "The last apply did not finish, so its state is partial. Plan the Capsule and apply the plan first."
  }
  return base.install_config_id === capsule.install_config_id
    ? undefined
    : "The configuration has changed since the last apply. Plan the Capsule and apply the plan first; a check then finds what still differs."
}
