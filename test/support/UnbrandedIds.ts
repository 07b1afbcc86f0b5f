import { type Expression, type Node, SyntaxKind, type TypeNode } from "typescript/unstable/ast"
import {
  isCallExpression,
  isIdentifier,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isTypeReferenceNode,
  isUnionTypeNode
} from "typescript/unstable/ast/is"
import { forEachSource } from "./ParsedSources.ts"

/** Names of branded ids, singular or plural, spelled as in code or as in a column name. */
const branded =
  /(?:capsule|workspace|project|snapshot|source|(?:install_?)?config|state_?version|left_?over_?state|connection|interface|(?:install|revision)_?plan|run|group|share|dependency|report|membership|backup|token)_?ids?$/i

/** Returns true if the type admits any string: `string`, also within a union or a list. */
const isText = (type: TypeNode): boolean => {
  if (type.kind === SyntaxKind.StringKeyword) return true
  if (isUnionTypeNode(type)) return type.types.some(isText)
  return isTypeReferenceNode(type) && (type.typeArguments ?? []).some(isText)
}

/** Returns true if the schema accepts any string: `Schema.String`, also within another schema. */
const isTextSchema = (schema: Expression): boolean => {
  if (isCallExpression(schema)) return schema.arguments.some(isTextSchema)
  return isPropertyAccessExpression(schema) && schema.getText() === "Schema.String"
}

const isUnbranded = (node: Node): boolean => {
  if (isParameterDeclaration(node) || isPropertySignatureDeclaration(node)) {
    return node.type !== undefined && isIdentifier(node.name) && branded.test(node.name.text) && isText(node.type)
  }
  return (
    isPropertyAssignment(node) &&
    isIdentifier(node.name) &&
    branded.test(node.name.text) &&
    isTextSchema(node.initializer)
  )
}

const nameOf = (node: Node): string =>
  isParameterDeclaration(node) || isPropertySignatureDeclaration(node) || isPropertyAssignment(node)
    ? node.name.getText()
    : ""

const found = (node: Node): ReadonlyArray<string> => {
  const names: Array<string> = isUnbranded(node) ? [nameOf(node)] : []
  node.forEachChild((child) => {
    names.push(...found(child))
  })
  return names
}

/**
 * Finds parameters, fields and columns below these folders that declare the id of a record as an arbitrary string. Returns
 * `file: name`.
 */
export const unbrandedIds = async (root: string, folders: ReadonlyArray<string>) => {
  const ids = new Set<string>()
  const files = await forEachSource(root, folders, (file, source) => {
    for (const name of found(source)) ids.add(`${file}: ${name}`)
  })
  return { files, ids: [...ids].toSorted() }
}
