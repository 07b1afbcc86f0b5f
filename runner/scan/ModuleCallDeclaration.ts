import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { PlacedBlock } from "./BlockMerge.ts"
import { DeclarationArguments } from "./DeclarationArguments.ts"
import { classifyModuleSource, resolveLocalSource, shownModuleSource } from "./ModuleSource.ts"
import { parseProviderReference, type ProviderReference } from "./ProviderReference.ts"
import type { SourceLocation } from "./ScannedModule.ts"
import { quoted } from "./ScanProblem.ts"

/**
 * A module call as written.
 *
 * - `source`: the source, without credentials
 * - `path`: the folder of a local source, even if it does not exist
 * - `providers`: the caller's configurations that are passed to the child, keyed by the child's names
 * - `sourceLocation`: the location for findings about the source
 */
export interface ModuleCallDeclaration {
  readonly name: string
  readonly source: string
  readonly path?: string
  readonly providers: ReadonlyArray<{ readonly child: ProviderReference; readonly parent: ProviderReference }>
  readonly location: SourceLocation
  readonly sourceLocation: SourceLocation
}

const readPath = (
  args: DeclarationArguments,
  name: string,
  modulePath: string
): { readonly source: string; readonly path?: string } => {
  const attribute = args.get("source")
  if (attribute === undefined) {
    args.refuse("module_source_missing", `The module call ${quoted(name)} has no source.`)
    return { source: "" }
  }
  if (attribute.value.kind !== "string") {
    args.refuse(
      "module_source_not_literal",
      `The source of the module call ${quoted(name)} must be plain text, without anything to evaluate.`,
      attribute
    )
    return { source: "" }
  }
  const source = shownModuleSource(attribute.value.value)
  const kind = classifyModuleSource(attribute.value.value)
  if (kind.kind === "other") {
    args.refuse(
      kind.code,
      `The module call ${quoted(name)} fetches from ${kind.what} (${quoted(source)}). Only modules inside the repository are supported: ` +
        "vendor it into the tree and call it by a path that starts with ./ or ../",
      attribute
    )
    return { source }
  }
  if (args.get("version") !== undefined) {
    args.refuse(
      "module_version_with_local_source",
      `The module call ${quoted(name)} has a version, which a local module cannot have.`,
      args.get("version")
    )
  }
  if (/[\\\0]/.test(attribute.value.value)) {
    args.refuse(
      "module_source_invalid",
      `The source of the module call ${quoted(name)} holds a backslash or NUL. Use / between folders.`,
      attribute
    )
    return { source }
  }
  const path = resolveLocalSource(modulePath, attribute.value.value)
  if (path === undefined) {
    args.refuse(
      "module_source_outside_tree",
      `The module call ${quoted(name)} leaves the repository (${quoted(source)}).`,
      attribute
    )
    return { source }
  }
  return { source: attribute.value.value, path }
}

const readProviders = (args: DeclarationArguments, name: string): ModuleCallDeclaration["providers"] => {
  const attribute = args.get("providers")
  if (attribute === undefined || attribute.value.kind === "null") return []
  const refuse = () =>
    args.refuse(
      "module_providers_invalid",
      `The providers of the module call ${quoted(name)} must be a plain map of provider configurations, such as { aws = aws.east }.`,
      attribute
    )
  if (attribute.value.kind !== "object") {
    refuse()
    return []
  }
  const passed: Array<ModuleCallDeclaration["providers"][number]> = []
  for (const [key, value] of attribute.value.entries) {
    const child = parseProviderReference({ kind: "string", value: key }, attribute.syntax)
    const parent = parseProviderReference(value, attribute.syntax)
    if (child === undefined || parent === undefined) refuse()
    else passed.push({ child, parent })
  }
  return passed
}

/** Reads a `module` block of the module at `modulePath`. */
export const readModuleCall = (
  block: PlacedBlock,
  modulePath: string
): { readonly call: ModuleCallDeclaration; readonly findings: ReadonlyArray<Finding> } => {
  const args = new DeclarationArguments(block)
  const name = block.labels[0] ?? ""
  const call = {
    name,
    ...readPath(args, name, modulePath),
    providers: readProviders(args, name),
    location: block.location,
    sourceLocation: args.get("source")?.location ?? block.location
  }
  return { call, findings: args.findings }
}
