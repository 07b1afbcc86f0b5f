import { Effect, Schema } from "effect"
import type { ChangeReferences } from "../../schema/records/ChangeEvidence.ts"
import {
  type ChangedAttribute,
  CheckStatus,
  type OutputChange,
  type PlanCheck,
  type PlanSummary,
  type ResourceChange
} from "../../schema/records/PlanDetails.ts"
import { type Hide, redacted, type RunRedactor } from "../redaction/RunRedactor.ts"
import { type HeldSecrets, heldSecrets } from "./OutputPrivacy.ts"
import type { PlanDocument, PlannedChange, PlannedCheck, PlannedResourceChange } from "./PlanDocument.ts"
import { planReferences } from "./PlanReferences.ts"
import type { PlannedOutput } from "./RunOutcome.ts"
import { type Marks, marksOf, maskValue, sensitiveTexts } from "./SensitiveMask.ts"
import { normaliseProviderAddress } from "../../schema/records/NormaliseProviderAddress.ts"

type Attribute = typeof ChangedAttribute.Type

/** Maximum length of a value as JSON text. svc shows the size of longer values instead. */
const longestValue = 1024 * 1024
/**
 * Budget for all long values of a plan's resources. The plan's Outputs have a separate budget of the same size. svc stores
 * these values with the Run and sends them to every reader.
 */
const longValuesInAll = 4 * 1024 * 1024
/** Values that are no longer than this are always shown. */
const shortValue = 4 * 1024

const isPresent = (value: Schema.Json | undefined): value is Schema.Json => value !== undefined && value !== null

/** The remaining budget for long values of a plan. */
interface Room {
  left: number
}

const bounded = (value: Schema.Json, room: Room): Schema.Json => {
  const size = JSON.stringify(value).length
  if (size <= shortValue) return value
  if (size > longestValue || size > room.left) return `(${size} characters, too long to show)`
  room.left -= size
  return value
}

const isObject = (value: Schema.Json | undefined): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const keys = (value: Schema.Json | undefined) => (isObject(value) ? Object.keys(value) : [])
const member = (value: Schema.Json | undefined, key: string) =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

const isUnknown = (marks: Marks): boolean => {
  if (typeof marks !== "object" || marks === null) return marks === true
  return Object.values(marks).some(isUnknown)
}

type Path = ReadonlyArray<string | number>

/** Maximum number of unknown parts that are listed for one value. */
const mostPaths = 256

/** Returns the paths of the marked parts of a value, outermost first. */
const markedPaths = (marks: Marks): ReadonlyArray<Path> => {
  const found: Array<Path> = []
  const visit = (mark: Marks, path: Path): void => {
    if (found.length >= mostPaths) return
    if (mark === true) found.push(path)
    else if (Array.isArray(mark)) for (const [index, inner] of mark.entries()) visit(inner, [...path, index])
    else if (isObject(mark)) for (const [key, inner] of Object.entries(mark)) visit(inner, [...path, key])
  }
  visit(marks, [])
  return found
}

/** Returns the sensitivity before and after the change, omitting a side that does not exist. */
const sensitivityOf = (
  sides: { readonly before: boolean; readonly after: boolean },
  marked: { readonly before: boolean; readonly after: boolean }
) => ({
  ...(sides.before ? { beforeSensitive: marked.before } : {}),
  ...(sides.after ? { afterSensitive: marked.after } : {})
})

/** Returns true if an update changes only the sensitivity of parts of a value. */
const isRemarked = (change: PlannedChange, before: Marks, after: Marks): boolean =>
  change.actions.includes("update") && JSON.stringify(markedPaths(before)) !== JSON.stringify(markedPaths(after))

const changedAttribute = (change: PlannedChange, name: string, room: Room): Attribute | undefined => {
  const before = member(change.before, name)
  const after = member(change.after, name)
  const unknown = marksOf(change.after_unknown ?? undefined, name)
  const sensitiveBefore = marksOf(change.before_sensitive ?? undefined, name)
  const sensitiveAfter = marksOf(change.after_sensitive ?? undefined, name)
  const same = JSON.stringify(before ?? null) === JSON.stringify(after ?? null) && !isUnknown(unknown)
  const remarked = same && isRemarked(change, sensitiveBefore, sensitiveAfter)
  if (same && !remarked) return undefined
  if (sensitiveBefore === true || sensitiveAfter === true || remarked) {
    return {
      name,
      sensitive: true,
      ...sensitivityOf(
        { before: isPresent(before), after: isPresent(after) || unknown === true },
        { before: isUnknown(sensitiveBefore), after: isUnknown(sensitiveAfter) }
      ),
      ...(unknown === true ? { unknown: true } : {})
    }
  }
  const unknownPaths = unknown === true ? [] : markedPaths(unknown)
  const shownAfter = isPresent(after) || (isUnknown(unknown) && unknown !== true)
  return {
    name,
    ...(isPresent(before) ? { before: bounded(maskValue(before, sensitiveBefore, undefined), room) } : {}),
    ...(shownAfter ? { after: bounded(maskValue(after ?? {}, sensitiveAfter, unknown), room) } : {}),
    ...(unknown === true ? { unknown: true } : {}),
    ...(unknownPaths.length === 0 ? {} : { unknownPaths })
  }
}

/** Returns the attributes whose change forces the tool to replace the resource: the first step of each replace path. */
const forcingAttributes = ({ replace_paths }: PlannedChange): ReadonlySet<Schema.Json | undefined> =>
  new Set((replace_paths ?? []).map((path) => (Array.isArray(path) ? path[0] : path)))

const isMoved = ({ address, previous_address }: PlannedResourceChange) =>
  previous_address !== undefined && previous_address !== address

const resourceChange = (planned: PlannedResourceChange, room: Room): ResourceChange => {
  const { change } = planned
  const forcing = forcingAttributes(change)
  const importId = change.importing?.id
  const names = new Set([...keys(change.before), ...keys(change.after), ...keys(change.after_unknown)])
  const reason = planned.action_reason ?? (isMoved(planned) ? `moved from ${planned.previous_address}` : undefined)
  return {
    address: planned.address,
    ...(planned.deposed === undefined ? {} : { deposed: planned.deposed }),
    ...(planned.action_reason === "replace_because_tainted" ? { tainted: true } : {}),
    mode: planned.mode ?? "managed",
    type: planned.type,
    name: planned.name,
    provider: normaliseProviderAddress(planned.provider_name ?? ""),
    actions: change.actions,
    ...(reason === undefined ? {} : { reason }),
    ...(isImport(change) ? { importing: typeof importId === "string" ? { id: importId } : {} } : {}),
    ...(isMoved(planned) && planned.previous_address !== undefined
      ? { previousAddress: planned.previous_address }
      : {}),
    changedAttributes: [...names].sort().flatMap((name) => {
      const attribute = changedAttribute(change, name, room)
      if (attribute === undefined) return []
      return [forcing.has(name) ? { ...attribute, forcesReplacement: true } : attribute]
    })
  }
}

const isNoOperation = (change: PlannedChange) => change.actions.every((action) => action === "no-op")

const isShown = (planned: PlannedResourceChange) =>
  !isNoOperation(planned.change) || isImport(planned.change) || isMoved(planned)

const isImport = (change: PlannedChange) => change.importing !== undefined && change.importing !== null

const planSummary = (changes: ReadonlyArray<PlannedResourceChange>): PlanSummary => {
  const managed = changes.filter((planned) => (planned.mode ?? "managed") === "managed").map(({ change }) => change)
  const count = (matches: (actions: ReadonlyArray<string>) => boolean) =>
    managed.filter((change) => matches(change.actions)).length
  const only = (action: string) => (actions: ReadonlyArray<string>) => actions.length === 1 && actions[0] === action
  return {
    add: count(only("create")),
    change: count(only("update")),
    destroy: count(only("delete")),
    replace: count((actions) => actions.length > 1 && actions.includes("create")),
    import: managed.filter(isImport).length,
    forget: count((actions) => actions.includes("forget") && !actions.includes("create"))
  }
}

/**
 * Returns true if the module marks an Output as sensitive, or `undefined` if the plan does not contain the Output's
 * declaration.
 */
export const isDeclaredSensitive = ({ configuration }: PlanDocument, name: string): boolean | undefined => {
  const { outputs } = configuration?.root_module ?? {}
  if (outputs === undefined || outputs === null || !Object.hasOwn(outputs, name)) return undefined
  return outputs[name]?.sensitive === true
}

/** Facts about a plan's Outputs that are not in the plan. */
interface ProjectedOutputs {
  /** The sensitivity of each Output of the base state. */
  readonly stored?: ReadonlyMap<string, boolean> | undefined
  /**
   * For Outputs that lose their mark, the secrets that they repeat. An Output's own earlier value is not treated as a
   * secret.
   */
  readonly unmarked?: ReadonlyMap<string, HeldSecrets | undefined> | undefined
}

/**
 * Returns the sensitivity of an Output before and after the change. The plan has a single mark for both sides, so the exact marks
 * are taken from the state and the configuration.
 */
interface OutputMarks {
  readonly before: boolean
  readonly after: boolean
}

const outputMarks = (
  plan: PlanDocument,
  { stored }: ProjectedOutputs,
  name: string,
  change: PlannedChange
): OutputMarks => ({
  before: stored?.get(name) ?? isUnknown(change.before_sensitive ?? undefined),
  after: isDeclaredSensitive(plan, name) ?? isUnknown(change.after_sensitive ?? undefined)
})

const outputChange = (name: string, change: PlannedChange, marks: OutputMarks, room: Room): OutputChange => {
  const isDeleted = change.actions.includes("delete")
  const sides = { before: isPresent(change.before), after: !isDeleted }
  // Like the tool, hide both sides if either is sensitive.
  const sensitive = (sides.before && marks.before) || (sides.after && marks.after)
  const unknown = isUnknown(change.after_unknown ?? undefined)
  return {
    name,
    actions: change.actions,
    sensitive,
    ...(sensitive ? sensitivityOf(sides, marks) : {}),
    ...(unknown ? { unknown } : {}),
    ...(sensitive || !isPresent(change.before) ? {} : { before: bounded(change.before, room) }),
    ...(sensitive || change.after_unknown === true || !isPresent(change.after)
      ? {}
      : { after: bounded(maskValue(change.after, undefined, change.after_unknown ?? undefined), room) })
  }
}

export interface PlanProjection {
  readonly summary: PlanSummary
  readonly resourceChanges: ReadonlyArray<ResourceChange>
  readonly outputChanges: ReadonlyArray<OutputChange>
  readonly resourceDrift: ReadonlyArray<ResourceChange>
  readonly plannedOutputs: ReadonlyArray<PlannedOutput>
  /** Absent if the module declares no conditions. */
  readonly checks?: ReadonlyArray<PlanCheck>
}

/** Returns all strings that the plan marks as sensitive, except the values of `unmarked` Outputs. */
export const planSensitiveTexts = (
  plan: PlanDocument,
  unmarked: ReadonlySet<string> = new Set()
): ReadonlyArray<string> => {
  const ofChange = (change: PlannedChange) => [
    ...sensitiveTexts(change.before ?? undefined, change.before_sensitive ?? undefined),
    ...sensitiveTexts(change.after ?? undefined, change.after_sensitive ?? undefined)
  ]
  const declared = plan.configuration?.root_module?.variables ?? {}
  return [
    ...[...(plan.resource_changes ?? []), ...(plan.resource_drift ?? [])].flatMap(({ change }) => ofChange(change)),
    ...Object.entries(plan.output_changes ?? {}).flatMap(([name, change]) =>
      unmarked.has(name) ? [] : ofChange(change)
    ),
    ...Object.entries(plan.variables ?? {}).flatMap(([name, { value }]) =>
      declared[name]?.sensitive === true ? sensitiveTexts(value, true) : []
    )
  ]
}

const plannedValue = ({ after, after_unknown }: PlannedChange) =>
  maskValue(after ?? null, undefined, after_unknown ?? undefined)

/** Returns the secrets that each Output will repeat after the apply. */
export const plannedSecrets = (
  plan: PlanDocument,
  redactor: RunRedactor,
  names: ReadonlySet<string>
): Effect.Effect<ReadonlyMap<string, HeldSecrets | undefined>> =>
  redacted(
    redactor,
    (hide) =>
      new Map(
        Object.entries(plan.output_changes ?? {}).flatMap(([name, change]) =>
          names.has(name) ? [[name, heldSecrets(hide, plannedValue(change))] as const] : []
        )
      )
  )

/** A planned Output as shown to reviewers, and a flag for whether the Output is private after the apply. */
interface ShownOutput {
  readonly shown: OutputChange
  readonly isPrivate: boolean
}

const shownOutput = (
  hide: Hide,
  name: string,
  change: PlannedChange,
  marks: OutputMarks,
  { unmarked }: ProjectedOutputs,
  room: Room
): ShownOutput => {
  const shown = { ...outputChange(name, change, marks, room), name: hide.name(name) }
  const [before, after] = [heldSecrets(hide, change.before ?? null), heldSecrets(hide, plannedValue(change))]
  const held = unmarked?.has(name) === true ? unmarked.get(name) : after
  const isPrivate = marks.after || held !== undefined
  if (shown.sensitive && (marks.after || held === undefined)) return { shown, isPrivate }
  if (!shown.sensitive && before === undefined && held === undefined) return { shown, isPrivate }
  const { after: _, before: __, ...rest } = shown
  const sides = { before: isPresent(change.before), after: !change.actions.includes("delete") }
  const hidden = {
    ...rest,
    sensitive: true,
    ...sensitivityOf(sides, { before: marks.before || before !== undefined, after: held !== undefined })
  }
  return {
    shown: held === undefined ? hidden : { ...hidden, reason: "holds_secret", origins: held.origins },
    isPrivate
  }
}

const plannedOutput = ({ isPrivate, shown: { after, name, unknown = false } }: ShownOutput): PlannedOutput => ({
  name,
  sensitive: isPrivate,
  unknown,
  ...(after === undefined ? {} : { value: after })
})

interface Projecting {
  readonly redactor: RunRedactor
  readonly room: Room
  readonly shownValue: (value: Schema.Json) => Schema.Json
}

/** Number of resource changes to project before yielding. A plan may contain a hundred thousand changes. */
const changesAtOnce = 50

const shownReferences = (
  hide: Hide,
  { attribute, inputs, resources, ...rest }: ChangeReferences
): ChangeReferences => ({
  ...rest,
  ...(attribute === undefined ? {} : { attribute: hide.name(attribute) }),
  ...(inputs === undefined ? {} : { inputs: inputs.map((input) => hide.name(input)) }),
  ...(resources === undefined ? {} : { resources: resources.map((address) => hide.address(address)) })
})

const shownAttribute = (
  hide: Hide,
  shownValue: Projecting["shownValue"],
  { after, before, name, unknownPaths, ...rest }: Attribute
): Attribute => ({
  ...rest,
  name: hide.name(name),
  ...(before === undefined ? {} : { before: shownValue(hide.json(before)) }),
  ...(after === undefined ? {} : { after: shownValue(hide.json(after)) }),
  ...(unknownPaths === undefined
    ? {}
    : {
        unknownPaths: unknownPaths.map((path) =>
          path.map((step) => (typeof step === "string" ? hide.text(step) : step))
        )
      })
})

/** Projects resource changes for reviewers in small groups, so that a long plan does not delay other requests. */
const projectedChanges = Effect.fnUntraced(function* (
  { redactor, room, shownValue }: Projecting,
  planned: PlanDocument["resource_changes"],
  referencesOf: (address: string, names: ReadonlyArray<string>) => ReadonlyArray<ChangeReferences> | undefined
) {
  const changes = (planned ?? []).filter(isShown)
  const projected: Array<ResourceChange> = []
  for (let from = 0; from < changes.length; from += changesAtOnce) {
    const { left } = room
    const some = yield* redacted(redactor, (hide) => {
      // Restore the budget, because the same value will be rendered a second time.
      room.left = left
      return changes.slice(from, from + changesAtOnce).map((planned): ResourceChange => {
        const change = resourceChange(planned, room)
        const names = change.changedAttributes.map(({ name }) => name)
        const references = referencesOf(change.address, names) ?? []
        return {
          ...change,
          ...(references.length === 0 ? {} : { references: references.map((one) => shownReferences(hide, one)) }),
          address: hide.address(change.address),
          ...(change.reason === undefined ? {} : { reason: hide.address(change.reason) }),
          ...(change.importing?.id === undefined ? {} : { importing: { id: hide.text(change.importing.id) } }),
          ...(change.previousAddress === undefined ? {} : { previousAddress: hide.address(change.previousAddress) }),
          changedAttributes: change.changedAttributes.map((one) => shownAttribute(hide, shownValue, one))
        }
      })
    })
    projected.push(...some)
    yield* Effect.yieldNow
  }
  return projected
})

/**
 * Limits on the number of conditions, instances per condition and messages per condition. Conditions that did not pass are
 * listed first.
 */
const mostChecks = 1000
const mostInstances = 100
const mostProblems = 10

const isCheckStatus = Schema.is(CheckStatus)
const statusOf = (status: string) => (isCheckStatus(status) ? status : "unknown")

const failedFirst = <A extends { readonly status: string }>(all: ReadonlyArray<A>, most: number): ReadonlyArray<A> =>
  all.length <= most
    ? all
    : all.toSorted((a, b) => Number(a.status === "pass") - Number(b.status === "pass")).slice(0, most)

/** Projects the module's conditions for reviewers. */
const shownChecks = (hide: Hide, planned: ReadonlyArray<PlannedCheck>, room: Room): ReadonlyArray<PlanCheck> =>
  failedFirst(planned, mostChecks).map(({ address, instances, status }) => ({
    kind: hide.name(address.kind ?? "resource"),
    address: hide.address(address.to_display),
    status: statusOf(status),
    instances: failedFirst(instances ?? [], mostInstances).map((instance) => {
      const problems = (instance.problems ?? [])
        .slice(0, mostProblems)
        .map(({ message }) => String(bounded(hide.message(message, instance.address.to_display), room)))
      return {
        address: hide.address(instance.address.to_display),
        status: statusOf(instance.status),
        ...(problems.length === 0 ? {} : { problems })
      }
    })
  }))

/**
 * Projects a plan for reviewers. First applies the tool's own marks for sensitive and unknown values, and then redacts every
 * remaining string, key and number. Omits unchanged objects unless they are imported or moved, and unchanged Outputs unless their
 * value makes them private. Finally, `shownValue` limits the values that reviewers see. Planned Outputs are passed to other
 * Capsules without that limit.
 */
export const projectPlan = (
  plan: PlanDocument,
  redactor: RunRedactor,
  shownValue: (value: Schema.Json) => Schema.Json = (value) => value,
  known: ProjectedOutputs = {}
): Effect.Effect<PlanProjection> =>
  Effect.gen(function* () {
    const room: Room = { left: longValuesInAll }
    const referencesOf = planReferences(plan.configuration?.root_module)
    const projecting = { redactor, room, shownValue }
    const resourceChanges = yield* projectedChanges(projecting, plan.resource_changes, referencesOf)
    const resourceDrift = yield* projectedChanges(projecting, plan.resource_drift, () => undefined)
    return yield* redacted(redactor, (hide) => {
      // Outputs have a separate budget, so that large resource values cannot crowd out the Outputs that other Capsules consume.
      const outputRoom: Room = { left: longValuesInAll }
      const outputs = Object.entries(plan.output_changes ?? {}).map(([name, change]) => ({
        change,
        ...shownOutput(hide, name, change, outputMarks(plan, known, name, change), known, outputRoom)
      }))
      return {
        summary: planSummary(plan.resource_changes ?? []),
        resourceChanges,
        resourceDrift,
        outputChanges: outputs
          .filter(({ change, shown }) => !isNoOperation(change) || shown.reason !== undefined)
          .map(({ shown: { after, before, ...rest } }) => ({
            ...rest,
            ...(before === undefined ? {} : { before: shownValue(before) }),
            ...(after === undefined ? {} : { after: shownValue(after) })
          })),
        plannedOutputs: outputs.filter(({ change }) => !change.actions.includes("delete")).map(plannedOutput),
        ...((plan.checks ?? []).length === 0
          ? {}
          : { checks: shownChecks(hide, plan.checks ?? [], { left: longValuesInAll }) })
      }
    })
  })
