import { Effect, FileSystem, Path } from "effect"
import { ReadSql } from "../../actors/base/database/ReadSql.ts"

/** Bytes and rows at the end of a month. */
export interface MonthFigures {
  readonly month: number
  readonly database: number
  readonly log: number
  /** Bytes in the data folder outside the database, keyed by the first part of their path. */
  readonly folders: Readonly<Record<string, number>>
  readonly backups: number
  readonly rows: ReadonlyMap<string, number>
}

const databaseFile = "svc.sqlite"
const logFile = "svc.sqlite-wal"

const sizesIn = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const sizes: Array<readonly [string, number]> = []
  for (const name of yield* files.readDirectory(folder, { recursive: true })) {
    // Files may disappear during the walk.
    const found = yield* Effect.option(files.stat(path.join(folder, name)))
    if (found._tag === "Some" && found.value.type === "File") sizes.push([name, Number(found.value.size)])
  }
  return sizes
})

const sumOf = (numbers: Iterable<number>) => [...numbers].reduce((sum, number) => sum + number, 0)

export const figuresOf = Effect.fn("figuresOf")(function* (month: number, dataDir: string, backups: string) {
  const read = yield* ReadSql
  const rows = new Map<string, number>()
  const tables = yield* read<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`
  for (const { name } of tables) {
    const [counted] = yield* read<{ rows: number }>`SELECT COUNT(*) AS rows FROM ${read(name)}`
    rows.set(name, counted?.rows ?? 0)
  }
  const sizes = yield* sizesIn(dataDir)
  const folders: Record<string, number> = {}
  for (const [name, size] of sizes) {
    const [first = name, ...rest] = name.split("/")
    if (rest.length > 0) folders[first] = (folders[first] ?? 0) + size
  }
  const bytes = new Map(sizes)
  const stored: MonthFigures = {
    month,
    database: bytes.get(databaseFile) ?? 0,
    log: bytes.get(logFile) ?? 0,
    folders,
    backups: sumOf((yield* sizesIn(backups)).map(([, size]) => size)),
    rows
  }
  return stored
})
