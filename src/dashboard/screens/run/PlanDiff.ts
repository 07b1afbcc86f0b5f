import type { ChangedAttribute, OutputChange, ResourceChange } from "../../api/Types.ts"
import type { Verb } from "../../ui/VerbIcon.tsx"
import { structureOf } from "../../value-difference/JsonValue.ts"
import { visibleText } from "../../../../schema/records/VisibleText.ts"

export type ChangeKind = Verb

/** Sort order of changes, dangerous ones first. */
export const riskOrder: ReadonlyArray<ChangeKind> = [
  "destroy",
  "replace",
  "forget",
  "update",
  "create",
  "import",
  "move",
  "read",
  "none"
]

/**
 * The verb for a change. If several verbs fit, returns the verb for the riskiest action: for example, an import that also
 * changes the resource counts as a change.
 */
export const changeKind = (change: Pick<ResourceChange, "actions" | "importing" | "previousAddress">): ChangeKind => {
  const { actions, importing, previousAddress } = change
  const has = (action: string) => actions.includes(action)
  if (has("delete") && has("create")) return "replace"
  if (has("delete")) return "destroy"
  if (has("forget")) return "forget"
  if (importing !== undefined || has("import")) return "import"
  if (has("update")) return "update"
  if (has("create")) return "create"
  if (has("read")) return "read"
  return previousAddress === undefined ? "none" : "move"
}

/** Number of resources whose address is all that changes. The tool's summary does not count them. */
export const movesOf = (changes: ReadonlyArray<ResourceChange>): number =>
  changes.filter((change) => changeKind(change) === "move").length

/** Returns true if the existing object is removed, either permanently or for a replacement. */
export const isLoss = (kind: ChangeKind): boolean => kind === "destroy" || kind === "replace"

const labelAttributes = /^(?:tags|tags_all|labels|annotations|metadata_labels|description)(?:\W|$)/

const isLabel = ({ name }: ChangedAttribute): boolean => labelAttributes.test(name)
const isQuiet = (attribute: ChangedAttribute): boolean => attribute.unknown === true || isLabel(attribute)

/**
 * Returns true if a change is collapsed under its own heading. Such a change either has no effect, or only updates labels in
 * place with the values recomputed for them. Changes that create, import, move, replace or destroy are never collapsed, nor are
 * changes with a hidden value or an unknown cause.
 */
export const isNoise = (change: ResourceChange): boolean => {
  const kind = changeKind(change)
  if (kind === "none") return true
  if (kind !== "update" || change.previousAddress !== undefined) return false
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
  changeName(a).localeCompare(changeName(b), "en", { numeric: true })

const fold = (text: string): string => text.normalize("NFKC").toLowerCase()

/**
 * Groups changes by risk and collapses the insignificant ones. Drift is never collapsed, because nobody has planned it. `search`
 * matches addresses, types and attribute names.
 */
export const diffOf = (changes: ReadonlyArray<ResourceChange>, search = "", isDrift = false): Diff => {
  const wanted = fold(search)
    .split(/\s+/)
    .filter((word) => word !== "")
  const shown = changes.filter((change) => {
    const text = fold(
      `${changeName(change)} ${change.deposed === undefined ? "" : "deposed"} ${change.tainted === true ? "tainted" : ""} ${change.previousAddress ?? ""} ${change.importing?.id ?? ""} ${change.type} ${changeKind(change)} ${change.changedAttributes.map(({ name }) => name).join(" ")}`
    )
    return wanted.every((word) => text.includes(word))
  })
  const isFolded = (change: ResourceChange) => !isDrift && isNoise(change)
  const noise = shown.filter(isFolded)
  const loud = shown.filter((change) => !isFolded(change))
  return {
    groups: riskOrder
      .map((kind) => ({ kind, changes: loud.filter((change) => changeKind(change) === kind).sort(byAddress) }))
      .filter((group) => group.changes.length > 0),
    noise: noise.sort(byAddress),
    total: shown.length
  }
}

/** Number of destroyed or replaced objects, for the approver. */
export const losses = (changes: ReadonlyArray<ResourceChange>): number =>
  changes.filter((change) => changeKind(change) === "destroy" || changeKind(change) === "replace").length

/** One side of an attribute: absent, null, hidden, unknown, or a value. */
export type Side =
  | { readonly kind: "absent" | "null" | "hidden" | "later" }
  | { readonly kind: "value"; readonly value: unknown }

const sideOf = (value: unknown): Side => {
  if (value === undefined) return { kind: "absent" }
  return value === null ? { kind: "null" } : { kind: "value", value }
}

/** The fields of a resource's or an Output's change that `sidesOf` reads. */
export type ChangedSides = Pick<
  ChangedAttribute,
  "before" | "after" | "sensitive" | "beforeSensitive" | "afterSensitive" | "unknown" | "unknownPaths"
>

/**
 * Returns the sides on which a hidden value exists. Earlier releases did not record the sides, so they are derived from the
 * actions.
 */
const hiddenSides = ({ afterSensitive, beforeSensitive }: ChangedSides, actions: ReadonlyArray<string>) => {
  if (beforeSensitive !== undefined || afterSensitive !== undefined)
    return { before: beforeSensitive !== undefined, after: afterSensitive !== undefined }
  const [only, ...others] = actions
  return { before: others.length > 0 || only !== "create", after: others.length > 0 || only !== "delete" }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const sizeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return `(${value.length} items)`
  return isRecord(value) ? `(${Object.keys(value).length} keys)` : value
}

/**
 * Returns the value with the part at a path replaced by the size of that part, so that a part that will be known later is
 * not shown as deleted.
 */
const withSizeAt = (value: unknown, [step, ...rest]: ReadonlyArray<string | number>): unknown => {
  if (step === undefined) return sizeOf(value)
  if (Array.isArray(value)) return value.map((member, index) => (index === step ? withSizeAt(member, rest) : member))
  if (!isRecord(value) || !Object.hasOwn(value, step)) return value
  return { ...value, [step]: withSizeAt(value[step], rest) }
}

/** Returns the two sides of a value. A hidden value is never shown, and a value that is computed later is not known yet. */
export const sidesOf = (
  changed: ChangedSides,
  actions: ReadonlyArray<string> = []
): { readonly before: Side; readonly after: Side } => {
  const later: Side = { kind: "later" }
  if (changed.sensitive === true) {
    const exists = hiddenSides(changed, actions)
    const side = (isThere: boolean): Side => ({ kind: isThere ? "hidden" : "absent" })
    return { before: side(exists.before), after: changed.unknown === true ? later : side(exists.after) }
  }
  const before = (changed.unknownPaths ?? []).reduce<unknown>(withSizeAt, changed.before)
  return { before: sideOf(before), after: changed.unknown === true ? later : sideOf(changed.after) }
}

/** Maximum length of a value on the same line as its attribute. */
const longestInline = 60

/** Returns a value as one short line, or `undefined` for a longer value, which is shown below its attribute. */
export const inlineText = (value: unknown): string | undefined => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  if (text.length > longestInline || text.includes("\n")) return undefined
  // Splits even a short document in a string across several lines, because that is easier to read.
  return typeof value === "string" && structureOf(value) !== undefined ? undefined : visibleText(JSON.stringify(value))
}

const markedPart = /"(\((?:known after apply|sensitive value)\))"/

/** A part of an inline value: text, or a part that the plan does not show. */
export type InlinePart = { readonly kind: "text"; readonly text: string } | { readonly kind: "later" | "hidden" }

/**
 * An inline value with its unknown and sensitive parts. If the value is a string, words such as `(sensitive value)` are
 * ordinary text.
 */
export const inlineParts = (value: unknown): ReadonlyArray<InlinePart> => {
  const text = inlineText(value) ?? ""
  if (typeof value === "string") return [{ kind: "text", text }]
  return text
    .split(markedPart)
    .map(
      (part, index): InlinePart =>
        index % 2 === 0 ? { kind: "text", text: part } : { kind: part === "(sensitive value)" ? "hidden" : "later" }
    )
    .filter((part) => part.kind !== "text" || part.text !== "")
}

export interface AttributeGroups {
  /** Attributes that force a replacement come first. */
  readonly shown: ReadonlyArray<ChangedAttribute>
  /** Attributes that are known only after the apply. */
  readonly later: ReadonlyArray<string>
}

/** A change's attributes, most important first. */
export const attributesOf = ({ changedAttributes }: Pick<ResourceChange, "changedAttributes">): AttributeGroups => {
  const isLater = ({ after, before, forcesReplacement, unknown }: ChangedAttribute) =>
    unknown === true && before === undefined && after === undefined && forcesReplacement !== true
  const rank = ({ forcesReplacement, unknown }: ChangedAttribute) =>
    forcesReplacement === true ? 0 : unknown === true ? 2 : 1
  return {
    shown: changedAttributes
      .filter((attribute) => !isLater(attribute))
      .toSorted((left, right) => rank(left) - rank(right)),
    later: changedAttributes.filter(isLater).map(({ name }) => name)
  }
}

/** The name of a change within its plan. An address may have deposed objects in addition to the live object. */
export const changeName = ({ address, deposed }: Pick<ResourceChange, "address" | "deposed">): string =>
  deposed === undefined ? address : `${address} ${deposed}`

/** Splits `module.network.aws_subnet.private["a"]` into the location of the resource and its name. */
export const splitAddress = (change: Pick<ResourceChange, "address" | "type">): readonly [string, string] => {
  const address = visibleText(change.address)
  const at = address.indexOf(`${change.type}.`)
  return at <= 0 ? ["", address] : [address.slice(0, at), address.slice(at)]
}

/**
 * Returns true if a reviewer has to see the Output: changed Outputs, and Outputs that remain private because they contain
 * secrets.
 */
export const isShownOutput = ({
  actions,
  publication,
  reason
}: Pick<OutputChange, "actions" | "publication" | "reason">): boolean =>
  reason !== undefined || publication !== undefined || !actions.every((action) => action === "no-op")
