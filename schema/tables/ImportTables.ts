/**
 * Capsules imported from another installation's backup. `imported_from` identifies the original as JSON. The Capsule is
 * disabled until an owner confirms that the original no longer manages the infrastructure. `sealed_secrets` of an upload
 * contains everything in the backup except the state; it is erased together with the state.
 */
export const importColumns: ReadonlyArray<string> = [
  `ALTER TABLE state_uploads ADD COLUMN imported_from TEXT`,
  `ALTER TABLE state_uploads ADD COLUMN sealed_secrets TEXT`,
  `ALTER TABLE capsules ADD COLUMN imported_from TEXT`,
  `ALTER TABLE capsules ADD COLUMN import_confirmed_at TEXT`,
  `ALTER TABLE capsules ADD COLUMN import_confirmed_by TEXT`
]
