/** Where an imported state comes from, as JSON; of a Capsule also who confirmed that its original no longer manages it, and when. */
export const importColumns: ReadonlyArray<string> = [
  `ALTER TABLE state_uploads ADD COLUMN imported_from TEXT`,
  `ALTER TABLE capsules ADD COLUMN imported_from TEXT`,
  `ALTER TABLE capsules ADD COLUMN import_confirmed_at TEXT`,
  `ALTER TABLE capsules ADD COLUMN import_confirmed_by TEXT`
]
