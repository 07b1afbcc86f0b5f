import { Array as Arr, Result, Schema, type SchemaAST, type SchemaIssue } from "effect"
import { exceedsJsonLimits } from "../json/JsonValueBounds.ts"
import { type ManifestDiagnostic, ManifestDiagnosticCode, maxDiagnostics } from "./ManifestDiagnostic.ts"
import { diagnosticPath, type DocumentPath } from "./DiagnosticPath.ts"

interface Finding {
  readonly path: DocumentPath
  readonly code: ManifestDiagnosticCode
  readonly message: string
}

const isCode = Schema.is(ManifestDiagnosticCode)

const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (ast._tag === "Literal") return [JSON.stringify(ast.literal)]
  return ast._tag === "Union" ? ast.types.flatMap(literalsOf) : []
}

const describeType = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "Objects":
      return "an object"
    case "Arrays":
      return "an array"
    case "String":
      return "a string"
    case "Boolean":
      return "a boolean"
    case "Number":
      return "a number"
    default:
      return "another type"
  }
}

const mismatch = (ast: SchemaAST.AST, path: DocumentPath): Finding => {
  const literals = literalsOf(ast)
  return literals.length > 0
    ? {
        path,
        code: "invalid_value",
        message: `Expected ${literals.length > 1 ? "one of " : ""}${literals.join(", ")}.`
      }
    : { path, code: "wrong_type", message: `Expected ${describeType(ast)}.` }
}

/**
 * Reports that no member of a union matches. If all members have the same discriminator, the report contains the
 * discriminator and its allowed values.
 */
const noVariant = (ast: SchemaAST.AST, path: DocumentPath): Finding => {
  if (ast._tag !== "Union" || ast.types.every((member) => member._tag === "Literal")) return mismatch(ast, path)
  const values = new Map<PropertyKey, ReadonlyArray<string>>()
  for (const member of ast.types) {
    if (member._tag !== "Objects") continue
    for (const property of member.propertySignatures) {
      values.set(property.name, [...(values.get(property.name) ?? []), ...literalsOf(property.type)])
    }
  }
  const discriminator = [...values].find(([, literals]) => literals.length === ast.types.length)
  if (discriminator === undefined)
    return { path, code: "invalid_value", message: "Expected one of the known variants." }
  const [name, literals] = discriminator
  return {
    path: [...path, name],
    code: "invalid_value",
    message: `Expected ${String(name)} to be one of ${literals.join(", ")}.`
  }
}

const collect = (issue: SchemaIssue.Issue, path: DocumentPath, findings: Array<Finding>): void => {
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], findings)
    case "Composite":
      return issue.issues.forEach((inner) => collect(inner, path, findings))
    case "AnyOf":
      if (issue.issues.length === 0) findings.push(noVariant(issue.ast, path))
      return issue.issues.forEach((inner) => collect(inner, path, findings))
    case "Encoding":
      return collect(issue.issue, path, findings)
    case "Filter": {
      const { diagnosticCode, expected } = issue.filter.annotations ?? {}
      // Reports the inner issues of a filter that has no code, such as a filter on the names of a record.
      if (!isCode(diagnosticCode)) return collect(issue.issue, path, findings)
      findings.push({ path, code: diagnosticCode, message: `Expected ${expected ?? "another value"}.` })
      return
    }
    case "MissingKey":
      findings.push({ path, code: "missing_field", message: "This field is required." })
      return
    case "UnexpectedKey":
      findings.push({ path, code: "unknown_field", message: "This version has no such field; remove it." })
      return
    case "InvalidType":
      findings.push(mismatch(issue.ast, path))
      return
    case "InvalidValue":
    case "Forbidden":
    case "OneOf":
      findings.push({ path, code: "invalid_value", message: "Expected another value." })
      return
  }
}

const unnamed: Finding = { path: [], code: "invalid_value", message: "Expected another document." }

const show = ({ code, message, path }: Finding): ManifestDiagnostic => ({ path: diagnosticPath(path), code, message })

/** Converts schema issues to at most `maxDiagnostics` diagnostics, none of which contains a value. */
const issueDiagnostics = (issue: SchemaIssue.Issue): Arr.NonEmptyReadonlyArray<ManifestDiagnostic> => {
  const findings: Array<Finding> = []
  collect(issue, [], findings)
  const shown = findings.slice(0, maxDiagnostics).map(show)
  return Arr.isReadonlyArrayNonEmpty(shown) ? shown : [show(unnamed)]
}

/** Number of nodes above which only the first fault is reported, so that a hostile document cannot cause an expensive report. */
const fullReportNodes = 4000

/**
 * Creates a decoder for a closed document: fields that the schema does not define are errors, and every fault becomes a
 * diagnostic.
 */
export const documentDecoder = <Document extends Schema.ConstraintDecoder<unknown>>(schema: Document) => {
  const reportingAll = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  const reportingFirst = Schema.decodeUnknownResult(schema, { errors: "first", onExcessProperty: "error" })
  return (value: Schema.Json): Result.Result<Document["Type"], Arr.NonEmptyReadonlyArray<ManifestDiagnostic>> => {
    const small = exceedsJsonLimits(value, { maxNodes: fullReportNodes }) === undefined
    return Result.mapError((small ? reportingAll : reportingFirst)(value), ({ issue }) => issueDiagnostics(issue))
  }
}
