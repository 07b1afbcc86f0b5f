import { Option, Predicate, Record, Result, Schema, SchemaAST } from "effect"

/** Returns a value without members that are not in its schema, or `refused` if it does not match the schema. */
type Take = (value: unknown) => unknown

const refused = Symbol("refused")

/** The member order of an object: any order, or the schema's order, in which the parser returns members. */
type Order = "any" | "schema"

const whereIt =
  (fits: (value: unknown) => boolean): Take =>
  (value) =>
    fits(value) ? value : refused

type Filter = SchemaAST.Filter<unknown>

const parseOptions: SchemaAST.ParseOptions = {}

const filtersOf = (checks: SchemaAST.AST["checks"]): ReadonlyArray<Filter> =>
  (checks ?? []).flatMap((check) => (check._tag === "Filter" ? [check] : filtersOf(check.checks)))

const filtered = (ast: SchemaAST.AST, take: Take): Take => {
  const filters = filtersOf(ast.checks)
  if (filters.length === 0) return take
  return (value) => {
    const taken = take(value)
    if (taken === refused) return refused
    for (const filter of filters) {
      if (filter.run(taken, ast, parseOptions) !== undefined) return refused
    }
    return taken
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// Rejects only a missing value. Rows contain text and numbers, and all other data was parsed from JSON, so any value that is
// present is valid.
const anyJson: Take = (value) => (value === undefined ? refused : value)

const ofRecord = ({ indexSignatures: [signature, ...others], propertySignatures }: SchemaAST.Objects, order: Order) => {
  const isAnyName = signature?.parameter._tag === "String" && signature.parameter.checks === undefined
  const take = signature === undefined || !isAnyName ? undefined : taking(signature.type, order)
  if (take === undefined || others.length + propertySignatures.length > 0) return undefined
  const ofAll: Take = (value) => {
    if (!isRecord(value) || Object.hasOwn(value, "__proto__")) return refused
    if (take === anyJson) return value
    let isSame = true
    for (const name of Object.keys(value)) {
      const member = take(value[name])
      if (member === refused) return refused
      if (member !== value[name]) isSame = false
    }
    return isSame ? value : Record.map(value, take)
  }
  return ofAll
}

const ofObject = (ast: SchemaAST.Objects, order: Order): Take | undefined => {
  if (ast.indexSignatures.length > 0) return ofRecord(ast, order)
  const members: Array<{ readonly name: string; readonly take: Take; readonly isOptional: boolean }> = []
  for (const { name, type } of ast.propertySignatures) {
    const take = taking(type, order)
    if (take === undefined || typeof name !== "string" || name === "__proto__") return undefined
    members.push({ name, take, isOptional: SchemaAST.isOptional(type) })
  }
  const copied = (value: Readonly<Record<string, unknown>>) => {
    const copy: Record<string, unknown> = {}
    for (const { name, take } of members) {
      if (name in value) copy[name] = take(value[name])
    }
    return copy
  }
  return (value) => {
    if (!isRecord(value)) return refused
    let known = 0
    let isSame = true
    for (const { isOptional, name, take } of members) {
      const given = value[name]
      if (given === undefined && !(name in value)) {
        if (isOptional) continue
        return refused
      }
      const member = take(given)
      if (member === refused) return refused
      if (member !== given) isSame = false
      known++
    }
    return isSame && order === "any" && Object.keys(value).length === known ? value : copied(value)
  }
}

const ofArray = ({ elements, rest: [item, ...others] }: SchemaAST.Arrays, order: Order): Take | undefined => {
  const take = item === undefined || others.length + elements.length > 0 ? undefined : taking(item, order)
  if (take === undefined) return undefined
  return (value) => {
    if (!Array.isArray(value)) return refused
    let isSame = true
    for (const one of value) {
      const member = take(one)
      if (member === refused) return refused
      if (member !== one) isSame = false
    }
    return isSame ? value : value.map(take)
  }
}

const ofUnion = ({ options, types }: SchemaAST.Union, order: Order): Take | undefined => {
  if (options?.mode === "oneOf") return undefined
  const literals = new Set<unknown>()
  const others: Array<Take> = []
  for (const type of types) {
    const isPlain = type.checks === undefined && type.encoding === undefined
    if (isPlain && type._tag === "Literal" && others.length === 0) {
      literals.add(type.literal)
      continue
    }
    const take = taking(type, order)
    if (take === undefined) return undefined
    others.push(take)
  }
  return (value) => {
    if (literals.has(value)) return value
    for (const take of others) {
      const taken = take(value)
      if (taken !== refused) return taken
    }
    return refused
  }
}

const json = Schema.Json.ast

const ofKind = (ast: SchemaAST.AST, order: Order): Take | undefined => {
  switch (ast._tag) {
    case "Objects":
      return ofObject(ast, order)
    case "Arrays":
      return ofArray(ast, order)
    case "Union":
      return ofUnion(ast, order)
    case "Declaration":
      return json._tag === "Declaration" && ast.run === json.run ? anyJson : undefined
    case "String":
      return whereIt(Predicate.isString)
    case "Number":
      return whereIt(Predicate.isNumber)
    case "Boolean":
      return whereIt(Predicate.isBoolean)
    case "Null":
      return whereIt(Predicate.isNull)
    case "Undefined":
      return whereIt(Predicate.isUndefined)
    case "Literal":
      return whereIt((value) => value === ast.literal)
    case "Unknown":
      return anyJson
    default:
      return undefined
  }
}

const taking = (ast: SchemaAST.AST, order: Order = "any"): Take | undefined => {
  if (ast.encoding !== undefined) return undefined
  const take = ofKind(ast, order)
  return take === undefined ? undefined : filtered(ast, take)
}

const refuse: Take = () => refused

const made = new WeakMap<object, SchemaAST.AST>()

/**
 * Returns true if `storedRecord` for this schema produced this exact object, so that the object has no members outside the
 * schema.
 */
export const isStoredAs = (value: object, ast: SchemaAST.AST): boolean => made.get(value) === ast

/** Returns true if the schema's values are stored unchanged, so that `storedRecord` needs no parser. */
export const isPlain = (schema: Schema.Constraint): boolean => taking(schema.ast) !== undefined

/**
 * Decodes data that this service has stored: rows, and the JSON in their columns. A function built once from the schema does
 * the same as the schema's parser at a fraction of the cost. Values that the function refuses go to the parser, whose
 * failure describes the fault. Values that the schema converts also go to the parser.
 *
 * @example const toProject = storedRecord(Project) const project = toProject({ id: row.id, name: row.name })
 */
export const storedRecord = <A, I>(schema: Schema.Codec<A, I>): ((value: unknown) => A) => {
  // Built on first use, because there are many schemas and few are needed at startup.
  let take: Take | undefined
  const parse = Schema.decodeUnknownSync(schema)
  const fits = (taken: unknown): taken is A => taken !== refused
  return (value) => {
    take ??= taking(schema.ast) ?? refuse
    const taken = take(value)
    if (!fits(taken)) return parse(value)
    if (typeof taken === "object" && taken !== null) made.set(taken, schema.ast)
    return taken
  }
}

const parsed = (text: string): Result.Result<unknown, unknown> => Result.try(() => JSON.parse(text))

/** Like `storedRecord`, but for JSON text. */
export const storedJson = <A, I>(schema: Schema.Codec<A, I>): ((text: string) => A) => {
  const take = storedRecord(schema)
  const parse = Schema.decodeUnknownSync(Schema.fromJsonString(schema))
  return (text) => {
    const value = parsed(text)
    return Result.isSuccess(value) ? take(value.success) : parse(text)
  }
}

/**
 * Encodes data as JSON text, with members in schema order, exactly as the parser does. The inverse of `storedJson`.
 */
export const storedText = <A, I>(schema: Schema.Codec<A, I>): ((value: A) => string) => {
  let take: Take | undefined
  const encode = Schema.encodeSync(Schema.fromJsonString(schema))
  return (value) => {
    take ??= taking(schema.ast, "schema") ?? refuse
    const taken = take(value)
    return taken === refused ? encode(value) : JSON.stringify(taken)
  }
}

/** A text column that contains JSON. Rows keep the text; use `read` and `write` to convert it. */
export interface JsonText<A> extends Schema.Codec<string> {
  readonly read: (text: string) => A
  /** Parses the text without a schema, for a record that is decoded as a whole. */
  readonly parse: (text: string) => unknown
  readonly write: (value: A) => string
}

const parseJson = storedJson(Schema.Unknown)

/**
 * A column that contains JSON as text. If rows are checked against their model, the text is decoded too.
 *
 * @example const LabelsJson = jsonText(Schema.Array(Schema.String)) const Labelled = rowShape({ id: Schema.String, labels:
 * LabelsJson }) const labels = LabelsJson.read(row.labels)
 */
export const jsonText = <A, I>(schema: Schema.Codec<A, I>): JsonText<A> => {
  const json = Schema.fromJsonString(schema)
  const decode = Schema.decodeUnknownOption(json)
  const column = Schema.String.check(
    Schema.makeFilter((text) => Option.isSome(decode(text)), { expected: "JSON that fits the column" })
  )
  return Object.assign(column, { read: storedJson(schema), parse: parseJson, write: storedText(schema) })
}
