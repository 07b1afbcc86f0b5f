import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"

/**
 * Returns the reason why the Capsule's drift cannot be accepted, or `undefined` if it can be accepted. The state is
 * refreshed with the revision and configuration that created it. Any other revision or configuration would produce Outputs
 * that nobody has applied.
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
