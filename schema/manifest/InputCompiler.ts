import type { CompiledInput } from "./CompiledInstall.ts"
import type { DocumentPath } from "./DiagnosticPath.ts"
import type { Report } from "./DiagnosticReport.ts"
import type { InputDeclaration } from "./InputDeclaration.ts"
import type { VariableFacts } from "./ModuleFacts.ts"

const needsString = (input: InputDeclaration) =>
  input.source.kind === "capsule_name" ||
  input.source.kind === "workspace_scoped_capsule_name" ||
  input.role !== undefined

/** Sensitive and ephemeral variables are secret regardless of the manifest: a manifest can raise secrecy, never lower it. */
const isSecret = (variable: VariableFacts, input?: InputDeclaration) =>
  variable.sensitive || variable.ephemeral || input?.secret === true || input?.role === "initial_secret"

/** The variable as presented in the form for a generic install. */
export const genericInput = (variable: VariableFacts): CompiledInput => ({
  name: variable.name,
  type: variable.type,
  origin: "generic",
  source: "user",
  required: !variable.hasDefault,
  hasDefault: variable.hasDefault,
  secret: isSecret(variable),
  advanced: false
})

/**
 * Proves one declared input against the report: the variable, its type, and whether it has a default. If it cannot prove one of
 * these, reports it and returns `undefined`.
 */
export const compileInput = (
  input: InputDeclaration,
  variable: VariableFacts | undefined,
  path: DocumentPath,
  report: Report
): CompiledInput | undefined => {
  if (variable === undefined) {
    report([...path, "name"], "variable_not_found", "The module has no variable of this name.")
    return undefined
  }
  const asDeclared = input.type === undefined || input.type === variable.type
  if (!asDeclared || (needsString(input) && variable.type !== "string")) {
    report(path, "variable_type_not_proven", `The module declares this variable as ${variable.type}.`)
    return undefined
  }
  if (input.source.kind === "module_default" && !variable.hasDefault) {
    report([...path, "source"], "default_not_proven", "The module has no default for this variable.")
    return undefined
  }
  if (input.required === false && !variable.hasDefault) {
    report(
      [...path, "required"],
      "default_not_proven",
      "The module has no default for this variable, so it is required."
    )
    return undefined
  }
  const { format, helper, label, name, placeholder, role, source } = input
  return {
    name,
    type: variable.type,
    origin: "manifest",
    source: source.kind,
    required: source.kind === "user" && (input.required ?? !variable.hasDefault),
    hasDefault: variable.hasDefault,
    secret: isSecret(variable, input),
    advanced: input.advanced ?? false,
    label,
    ...(role === undefined ? {} : { role }),
    ...(format === undefined ? {} : { format }),
    ...(helper === undefined ? {} : { helper }),
    ...(placeholder === undefined ? {} : { placeholder })
  }
}
