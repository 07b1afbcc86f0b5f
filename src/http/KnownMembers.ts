import { type SchemaAST, Schema } from "effect"
import { isStoredAs } from "../../actors/database/StoredRecord.ts"

type Keep = (value: unknown) => unknown

const same: Keep = (value) => value

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const memberOf = (value: Readonly<Record<string, unknown>>, name: string): unknown => value[name]

const ofObject = (ast: SchemaAST.Objects): Keep | undefined => {
  if (ast.indexSignatures.length > 0) {
    // Its members may have any name, so all of them are known.
    const known = ast.indexSignatures.every(({ type }) => keeping(type) === same)
    return known && ast.propertySignatures.length === 0 ? same : undefined
  }
  const members: Array<readonly [string, Keep]> = []
  for (const { name, type } of ast.propertySignatures) {
    const keep = keeping(type)
    if (keep === undefined || typeof name !== "string") return undefined
    members.push([name, keep])
  }
  return (value) => {
    if (!isRecord(value) || isStoredAs(value, ast)) return value
    const kept: Record<string, unknown> = {}
    for (const [name, keep] of members) {
      const member = memberOf(value, name)
      if (member !== undefined) kept[name] = keep === same ? member : keep(member)
    }
    return kept
  }
}

const ofArray = (ast: SchemaAST.Arrays): Keep | undefined => {
  const [item, ...others] = ast.rest
  if (item === undefined || others.length + ast.elements.length > 0) return undefined
  const keep = keeping(item)
  if (keep === undefined || keep === same) return keep
  return (value) => (Array.isArray(value) ? value.map(keep) : value)
}

/** The literal that distinguishes one kind of object from the others in a union. */
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
    const byLiteral = new Map(kinds.map((kind, index) => [literals[index], keeping(kind)]))
    if ([...byLiteral.values()].includes(undefined)) return undefined
    return (value) => (isRecord(value) ? byLiteral.get(value[name])?.(value) : value)
  }
  return undefined
}

const ofUnion = (ast: SchemaAST.Union): Keep | undefined => {
  const converted = ast.types.filter((type) => keeping(type) !== same)
  const [only, ...others] = converted
  if (only === undefined) return same
  return others.length === 0 ? keeping(only) : ofKinds(converted)
}

/**
 * Removes the members that a schema does not name, for values that are written as stored: nothing is converted or checked.
 * `undefined` for a schema that converts something, or that distinguishes values by their members.
 */
export const keeping = (ast: SchemaAST.AST): Keep | undefined => {
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
