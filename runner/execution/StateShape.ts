import { Schema, SchemaAST } from "effect"
import { Instance, Resource, StateDocument } from "./StateDocument.ts"

/** The expected shape of a JSON value. `undefined` means anything. */
export interface Shape {
  readonly kinds: ReadonlyArray<JsonKind>
  readonly check?: (value: string | number) => boolean
  /** For an object: its known fields. It may have other fields. */
  readonly fields?: ReadonlyMap<string, Shape | undefined>
  readonly required?: ReadonlyArray<string>
  /** For an object: the shape of each value. */
  readonly values?: Shape | undefined
  /** For an array. */
  readonly items?: Shape | undefined
}

export type JsonKind = "string" | "number" | "boolean" | "null" | "object" | "array"

/** A part of the schema that a scan cannot follow. */
const unknownPart = (ast: SchemaAST.AST) => new Error(`A scan has no shape for a ${ast._tag} of a state.`)

const ofText = (kind: "string" | "number", ast: SchemaAST.AST): Shape => {
  const kinds = [kind]
  return ast.checks === undefined ? { kinds } : { kinds, check: Schema.is(Schema.make<Schema.Schema<unknown>>(ast)) }
}

const ofObject = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Shape => {
  const [signature] = indexSignatures
  if (signature !== undefined) return { kinds: ["object"], values: shapeOf(signature.type) }
  return {
    kinds: ["object"],
    fields: new Map(propertySignatures.map(({ name, type }) => [String(name), shapeOf(type)])),
    required: propertySignatures.flatMap(({ name, type }) => (SchemaAST.isOptional(type) ? [] : [String(name)]))
  }
}

/** The only unions in a state are of `null` and another shape. */
const ofUnion = (ast: SchemaAST.Union): Shape => {
  const shapes = ast.types.map(shapeOf)
  const other = shapes.find((shape) => shape?.kinds.includes("null") === false)
  if (other === undefined || shapes.length !== 2) throw unknownPart(ast)
  return { ...other, kinds: [...other.kinds, "null"] }
}

const derived = (ast: SchemaAST.AST): Shape | undefined => {
  switch (ast._tag) {
    case "String":
      return ofText("string", ast)
    case "Number":
      return ofText("number", ast)
    case "Boolean":
      return { kinds: ["boolean"] }
    case "Null":
      return { kinds: ["null"] }
    case "Arrays": {
      const [items] = ast.rest
      if (items === undefined) throw unknownPart(ast)
      return { kinds: ["array"], items: shapeOf(items) }
    }
    case "Objects":
      return ofObject(ast)
    case "Union":
      return ofUnion(ast)
    case "Unknown":
      return undefined
    default:
      if (ast === Schema.Json.ast) return undefined
      throw unknownPart(ast)
  }
}

const known = new Map<SchemaAST.AST, Shape | undefined>()

/** One shape for each part of the schema, so that a scan recognises the parts by their shapes. */
const shapeOf = (ast: SchemaAST.AST): Shape | undefined => {
  if (!known.has(ast)) known.set(ast, derived(ast))
  return known.get(ast)
}

const ofStruct = (ast: SchemaAST.Objects): Shape => {
  const shape = shapeOf(ast)
  if (shape === undefined) throw unknownPart(ast)
  return shape
}

export const stateShape = ofStruct(StateDocument.ast)

export const resourceShape = ofStruct(Resource.ast)

export const instanceShape = ofStruct(Instance.ast)
