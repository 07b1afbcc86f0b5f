/** Returns SQL for the size of these columns in bytes. */
export const bytesOf = (...columns: ReadonlyArray<string>) =>
  columns.map((column) => `COALESCE(OCTET_LENGTH(${column}), 0)`).join(" + ")

/** Returns SQL for the size, in bytes, of a column whose value may be sealed in parts. `column` includes its table or alias. */
export const bytesWithParts = (column: string) =>
  `${bytesOf(column)} + COALESCE((SELECT SUM(LENGTH(p.bytes)) FROM sealed_parts p WHERE p.value = ${column}), 0)`
