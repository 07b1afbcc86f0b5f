import { Result } from "effect"
import { configFileName } from "../../../runner/scan/ConfigFileName.ts"
import { readOutline } from "../../../runner/scan/HclOutline.ts"

/** Maximum nesting depth of blocks. A scan uses the same limit. */
const maxNesting = 100

const sourceArgument = /\bsource(\s*=\s*)"(?:[^"\\\n]|\\.)*"/
const versionArgument = /\bversion\s*=\s*"(?:[^"\\\n]|\\.)*"\s*,?/

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The new sources of module calls, keyed by call name. */
export type NewSources = ReadonlyMap<string, string>

const inHcl = (text: string, sources: NewSources): string | undefined => {
  const outline = readOutline(text, maxNesting)
  if (Result.isFailure(outline)) return undefined
  const lines = text.split("\n")
  let isChanged = false
  for (const { attributes, labels, type } of outline.success.blocks) {
    const source = labels.length === 1 && type === "module" ? sources.get(labels[0] ?? "") : undefined
    const at = attributes.get("source")
    if (source === undefined || at === undefined) continue
    const line = lines[at - 1] ?? ""
    lines[at - 1] = line.replace(sourceArgument, (_, equals: string) => `source${equals}${JSON.stringify(source)}`)
    isChanged ||= lines[at - 1] !== line
    const version = attributes.get("version")
    if (version === undefined) continue
    // Only modules from a registry have versions. If a local source had a version, the tool would report an error.
    const without = (lines[version - 1] ?? "").replace(versionArgument, "")
    // Removes a line that contained only the version. At first, the line is merely marked for removal, so that the numbers
    // of later lines do not change.
    lines[version - 1] = without.trim() === "" ? "\0" : without.trimEnd()
  }
  return isChanged ? lines.filter((line) => line !== "\0").join("\n") : undefined
}

const inJson = (text: string, sources: NewSources): string | undefined => {
  const document: unknown = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
  const calls = isRecord(document) ? document["module"] : undefined
  let isChanged = false
  for (const group of Array.isArray(calls) ? calls : [calls]) {
    if (!isRecord(group)) continue
    for (const [name, call] of Object.entries(group)) {
      const source = sources.get(name)
      for (const body of Array.isArray(call) ? call : [call]) {
        if (source === undefined || !isRecord(body) || typeof body["source"] !== "string") continue
        body["source"] = source
        delete body["version"]
        isChanged = true
      }
    }
  }
  return isChanged ? `${JSON.stringify(document, undefined, 2)}\n` : undefined
}

/**
 * Replaces the sources of module calls in a configuration file, and removes their versions. Keeps all other text, but reformats a
 * JSON file. Returns `undefined` if the file has none of these calls, or cannot be read.
 */
export const withSources = (fileName: string, text: string, sources: NewSources): string | undefined => {
  const file = configFileName(fileName)
  if (file === undefined) return undefined
  return file.syntax === "json" ? inJson(text, sources) : inHcl(text, sources)
}
