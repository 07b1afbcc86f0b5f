import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import type { Columns } from "../../../../../actors/base/database/Table.ts"

const root = path.resolve(import.meta.dirname, "../../../../..")

interface SourceFile {
  /** The file's path in the repository. */
  readonly file: string
  readonly folder: string
  readonly text: string
}

/** Files that may contain SQL. */
export const sourceFiles: ReadonlyArray<SourceFile> = ["actors", "src"].flatMap((room) =>
  readdirSync(path.join(root, room), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${room}/${file.replaceAll(path.sep, "/")}`)
    .filter((file) => file !== "actors/base/database/Table.ts")
    .map((file) => ({ file, folder: path.posix.dirname(file), text: readFileSync(path.join(root, file), "utf8") }))
)

interface Model {
  readonly name: string
  readonly columns: Columns
  readonly defaults: ReadonlyArray<string>
}

const isModel = (value: unknown): value is Model =>
  typeof value === "object" && value !== null && "name" in value && "columns" in value && "defaults" in value

/** Models of all tables, with their names in the code and their folders. */
export const models = await Promise.all(
  sourceFiles
    .filter(({ text }) => /= table\(/.test(text))
    .map(async ({ file, folder }) => {
      const exported: Readonly<Record<string, unknown>> = await import(path.join(root, file))
      return Object.entries(exported).flatMap(([constant, model]) =>
        isModel(model) ? [{ constant, folder, model }] : []
      )
    })
).then((found) => found.flat())
