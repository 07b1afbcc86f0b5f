import type { CapsuleRow } from "./CapsuleRow.ts"

type Import = Pick<CapsuleRow, "imported_from" | "import_confirmed_at">

/** Nobody has yet confirmed that the original no longer manages the infrastructure. */
export const isUnconfirmed = ({ import_confirmed_at, imported_from }: Import): boolean =>
  imported_from !== null && import_confirmed_at === null

/** Why an imported Capsule cannot have Runs before it is confirmed. */
export const unconfirmed =
  "The Capsule was imported from another installation and is disabled until an owner confirms that the original no longer manages it."

/** Its state is still the backup's: the tool has not yet compared it with the real infrastructure. */
export const hasImportedState = ({
  current_state_generation,
  imported_from
}: Pick<CapsuleRow, "current_state_generation" | "imported_from">): boolean =>
  imported_from !== null && current_state_generation === 1
