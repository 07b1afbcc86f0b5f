import type { Schema } from "effect"
import { forbiddenName } from "../secret-material/AuthorityNames.ts"
import { findForbiddenTexts, type ForbiddenMaterial, forbiddenMaterial } from "../secret-material/SecretScan.ts"
import type { DocumentPath } from "./DiagnosticPath.ts"
import type { Report } from "./DiagnosticReport.ts"
import { maxDiagnostics } from "./ManifestDiagnostic.ts"
import type { RepositoryManifest } from "./RepositoryManifest.ts"
import type { SourceBuild } from "./SourceBuildDeclaration.ts"

const messages: Readonly<Record<ForbiddenMaterial, string>> = {
  secret_material: "This is public text, and it looks like a credential; remove it.",
  host_authority_material:
    "This refers to a record or an authority of the host, which a repository must not contain; remove it."
}

const isArray = (value: Schema.Json): value is ReadonlyArray<Schema.Json> => Array.isArray(value)

/**
 * Visits every string in a value, each key before its value, always in the same order. `at` is the current path, and is updated
 * in place.
 */
const visitTexts = (value: Schema.Json, at: Array<PropertyKey>, visit: (text: string) => void): void => {
  if (typeof value === "string") return visit(value)
  if (typeof value !== "object" || value === null) return
  const entries: Iterable<[PropertyKey, Schema.Json]> = isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, item] of entries) {
    at.push(key)
    if (typeof key === "string") visit(key)
    visitTexts(item, at, visit)
    at.pop()
  }
}

/** Checks every string in a public document, including keys. */
export const checkTexts = (document: Schema.Json, report: Report): void => {
  const texts: Array<string> = []
  visitTexts(document, [], (text) => texts.push(text))
  const found = findForbiddenTexts(texts, maxDiagnostics)
  if (found.size === 0) return
  const at: Array<PropertyKey> = []
  let index = 0
  visitTexts(document, at, () => {
    const material = found.get(index++)
    if (material !== undefined) report(at, material, messages[material])
  })
}

const checkNames = (value: Schema.Json, path: DocumentPath, report: Report): void => {
  if (typeof value !== "object" || value === null) return
  if (isArray(value)) return value.forEach((item, index) => checkNames(item, [...path, index], report))
  for (const [name, item] of Object.entries(value)) {
    const material = forbiddenName(name)
    if (material !== undefined) report([...path, name], material, messages[material])
    checkNames(item, [...path, name], report)
  }
}

/** Checks the field names in Interface documents and inputs, and the arguments of each command as one joined line. */
export const checkPublicMaterial = (manifest: RepositoryManifest, report: Report): void => {
  for (const [modulePath, module] of Object.entries(manifest.install.modules)) {
    const path = ["install", "modules", modulePath]
    module.interfaces?.forEach(({ spec }, index) => {
      const at = [...path, "interfaces", index, "spec"]
      checkNames(spec.document, [...at, "document"], report)
      for (const [name, input] of Object.entries(spec.inputs ?? {})) {
        const material = forbiddenName(name)
        if (material !== undefined) report([...at, "inputs", name], material, messages[material])
        if (input.source === "literal") checkNames(input.value, [...at, "inputs", name, "value"], report)
      }
    })
    module.sourceBuild?.commands.forEach(({ argv }, index) => {
      const material = forbiddenMaterial(argv.join(" "))
      // Skips findings in a single argument, which `checkTexts` has already reported.
      if (material === undefined || argv.some((argument) => forbiddenMaterial(argument) !== undefined)) return
      report([...path, "sourceBuild", "commands", index, "argv"], material, messages[material])
    })
  }
}

/**
 * Checks a source build that is declared outside a manifest for the same material: its strings, and each command's arguments
 * joined into one line.
 */
export const sourceBuildMaterial = ({ commands, outputs }: SourceBuild): ForbiddenMaterial | undefined => {
  const texts = commands.flatMap(({ argv, workingDirectory = "." }) => [...argv, argv.join(" "), workingDirectory])
  return forbiddenMaterial([...texts, ...outputs].join("\n"))
}
