type Migrations = Readonly<Record<string, ReadonlyArray<string>>>

const createTable = /^\s*CREATE TABLE (\w+)\s*\(/
const addColumn = /^\s*ALTER TABLE (\w+) ADD COLUMN ([\s\S]+)$/
const tableConstraint = /^\s*(?:PRIMARY KEY|UNIQUE|CHECK|FOREIGN KEY|CONSTRAINT)\b/

/**
 * Returns the position where the columns of a CREATE TABLE statement end, before its first table constraint or its last
 * parenthesis.
 */
const endOfColumns = (statement: string): number => {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < statement.length; at++) {
    const character = statement[at]
    if (character === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    if (character === "(") depth++
    if (character === ")" && --depth === 0) return at
    if (character === "," && depth === 1 && tableConstraint.test(statement.slice(at + 1))) return at
  }
  return statement.length
}

/**
 * Adapts migrations for an empty database: creates each table with the columns that later migrations add. For each added column,
 * SQLite parses all tables, indexes and triggers again, which would take most of the time of a first startup (decision 0026). The
 * resulting tables are identical, including their stored text.
 */
export const foldColumns = (migrations: Migrations): Migrations => {
  const statements = Object.values(migrations).flat()
  const created = Map.groupBy(statements, (statement) => createTable.exec(statement)?.[1])
  const added = new Map<string, string>()
  for (const statement of statements) {
    const [, table = "", column = ""] = addColumn.exec(statement) ?? []
    // Skip a table that is created a second time, because columns that were added to the earlier table do not belong to the
    // new one.
    if (created.get(table)?.length === 1) added.set(table, `${added.get(table) ?? ""}, ${column.trim()}`)
  }
  const folded = (statement: string): ReadonlyArray<string> => {
    if (added.has(addColumn.exec(statement)?.[1] ?? "")) return []
    const columns = added.get(createTable.exec(statement)?.[1] ?? "")
    if (columns === undefined) return [statement]
    const end = endOfColumns(statement)
    return [`${statement.slice(0, end)}${columns}${statement.slice(end)}`]
  }
  return Object.fromEntries(Object.entries(migrations).map(([name, list]) => [name, list.flatMap(folded)]))
}
