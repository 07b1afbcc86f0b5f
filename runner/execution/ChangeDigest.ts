import { createHash, createHmac, randomUUID } from "node:crypto"
import type * as Schema from "effect/Schema"
import { withNumbers } from "../../schema/json/ExactNumbers.ts"
import type { PlanJob } from "./RunJob.ts"

/*
 * The canonical form of the change in a plan. Two plans of one module have the same form if and only if they would change the
 * same objects in the same way. It contains the values before and after, including sensitive ones, so its hash could confirm
 * guesses of secrets. Therefore the hash leaves the runner only in keyed form (`keyedChange`).
 */

/**
 * The parts of the tool's document that do not describe the change. All other parts are hashed, so a part that a later tool
 * version adds can only make digests differ.
 *
 * - `configuration`, `variables`: files and inputs, which are compared separately, byte for byte
 * - `planned_values`, `prior_state`, `relevant_attributes`: also contain objects that do not change
 * - `timestamp`, `terraform_version`, `format_version`, `applyable`, `complete`, `errored`: metadata about the plan
 * - `resource_drift`: drift that happened outside svc, which is recorded only by a plan that accepts drift
 */
const otherParts = new Set([
  "applyable",
  "complete",
  "configuration",
  "errored",
  "format_version",
  "planned_values",
  "prior_state",
  "relevant_attributes",
  "resource_drift",
  "terraform_version",
  "timestamp",
  "variables"
])

const isObject = (value: Schema.Json | undefined): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isList = (value: Schema.Json | undefined): value is ReadonlyArray<Schema.Json> => Array.isArray(value)
const member = (value: Schema.Json | undefined, name: string) =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

const isNoOperation = (change: Schema.Json | undefined): boolean => {
  const actions = member(change, "actions")
  return isList(actions) && actions.every((action) => action === "no-op")
}

/** Returns true if the plan changes, imports or moves an object. */
const isChange = (planned: Schema.Json): boolean => {
  const change = member(planned, "change")
  return !isNoOperation(change) || member(change, "importing") != null || member(planned, "previous_address") != null
}

type Formatted = (value: Schema.Json) => string

const record = (entries: ReadonlyArray<readonly [string, Schema.Json]>, formatted: Formatted) =>
  `{${entries
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}:${formatted(value)}`)
    .join(",")}}`

/** Formats the items in sorted order, because the order of the tool's lists of changes does not matter. */
const unordered = (items: ReadonlyArray<Schema.Json>, formatted: Formatted) =>
  `[${items.map(formatted).sort().join(",")}]`

const partOf = (name: string, part: Schema.Json, formatted: Formatted): string | undefined => {
  if (isList(part)) {
    const items = name === "resource_changes" ? part.filter(isChange) : part
    return items.length === 0 ? undefined : unordered(items, formatted)
  }
  if (name !== "output_changes" || !isObject(part)) return part === null ? undefined : formatted(part)
  const changed = Object.entries(part).filter(([, change]) => !isNoOperation(change))
  return changed.length === 0 ? undefined : record(changed, formatted)
}

const isJsonObject = (value: unknown): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * The hash of a change. It has two parts: the plan's changes, and the drift that happened outside svc, which only some plans
 * accept.
 */
export interface ChangeHash {
  readonly change: string
  readonly drift: string
}

/**
 * Hashes the change in the tool's JSON plan. Returns `undefined` for any other document. It compares numbers digit by digit,
 * so all of these pairs differ: 1 and 1.0, two numbers that round to the same double, and a number and a string with the
 * same digits.
 */
export const changeHash = (plan: string): ChangeHash | undefined => {
  // The document cannot contain this mark, so the mark distinguishes numbers from strings while JSON.parse treats both as
  // strings.
  const mark = `number-${randomUUID()}:`
  const document: unknown = JSON.parse(withNumbers(plan, (number) => `"${mark}${number}"`))
  if (!isJsonObject(document)) return undefined
  const formatted: Formatted = (value) => {
    if (typeof value === "string") return value.startsWith(mark) ? value.slice(mark.length) : JSON.stringify(value)
    if (isList(value)) return `[${value.map(formatted).join(",")}]`
    return isObject(value) ? record(Object.entries(value), formatted) : JSON.stringify(value)
  }
  const change = createHash("sha256")
  for (const [name, part] of Object.entries(document).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const text = otherParts.has(name) ? undefined : partOf(name, part, formatted)
    // The name is quoted and the text is canonical JSON, so different lists of parts never produce the same bytes.
    if (text !== undefined) change.update(`${JSON.stringify(name)}:${text}\n`)
  }
  const drift = createHash("sha256").update(
    partOf("resource_changes", document["resource_drift"] ?? [], formatted) ?? ""
  )
  return { change: change.digest("hex"), drift: drift.digest("hex") }
}

/**
 * Returns the keyed digest of a change. `changeKey` is the Capsule's key from the job: with an unkeyed hash, anybody who may
 * read results could confirm guesses of secret values. The control plane keys the digest a second time before it stores or
 * shows it, because agents have `changeKey` and could confirm guesses with the digests in the API.
 */
export const keyedChange = (changeKey: string, mode: PlanJob["mode"], { change, drift }: ChangeHash): string =>
  createHmac("sha256", changeKey)
    .update(mode === "refresh_only" ? `${mode}:${change}:${drift}` : `${mode}:${change}`)
    .digest("hex")
