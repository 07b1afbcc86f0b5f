import type { Schema } from "effect"
import type { OutputChange, PlanCheck, PlanDetails, ResourceChange } from "../../../schema/records/PlanDetails.ts"
import type { Run } from "../../../schema/records/Run.ts"

/** Version of the tool's plan format: https://developer.hashicorp.com/terraform/internals/json-format. */
const formatVersion = "1.2"

type Json = Schema.Json
type Members = Readonly<Record<string, Json>>

interface Place {
  /** Positions of the dots between the steps of the address. */
  readonly dots: ReadonlyArray<number>
  /** Position at which the instance key in the last step starts, if that step has a key. */
  readonly key: number | undefined
}

/** Parses the steps of an address. Instance keys may contain any character. */
const placeOf = (address: string): Place => {
  const dots: Array<number> = []
  let key: number | undefined
  let isQuoted = false
  for (let at = 0; at < address.length; at++) {
    const char = address[at]
    if (isQuoted && char === "\\") at++
    else if (char === '"') isQuoted = !isQuoted
    else if (!isQuoted && char === ".") {
      dots.push(at)
      key = undefined
    } else if (!isQuoted && char === "[") key = at
  }
  return { dots, key }
}

/** Parses the module path and the instance key of a resource from its address. */
const partsOf = ({ address, mode }: ResourceChange): Members => {
  const { dots, key } = placeOf(address)
  const end = dots.at(mode === "data" ? -3 : -2)
  const index = key === undefined ? undefined : address.slice(key + 1, -1)
  return {
    ...(end === undefined ? {} : { module_address: address.slice(0, end) }),
    ...(index === undefined
      ? {}
      : { index: index.startsWith('"') ? index.slice(1, -1).replaceAll(/\\(.)/g, "$1") : Number(index) })
  }
}

/** Converts paths into the tool's nested marks. Omits unmarked members. */
const marked = (paths: ReadonlyArray<ReadonlyArray<string | number>>): Json => {
  if (paths.some((path) => path.length === 0)) return true
  const heads = new Map<string | number, Array<ReadonlyArray<string | number>>>()
  for (const [head, ...rest] of paths) if (head !== undefined) heads.set(head, [...(heads.get(head) ?? []), rest])
  const isList = [...heads.keys()].every((head) => typeof head === "number")
  if (!isList) return Object.fromEntries([...heads].map(([head, rest]) => [String(head), marked(rest)]))
  const length = Math.max(...[...heads.keys()].map(Number)) + 1
  return Array.from({ length }, (_, at) => marked(heads.get(at) ?? []))
}

type Attribute = ResourceChange["changedAttributes"][number]

/** Returns true if this side of the change exists and its value is hidden. Older records do not distinguish the sides. */
const isHidden = (one: Attribute, side: "before" | "after"): boolean =>
  one.sensitive === true &&
  (one[`${side}Sensitive`] !== undefined || (one.beforeSensitive === undefined && one.afterSensitive === undefined))

/** Returns one side of the attributes. Hidden values are null and marked as sensitive. */
const sideOf = (attributes: ReadonlyArray<Attribute>, side: "before" | "after"): Json =>
  Object.fromEntries(
    attributes.flatMap((one): ReadonlyArray<readonly [string, Json]> => {
      const value = one[side]
      if (value !== undefined) return [[one.name, value]]
      return isHidden(one, side) ? [[one.name, null]] : []
    })
  )

const sensitiveOf = (attributes: ReadonlyArray<Attribute>, side: "before" | "after"): Json =>
  Object.fromEntries(attributes.flatMap((one) => (isHidden(one, side) ? [[one.name, true]] : [])))

const unknownOf = (attributes: ReadonlyArray<Attribute>): Members =>
  Object.fromEntries(
    attributes.flatMap((one): ReadonlyArray<readonly [string, Json]> => {
      if (one.unknown === true) return [[one.name, true]]
      const { unknownPaths = [] } = one
      return unknownPaths.length === 0 ? [] : [[one.name, marked(unknownPaths)]]
    })
  )

const resourceChange = (change: ResourceChange): Json => {
  const { actions, changedAttributes: attributes } = change
  const before = !(actions.length === 1 && (actions[0] === "create" || actions[0] === "read"))
  const after = !(actions.length === 1 && (actions[0] === "delete" || actions[0] === "forget"))
  const forcing = attributes.filter(({ forcesReplacement }) => forcesReplacement === true).map(({ name }) => [name])
  return {
    address: change.address,
    ...(change.previousAddress === undefined ? {} : { previous_address: change.previousAddress }),
    ...partsOf(change),
    mode: change.mode,
    type: change.type,
    name: change.name,
    provider_name: change.provider,
    ...(change.deposed === undefined ? {} : { deposed: change.deposed }),
    change: {
      actions: [...actions],
      before: before ? sideOf(attributes, "before") : null,
      after: after ? sideOf(attributes, "after") : null,
      after_unknown: after ? unknownOf(attributes) : {},
      before_sensitive: before ? sensitiveOf(attributes, "before") : false,
      after_sensitive: after ? sensitiveOf(attributes, "after") : false,
      ...(forcing.length === 0 ? {} : { replace_paths: forcing }),
      ...(change.importing === undefined ? {} : { importing: change.importing })
    },
    ...(change.reason === undefined || !/^[a-z_]+$/.test(change.reason) ? {} : { action_reason: change.reason })
  }
}

const outputChange = ({ actions, after, before, sensitive, unknown }: OutputChange): Json => ({
  actions: [...actions],
  before: before ?? null,
  ...(unknown === true ? { after_unknown: true } : { after: after ?? null, after_unknown: false }),
  before_sensitive: sensitive,
  after_sensitive: sensitive
})

const check = ({ address, instances, kind, status }: PlanCheck): Json => ({
  address: { kind, to_display: address },
  status,
  instances: instances.map((one) => ({
    address: { to_display: one.address },
    status: one.status,
    ...(one.problems === undefined ? {} : { problems: one.problems.map((message) => ({ message })) })
  }))
})

/**
 * Converts a plan into the tool's own format, for programs that read it. The result contains only what reviewers see: secret and
 * hidden values are null, unchanged attributes are omitted, and there are no variables, state or configuration.
 */
export const planJson = (run: PlanDetails & Pick<Run, "tool">): Json => ({
  format_version: formatVersion,
  ...(run.tool === undefined ? {} : { terraform_version: run.tool.version }),
  resource_changes: (run.resourceChanges ?? []).map(resourceChange),
  output_changes: Object.fromEntries((run.outputChanges ?? []).map((one) => [one.name, outputChange(one)])),
  resource_drift: (run.resourceDrift ?? []).map(resourceChange),
  checks: (run.checks ?? []).map(check)
})
