import { type SchemaAST, Schema } from "effect"
import { isStoredAs } from "../../actors/base/database/StoredRecord.ts"

type Keep = (value: unknown) => unknown

const same: Keep = (value) => value

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const propertyOf = (value: Readonly<Record<string, unknown>>, name: string): unknown => value[name]

const ofObject = (ast: SchemaAST.Objects): Keep | undefined => {
  if (ast.indexSignatures.length > 0) {
    // If an object accepts properties with any name, it has no unknown properties.
    const known = ast.indexSignatures.every(({ type }) => keepKnownProperties(type) === same)
    return known && ast.propertySignatures.length === 0 ? same : undefined
  }
  const properties: Array<readonly [string, Keep]> = []
  for (const { name, type } of ast.propertySignatures) {
    const keep = keepKnownProperties(type)
    if (keep === undefined || typeof name !== "string") return undefined
    properties.push([name, keep])
  }
  return (value) => {
    if (!isRecord(value) || isStoredAs(value, ast)) return value
    const kept: Record<string, unknown> = {}
    for (const [name, keep] of properties) {
      const property = propertyOf(value, name)
      if (property !== undefined) kept[name] = keep === same ? property : keep(property)
    }
    return kept
  }
}

const ofArray = (ast: SchemaAST.Arrays): Keep | undefined => {
  const [item, ...others] = ast.rest
  if (item === undefined || others.length + ast.elements.length > 0) return undefined
  const keep = keepKnownProperties(item)
  if (keep === undefined || keep === same) return keep
  return (value) => (Array.isArray(value) ? value.map(keep) : value)
}

/** Returns the literal that distinguishes this kind of object from the other kinds in a union. */
const literalAt = (ast: SchemaAST.AST, name: PropertyKey): unknown => {
  const type = ast._tag === "Objects" ? ast.propertySignatures.find((one) => one.name === name)?.type : undefined
  return type?._tag === "Literal" ? type.literal : undefined
}

const ofKinds = (kinds: ReadonlyArray<SchemaAST.AST>): Keep | undefined => {
  const [first] = kinds
  if (first?._tag !== "Objects") return undefined
  for (const { name } of first.propertySignatures) {
    const literals = kinds.map((kind) => literalAt(kind, name))
    if (typeof name !== "string" || literals.includes(undefined) || new Set(literals).size < kinds.length) continue
    const byLiteral = new Map(kinds.map((kind, index) => [literals[index], keepKnownProperties(kind)]))
    if ([...byLiteral.values()].includes(undefined)) return undefined
    return (value) => (isRecord(value) ? byLiteral.get(value[name])?.(value) : value)
  }
  return undefined
}

const ofUnion = (ast: SchemaAST.Union): Keep | undefined => {
  const converted = ast.types.filter((type) => keepKnownProperties(type) !== same)
  const [only, ...others] = converted
  if (only === undefined) return same
  return others.length === 0 ? keepKnownProperties(only) : ofKinds(converted)
}

/**
 * Returns a function that removes all properties that the schema does not contain. It is meant for values that are returned
 * as stored. The function neither converts nor checks anything. Returns `undefined` for a schema that converts values, or
 * that distinguishes kinds of objects by their properties.
 */
export const keepKnownProperties = (ast: SchemaAST.AST): Keep | undefined => {
  if (ast.encoding !== undefined) return undefined
  switch (ast._tag) {
    case "Objects":
      return ofObject(ast)
    case "Arrays":
      return ofArray(ast)
    case "Union":
      return ofUnion(ast)
    case "Declaration":
      return isJson(ast) ? same : undefined
    case "String":
    case "Number":
    case "Boolean":
    case "Null":
    case "Undefined":
    case "Literal":
    case "Enum":
    case "TemplateLiteral":
    case "Unknown":
      return same
    default:
      return undefined
  }
}

const json = Schema.Json.ast

const isJson = (ast: SchemaAST.Declaration): boolean => json._tag === "Declaration" && ast.run === json.run
