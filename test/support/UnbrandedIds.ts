import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
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
import { API } from "typescript/unstable/async"

/** Names of ids that have a brand, for one record or, in the plural, for several, spelled as in code or as a column. */
const branded =
  /(?:capsule|workspace|project|snapshot|source|(?:install_?)?config|state_?version|left_?over_?state|connection|interface|(?:install|revision)_?plan|run|group|share|dependency|report|membership|backup|token)_?ids?$/i

/** Whether values of this type may be any string: `string`, including in a union or a list. */
const isText = (type: TypeNode): boolean => {
  if (type.kind === SyntaxKind.StringKeyword) return true
  if (isUnionTypeNode(type)) return type.types.some(isText)
  return isTypeReferenceNode(type) && (type.typeArguments ?? []).some(isText)
}

/** Whether this schema accepts any string: `Schema.String`, including inside another schema. */
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

/** Parameters, fields and columns below these folders that carry a record's id as an arbitrary string: `file: name`. */
export const unbrandedIds = async (root: string, folders: ReadonlyArray<string>) => {
  const project = mkdtempSync(join(tmpdir(), "svc-ids-"))
  const config = join(project, "tsconfig.json")
  // The source is only parsed: no libraries or imports are read.
  const compilerOptions = { noLib: true, noResolve: true, types: [], allowImportingTsExtensions: true, noEmit: true }
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions, include: folders.map((folder) => join(root, folder, "**/*.ts")) })
  )
  const api = new API({ cwd: root })
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [config] })
    const [opened] = snapshot.getProjects()
    if (opened === undefined) throw new Error("The project could not be opened.")
    const files = await opened.program.getSourceFileNames()
    const ids: Array<string> = []
    for (const file of files) {
      const source = await opened.program.getSourceFile(file)
      if (source !== undefined) ids.push(...found(source).map((name) => `${relative(root, file)}: ${name}`))
    }
    return { files: files.length, ids: [...new Set(ids)].toSorted() }
  } finally {
    await api.close()
    rmSync(project, { recursive: true, force: true })
  }
}
