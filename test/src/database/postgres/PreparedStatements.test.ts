import { readdirSync, readFileSync } from "node:fs"
import { describe, expect } from "bun:test"
import { Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { migrations } from "../../../../src/database/Migrations.ts"
import { layerClients } from "../../../../src/database/postgres/PostgresClient.ts"
import { it } from "../../../support/Effect.ts"
import { hasPostgres, migratedDatabase } from "../../../support/PostgresTests.ts"
import { decodeSamples, type Sample, samplesFolder } from "../../../support/StatementSamples.ts"

/** Returns the text on one line, without a template's backslashes. */
const oneSpace = (text: string) => text.replaceAll("\\", "").replaceAll(/\s+/g, " ")

/** Returns all source text in these folders, on one line. */
const sourcesOf = (folders: ReadonlyArray<string>) =>
  folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .map((name) => oneSpace(readFileSync(`${folder}/${name}`, "utf8")))
    )
    .join("\n")

const shortestLiteral = 12

/** Returns the parts of a statement that occur literally in the source, without values, quoted names and lists of values. */
const literalsOf = (text: string): ReadonlyArray<string> =>
  oneSpace(text)
    .split(/\+?\?|"[^"]*"|[(),]/)
    .map((part) => part.trim())
    .filter((part) => part.length >= shortestLiteral)

/** Statements specific to SQLite, which the PostgreSQL client never sends. */
const ofSqlite =
  /^\s*(?:PRAGMA|EXPLAIN|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|VACUUM|CREATE|DROP|ALTER|ANALYZE)\b|\bsqlite_|\bpragma_/i

/**
 * Migration statements. They are either translated for PostgreSQL, or needed only for rows from releases without PostgreSQL.
 */
const migrating: ReadonlySet<string> = new Set(Object.values(migrations).flat())

/** Returns true if PostgreSQL refused a statement because of a table that no migration of the product creates. */
const usesTableOfTests = (refusal: string, product: string) => {
  const [, table] = /relation "(\w+)" does not exist/.exec(refusal) ?? []
  return table !== undefined && !new RegExp(`TABLE (?:IF NOT EXISTS )?"?${table}\\b`).test(product)
}

const valueOf = (value: Sample["values"][number]) =>
  typeof value === "object" && value !== null ? new Uint8Array(value.bytes) : value

const numbered = (text: string): string => {
  let count = 0
  return text.replaceAll(/\+\?|\?/g, () => `$${++count}`)
}

describe.skipIf(!hasPostgres || samplesFolder === undefined)("Statements on PostgreSQL", () => {
  it.live(
    "PostgreSQL can plan every product statement that the tests executed on SQLite, with the same types of values",
    () =>
      Effect.gen(function* () {
        const folder = samplesFolder ?? ""
        const lines = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "utf8"))
        const samples = new Map<string, Sample>()
        for (const sample of decodeSamples(lines.join("\n"))) {
          samples.set(
            `${sample.text}\n${sample.values.map((value) => (value === null ? "null" : typeof value)).join()}`,
            sample
          )
        }
        const product = sourcesOf(["actors", "src", "schema"])
        const tests = sourcesOf(["test"])
        const sql = Context.get(
          yield* Layer.build(layerClients(yield* migratedDatabase, { exclusive: false, listens: false })),
          SqlClient.SqlClient
        )
        const planned = [...samples.values()].filter(({ text }) => !ofSqlite.test(text) && !migrating.has(text))
        const outcomes = yield* Effect.forEach(
          planned,
          ({ text, values }) =>
            Effect.map(
              Effect.exit(sql.unsafe(`EXPLAIN ${numbered(text)}`, values.map(valueOf)).unprepared),
              (explained) => ({ text, explained })
            ),
          { concurrency: 8 }
        )
        const refused = outcomes.flatMap(({ explained, text }) => {
          const isOfTests = () =>
            usesTableOfTests(String(explained), product) ||
            (text.includes("zeroblob(") && !product.includes("zeroblob(")) ||
            literalsOf(text).some((literal) => tests.includes(literal) && !product.includes(literal))
          return Exit.isSuccess(explained) || isOfTests() ? [] : [`${oneSpace(text)}: ${String(explained)}`]
        })
        expect(refused).toEqual([])
        expect(planned.length).toBeGreaterThan(0)
      })
  )
})
