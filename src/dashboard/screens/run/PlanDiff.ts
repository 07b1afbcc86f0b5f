import type { ChangedAttribute, OutputChange, ResourceChange } from "../../api/Types.ts"

export type ChangeKind = "destroy" | "replace" | "update" | "create" | "import" | "forget" | "read" | "none"

/** Dangerous changes first. */
export const riskOrder: ReadonlyArray<ChangeKind> = [
  "destroy",
  "replace",
  "forget",
  "update",
  "create",
  "import",
  "read",
  "none"
]

export const changeKind = (change: Pick<ResourceChange, "actions">): ChangeKind => {
  const { actions } = change
  const has = (action: string) => actions.includes(action)
  if (has("delete") && has("create")) return "replace"
  if (has("delete")) return "destroy"
  if (has("forget")) return "forget"
  if (has("update")) return "update"
  if (has("create")) return "create"
  if (has("import")) return "import"
  if (has("read")) return "read"
  return "none"
}

/** Whether the existing object goes away, for good or for a successor. */
export const isLoss = (kind: ChangeKind): boolean => kind === "destroy" || kind === "replace"

const labelAttributes = /^(?:tags|tags_all|labels|annotations|metadata_labels|description)(?:\W|$)/

const isLabel = ({ name }: ChangedAttribute): boolean => labelAttributes.test(name)
const isQuiet = (attribute: ChangedAttribute): boolean => attribute.unknown === true || isLabel(attribute)

/**
 * A change that a reviewer may skip: nothing at all, a read, or an in-place update of labels with what is recomputed for it.
 * Never one that creates, replaces or destroys, never one with a hidden value or an unknown cause.
 */
export const isNoise = (change: ResourceChange): boolean => {
  const kind = changeKind(change)
  if (kind === "none" || kind === "read") return true
  if (kind !== "update") return false
  return (
    change.changedAttributes.some((attribute) => isLabel(attribute) && attribute.unknown !== true) &&
    change.changedAttributes.every((attribute) => attribute.sensitive !== true && isQuiet(attribute))
  )
}

export interface DiffGroup {
  readonly kind: ChangeKind
  readonly changes: ReadonlyArray<ResourceChange>
}

export interface Diff {
  readonly groups: ReadonlyArray<DiffGroup>
  readonly noise: ReadonlyArray<ResourceChange>
  readonly total: number
}

const byAddress = (a: ResourceChange, b: ResourceChange): number =>
  a.address.localeCompare(b.address, "en", { numeric: true })

const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

/** Groups changes by risk and folds the noise away; `search` looks at addresses, types and attribute names. */
export const diffOf = (changes: ReadonlyArray<ResourceChange>, search = ""): Diff => {
  const wanted = fold(search)
    .split(/\s+/)
    .filter((word) => word !== "")
  const shown = changes.filter((change) => {
    const text = fold(
      `${change.address} ${change.type} ${changeKind(change)} ${change.changedAttributes.map(({ name }) => name).join(" ")}`
    )
    return wanted.every((word) => text.includes(word))
  })
  const noise = shown.filter(isNoise)
  const loud = shown.filter((change) => !isNoise(change))
  return {
    groups: riskOrder
      .map((kind) => ({ kind, changes: loud.filter((change) => changeKind(change) === kind).sort(byAddress) }))
      .filter((group) => group.changes.length > 0),
    noise: noise.sort(byAddress),
    total: shown.length
  }
}

/** How many things cease to exist, for the approver: destroyed and replaced ones. */
export const losses = (changes: ReadonlyArray<ResourceChange>): number =>
  changes.filter((change) => changeKind(change) === "destroy" || changeKind(change) === "replace").length

/** Characters that reorder text or are invisible could make two values look alike, so they are shown to the reviewer. */
const visible = (text: string): string =>
  text.replace(/[\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)

/** Reformatting a document preserves it only when no key is repeated and every number fits a double. */
const laidOut = (document: string): string | undefined => {
  const outside = document.replace(/"(?:[^"\\]|\\.)*"/g, "")
  if (/\d{16}/.test(outside)) return undefined
  let members = 0
  try {
    const value: unknown = JSON.parse(document, (_key, inner: unknown) => {
      if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) members += Object.keys(inner).length
      return inner
    })
    return members === outside.split(":").length - 1 ? JSON.stringify(value, null, 2) : undefined
  } catch {
    return undefined
  }
}

const jsonText = (value: unknown): string => {
  if (typeof value !== "string") return visible(JSON.stringify(value, null, 2))
  const trimmed = value.trim()
  // Policies and templates arrive as JSON in a string; one line per field makes their difference readable.
  const document = trimmed.startsWith("{") || trimmed.startsWith("[") ? laidOut(trimmed) : undefined
  return visible(document ?? JSON.stringify(value))
}

export type ShownValue =
  | { readonly kind: "absent" | "null" | "hidden" | "later" }
  | { readonly kind: "text"; readonly text: string }

const shown = (value: unknown): ShownValue => {
  if (value === undefined) return { kind: "absent" }
  if (value === null) return { kind: "null" }
  return { kind: "text", text: jsonText(value) }
}

/** The two sides of an attribute: a hidden value is never shown, a later one is not known yet. */
export const sidesOf = (attribute: ChangedAttribute): { readonly before: ShownValue; readonly after: ShownValue } => {
  if (attribute.sensitive === true) {
    return {
      before:
        attribute.before === undefined && !Object.hasOwn(attribute, "before") ? { kind: "absent" } : { kind: "hidden" },
      after: attribute.unknown === true ? { kind: "later" } : { kind: "hidden" }
    }
  }
  return {
    before: shown(attribute.before),
    after: attribute.unknown === true ? { kind: "later" } : shown(attribute.after)
  }
}

/** `module.network.aws_subnet.private["a"]` split into the part that locates and the part that names. */
export const splitAddress = (change: Pick<ResourceChange, "address" | "type">): readonly [string, string] => {
  const address = visible(change.address)
  const at = address.indexOf(`${change.type}.`)
  return at <= 0 ? ["", address] : [address.slice(0, at), address.slice(at)]
}

/** What a reviewer must see of the Outputs: changes, and those that stay private for the secrets in them. */
export const isShownOutput = ({ actions, reason }: Pick<OutputChange, "actions" | "reason">): boolean =>
  reason !== undefined || !actions.every((action) => action === "no-op")
