import { DatabaseSync } from "node:sqlite"
import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { exitCodes } from "../src/cli/ExitCodes.ts"
import { describedApi } from "../src/http/OpenApiDocument.ts"
import * as Database from "../src/database/Database.ts"
import { DataFolder, databaseName } from "../src/database/DataFolder.ts"
import type { SettingDefinition } from "../src/settings/SettingDefinition.ts"
import { settingDefinitions } from "../src/settings/SettingDefinitions.ts"
import { commandHelps } from "./CommandReference.ts"

/*
 * A version promises its API, commands, settings, tables and exit codes to the people who build on them. `scripts/promised`
 * contains the promised facts as of the last release. The changelog must mention every difference.
 */

/**
 * Facts, keyed by subject, such as `Run.status`, `GET /api/v1/runs/{runId}`, `svc plan --ref` or `SVC_PORT`. The changelog
 * writes a subject in backticks.
 */
export type Facts = ReadonlyMap<string, string>

/** Maximum length of a fact in a snapshot. A longer fact is stored as its hash. */
const longestFact = 160

const shortFact = (text: string) =>
  text.length <= longestFact
    ? text
    : `${text.slice(0, 60)}… ${new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 12)}`

/** Members of an OpenAPI document that only explain and are not part of the promise. */
const explanations = new Set(["description", "summary", "title", "example", "examples"])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Formats a part of the document as text with sorted members and without explanations. */
const shape = (value: unknown, isNaming = false): string => {
  if (Array.isArray(value)) return `[${value.map((item) => shape(item)).join(",")}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([name]) => isNaming || !explanations.has(name))
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    // The members of `properties` are field names, so a member called `description` is a field here.
    .map(([name, member]) => `${name}:${shape(member, name === "properties" && !isNaming)}`)
  return `{${members.join(",")}}`
}

const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown))),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown)) })
})

/** Returns the facts about `/openapi.json`: every operation, and every field of each named schema. */
const apiFacts = (): Facts => {
  const json: unknown = JSON.parse(JSON.stringify(OpenApi.fromApi(describedApi())))
  const { components, paths } = Schema.decodeUnknownSync(Document)(json)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { parameters, requestBody, responses }]) =>
        [`${method.toUpperCase()} ${path}`, shape({ parameters, requestBody, responses })] as const
    )
  )
  const fields = Object.entries(components.schemas).flatMap(([name, { properties, required, ...others }]) => {
    const needed = new Set(Array.isArray(required) ? required : [])
    const own = isRecord(properties) ? Object.entries(properties) : []
    return [
      [name, shape(others)] as const,
      ...own.map(
        ([field, schema]) => [`${name}.${field}`, `${needed.has(field) ? "" : "optional "}${shape(schema)}`] as const
      )
    ]
  })
  return new Map([...operations, ...fields])
}

/** Returns the facts about the command line: every command and flag. */
const commandFacts = Effect.map(
  commandHelps,
  (commands): Facts =>
    new Map(
      commands.flatMap(({ help, path }) => {
        const command = ["svc", ...path].join(" ")
        const values = (help.args ?? []).map(
          ({ name, required, variadic }) => `${name}${variadic ? "..." : ""}${required ? "" : "?"}`
        )
        return [
          [command, values.join(" ")] as const,
          ...help.flags.map(({ aliases, name, required, type }) => {
            const text = [type, ...aliases, ...(required ? ["required"] : [])].join(" ")
            return [`${command} --${name}`, text] as const
          })
        ]
      })
    )
)

const settingFacts = (): Facts =>
  new Map(
    Object.values<SettingDefinition>(settingDefinitions).map(({ default: value, env, flag, metavar }) => [
      env,
      [
        metavar,
        ...(flag === undefined ? [] : [`--${flag}`]),
        ...(value === undefined ? [] : [`default ${value}`])
      ].join(" ")
    ])
  )

const exitCodeFacts = (): Facts => new Map(Object.entries(exitCodes).map(([name, code]) => [`exit code ${code}`, name]))

const Column = Schema.Struct({
  table_name: Schema.String,
  column_name: Schema.String,
  type: Schema.String,
  required: Schema.Int,
  fallback: Schema.NullOr(Schema.String),
  key: Schema.Int
})

/** Returns the facts about the tables: every column of a database that this version creates. */
const tableFacts = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-promise-" })
  yield* Effect.scoped(Layer.build(Database.layer.pipe(Layer.provide(DataFolder.layer(folder)))))
  const database = new DatabaseSync(path.join(folder, databaseName), { readOnly: true })
  const rows: unknown = database
    .prepare(
      `SELECT t.name AS table_name, c.name AS column_name, c.type, c."notnull" AS required, c.dflt_value AS fallback, c.pk AS key
       FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' ORDER BY t.name, c.cid`
    )
    .all()
  database.close()
  const columns = yield* Schema.decodeUnknownEffect(Schema.Array(Column))(rows)
  return new Map(
    columns.map(({ column_name, fallback, key, required, table_name, type }) => [
      `${table_name}.${column_name}`,
      [
        type,
        ...(required === 1 ? ["required"] : []),
        ...(fallback === null ? [] : [`default ${fallback}`]),
        ...(key > 0 ? ["key"] : [])
      ].join(" ")
    ])
  )
}).pipe(Effect.scoped)

/** Returns the promised facts of this version, keyed by snapshot name. */
export const presentFacts = Effect.gen(function* () {
  return {
    api: apiFacts(),
    commands: yield* commandFacts,
    "exit-codes": exitCodeFacts(),
    settings: settingFacts(),
    tables: yield* tableFacts
  }
})

/** Formats facts as a snapshot: one line per subject, sorted by subject. */
export const snapshotText = (facts: Facts): string =>
  [...facts]
    .map(([subject, fact]) => `${subject}\t${shortFact(fact)}\n`)
    .toSorted()
    .join("")

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "")
const subjectOf = (line: string) => line.slice(0, line.indexOf("\t"))

/** Returns the subjects whose facts differ between a snapshot and the current version, with the kind of change. */
export const promiseChanges = (
  snapshot: string,
  facts: Facts
): ReadonlyArray<readonly [subject: string, change: string]> => {
  const before = new Set(linesOf(snapshot))
  const after = new Set(linesOf(snapshotText(facts)))
  const beforeSubjects = new Set([...before].map(subjectOf))
  const afterSubjects = new Set([...after].map(subjectOf))
  const changed = new Set([...before.difference(after), ...after.difference(before)].map(subjectOf))
  return [...changed]
    .toSorted()
    .map((subject) => [
      subject,
      !beforeSubjects.has(subject) ? "added" : !afterSubjects.has(subject) ? "removed" : "changed"
    ])
}

/** Returns the changelog section about changes since the last release. */
const unreleased = (changelog: string) =>
  /^## Unreleased[^\n]*\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog)?.[1] ?? ""

/**
 * Returns the names by which the changelog may mention a subject: by its own name or, for an addition, by the name of its
 * parent, such as `Run` for `Run.status`, `notices` for `notices.id` and `svc pr list` for `svc pr list --output`.
 */
const namesOf = ([subject, change]: readonly [string, string]): ReadonlyArray<string> => {
  if (change !== "added") return [subject]
  const whole = subject.startsWith("svc ") ? subject.replace(/ --.*$/, "") : subject.replace(/\.\w+$/, "")
  return [subject, whole]
}

/** Returns the changes that the changelog does not mention. */
export const unnamedChanges = (
  changes: ReadonlyArray<readonly [subject: string, change: string]>,
  changelog: string
): ReadonlyArray<string> => {
  const text = unreleased(changelog)
  return changes
    .filter((change) => !namesOf(change).some((name) => text.includes(`\`${name}\``)))
    .map(([subject, change]) => `${subject} (${change})`)
}

export type SnapshotName = keyof Effect.Success<typeof presentFacts>

/** Returns the path of the file that contains a snapshot of the last release. */
export const snapshotFile = (name: string) => `${import.meta.dirname}/promised/${name}.tsv`
