/**
 * A Capsule that was imported from the backup of another installation. `imported_from` says which one, as JSON. It stays disabled
 * until an owner has confirmed that the original no longer manages it. `sealed_secrets` of an upload is what the backup holds beside
 * the state; it is erased with it.
 */
export const importColumns: ReadonlyArray<string> = [
  `ALTER TABLE state_uploads ADD COLUMN imported_from TEXT`,
  `ALTER TABLE state_uploads ADD COLUMN sealed_secrets TEXT`,
  `ALTER TABLE capsules ADD COLUMN imported_from TEXT`,
  `ALTER TABLE capsules ADD COLUMN import_confirmed_at TEXT`,
  `ALTER TABLE capsules ADD COLUMN import_confirmed_by TEXT`
]
