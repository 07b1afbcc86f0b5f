/**
 * SQLite functions that svc's statements use, implemented for PostgreSQL, so that both databases can run the same
 * statements. JSON is stored as text and read as `json`, never as `jsonb`, which rejects the escape sequence for U+0000 and
 * rewrites numbers.
 */
const json = (name: string, parameters: string, returns: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION ${name}(${parameters}) RETURNS ${returns} LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ ${body} $$`

/** Converts the path of a member, such as `$.plan.digest`, to a list of names. svc's paths contain only member names. */
const names = "string_to_array(substr(path, 3), '.')"

export const dialectFunctions: ReadonlyArray<string> = [
  // The version of the tables when it is called, not when the statement began: only a volatile function reads what was committed
  // while the statement waited for a lock.
  `CREATE OR REPLACE FUNCTION svc_table_version() RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
    BEGIN RETURN (SELECT MAX(migration_id) FROM svc_migrations); END $$`,
  // PostgreSQL cannot read any part of a document that contains the escape sequence for U+0000.
  json("svc_json", "document text", "json", String.raw`SELECT replace(document, '\u0000', '\ufffd')::json`),
  // Converts a JSON value as SQLite does: a string without quotes, 1 and 0 for true and false, and text for everything else.
  json(
    "svc_json_value",
    "value json",
    "text",
    `SELECT CASE json_typeof(value) WHEN 'boolean' THEN CASE value #>> '{}' WHEN 'true' THEN '1' ELSE '0' END
      ELSE value #>> '{}' END`
  ),
  json("json_extract", "document text, path text", "text", `SELECT svc_json_value(svc_json(document) #> ${names})`),
  json(
    "json_type",
    "document text, path text",
    "text",
    `SELECT CASE json_typeof(svc_json(document) #> ${names}) WHEN 'string' THEN 'text'
      WHEN 'boolean' THEN CASE svc_json(document) #>> ${names} WHEN 'true' THEN 'true' ELSE 'false' END
      WHEN 'number' THEN CASE WHEN svc_json(document) #>> ${names} ~ '[.eE]' THEN 'real' ELSE 'integer' END
      ELSE json_typeof(svc_json(document) #> ${names}) END`
  ),
  json(
    "json_array_length",
    "document text, path text",
    "integer",
    `SELECT CASE json_typeof(svc_json(document) #> ${names}) WHEN 'array' THEN json_array_length(svc_json(document) #> ${names})
      WHEN NULL THEN NULL ELSE 0 END`
  ),
  json(
    "svc_json_each",
    "document json",
    "TABLE (key text, value text)",
    `SELECT (position - 1)::text, svc_json_value(item) FROM json_array_elements(
        CASE json_typeof(document) WHEN 'array' THEN document ELSE '[]' END) WITH ORDINALITY AS i (item, position)
      UNION ALL SELECT o.key, svc_json_value(o.value) FROM json_each(
        CASE json_typeof(document) WHEN 'object' THEN document ELSE '{}' END) AS o`
  ),
  json("json_each", "document text", "TABLE (key text, value text)", "SELECT * FROM svc_json_each(svc_json(document))"),
  json(
    "json_each",
    "document text, path text",
    "TABLE (key text, value text)",
    `SELECT * FROM svc_json_each(svc_json(document) #> ${names})`
  ),
  json(
    "json_set",
    "document text, first_path text, first_value text, second_path text, second_value text",
    "text",
    `SELECT CAST(jsonb_set(jsonb_set(document::jsonb, string_to_array(substr(first_path, 3), '.'), to_jsonb(first_value)),
      string_to_array(substr(second_path, 3), '.'), to_jsonb(second_value)) AS text)`
  ),
  json("instr", "whole text, part text", "integer", "SELECT strpos(whole, part)")
]

const distinct = (text: string) => text.replaceAll(/ IS NOT (?=(?:NEW|OLD)\.)/g, " IS DISTINCT FROM ")

const raise = /SELECT RAISE\(ABORT, ('[^']*')\)/g

/** In PostgreSQL, a trigger has to call a function, compare with `IS DISTINCT FROM` and raise exceptions. */
const triggerStatements = (statement: string): ReadonlyArray<string> => {
  const [declaration = "", commandsToEnd = ""] = statement.trim().split(/\sBEGIN\s/)
  const [head = "", when] = declaration.split(/\sWHEN\s/)
  const [, , name = "", moment = "", ...rest] = head.trim().split(/\s+/)
  const event = [moment, ...rest.slice(0, rest.indexOf("ON"))].join(" ")
  const table = rest[rest.indexOf("ON") + 1] ?? ""
  const body = commandsToEnd.trimEnd().slice(0, -"END".length)
  const commands = distinct(body).replaceAll(raise, "RAISE EXCEPTION $1")
  return [
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      ${commands} RETURN ${moment === "BEFORE" ? "NEW" : "NULL"}; END $$`,
    `CREATE TRIGGER ${name} ${event} ON ${table} FOR EACH ROW${when === undefined ? "" : ` WHEN (${distinct(when.trim())})`}
      EXECUTE FUNCTION ${name}()`
  ]
}

const isTrigger = /^\s*CREATE TRIGGER\b/
const isTable = /^\s*(?:CREATE TABLE|ALTER TABLE \w+ ADD COLUMN)\b/
const isNewId = /randomblob\(12\)/

/** Integers have 64 bits and text is sorted by bytes, as in SQLite. */
const columnTypes = (statement: string): string =>
  statement
    .replaceAll(/\bINTEGER PRIMARY KEY AUTOINCREMENT\b/g, "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY")
    .replaceAll(/\bINTEGER\b/g, "BIGINT")
    .replaceAll(/\bBLOB\b/g, "BYTEA")

/** Makes a statement use PostgreSQL functions to generate a new installation's id and creation time. */
const newInstallation = (statement: string): string => {
  const named = statement.replace(
    "lower(hex(randomblob(12)))",
    "substr(encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'hex'), 33, 24)"
  )
  // The time is the last value in the statement, so replace the rest of the statement.
  const at = named.indexOf("strftime(")
  const time = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`
  return at < 0 ? named : `${named.slice(0, at)}${time}`
}

/**
 * The last migration that changes rows written by releases that supported only SQLite. Up to this migration, statements that
 * change rows are omitted, because a PostgreSQL database has no such rows.
 */
const lastOfSqliteOnly = 75

const movesRows = /^\s*(?:UPDATE|INSERT|WITH|DELETE)\b/
const isSeed = /^\s*INSERT INTO (?:authority_changes|installation)\b/

/** Translates the statements of a migration. */
export const postgresStatements = (number: number, statements: ReadonlyArray<string>): ReadonlyArray<string> =>
  statements.flatMap((statement) => {
    if (isNewId.test(statement)) return [newInstallation(statement)]
    if (isTrigger.test(statement)) return triggerStatements(statement)
    if (number <= lastOfSqliteOnly && movesRows.test(statement) && !isSeed.test(statement)) return []
    return [isTable.test(statement) ? columnTypes(statement) : statement]
  })
