import { randomBytes } from "node:crypto"
import { appendFileSync } from "node:fs"
import { DatabaseSync, type SQLInputValue, StatementSync } from "node:sqlite"
import { Option, Schema } from "effect"

/** A statement that a test executed on SQLite, with the values of its first execution. */
const Sample = Schema.Struct({
  text: Schema.String,
  values: Schema.Array(Schema.Union([Schema.Null, Schema.Number, Schema.String, Schema.Struct({ bytes: Schema.Int })]))
})
export type Sample = typeof Sample.Type
const SampleLine = Schema.fromJsonString(Sample)

/** Folder to which every process of `bun test` writes the statements that it executed. */
export const samplesFolder = process.env["SVC_TEST_STATEMENTS"]

export const decodeSamples = (lines: string): ReadonlyArray<Sample> =>
  lines.split("\n").flatMap((line) => Option.toArray(Schema.decodeOption(SampleLine)(line)))

const sampled = (value: unknown): Sample["values"][number] => {
  if (value instanceof Uint8Array) return { bytes: value.length }
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value)
  return typeof value === "number" || typeof value === "string" ? value : null
}

const kindOf = (value: Sample["values"][number]): string => (value === null ? "null" : typeof value)

/** Records each statement of this process once per list of value types. */
export const recordStatements = (folder: string): void => {
  const texts = new WeakMap<StatementSync, string>()
  const known = new Set<string>()
  const file = `${folder}/${process.pid}-${randomBytes(4).toString("hex")}.jsonl`
  const { prepare } = DatabaseSync.prototype
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...parameters: Parameters<typeof prepare>) {
    const statement = prepare.apply(this, parameters)
    texts.set(statement, parameters[0])
    return statement
  }
  const record = (statement: StatementSync, given: ReadonlyArray<unknown>) => {
    const text = texts.get(statement)
    if (text === undefined) return
    const values = given.map(sampled)
    const key = `${text}\n${values.map(kindOf).join()}`
    if (known.has(key)) return
    known.add(key)
    // The test runner exits without emitting an event, so each sample is written immediately.
    appendFileSync(file, `${JSON.stringify({ text, values })}\n`)
  }
  const { all, iterate, run } = StatementSync.prototype
  Object.assign(StatementSync.prototype, {
    all(this: StatementSync, ...given: Array<SQLInputValue>): unknown {
      record(this, given)
      return Reflect.apply(all, this, given)
    },
    iterate(this: StatementSync, ...given: Array<SQLInputValue>): unknown {
      record(this, given)
      return Reflect.apply(iterate, this, given)
    },
    run(this: StatementSync, ...given: Array<SQLInputValue>): unknown {
      record(this, given)
      return Reflect.apply(run, this, given)
    }
  })
}
