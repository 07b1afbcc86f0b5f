import { configurationAddress } from "../../../runner/execution/PlanReferences.ts"
import { type ChangeCause, type ChangeCauses, mostNamed } from "../../../schema/records/ChangeCauses.ts"
import type { ChangeReferences } from "../../../schema/records/ChangeEvidence.ts"
import type { ResourceChange } from "../../../schema/records/PlanDetails.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import { canonicalJson } from "../../base/idempotency/RequestDigest.ts"

type Attribute = ResourceChange["changedAttributes"][number]

/** Returns true for a placeholder. Equal placeholders may hide different values. */
const isNoted = (value: Attribute["before"]) =>
  /\(sensitive value\)|\(known after apply\)|characters, too long to show\)/.test(JSON.stringify(value ?? null))

/** Returns true if the plan changes an attribute back to the value that it had before the drift. */
const isRestored = (planned: Attribute, drifted: Attribute) =>
  planned.sensitive !== true &&
  drifted.sensitive !== true &&
  planned.unknown !== true &&
  !isNoted(drifted.before) &&
  canonicalJson(planned.after ?? null) === canonicalJson(drifted.before ?? null)

interface DriftedAttributes {
  /** Attributes that the plan resets to exactly the value that they had before the drift. */
  readonly certain: ReadonlySet<string>
  /** Attributes that drifted, and that the plan sets to a different or hidden value. */
  readonly possible: ReadonlySet<string>
}

/** Classifies the drifted attributes that the plan changes in a resource. */
const driftedAttributes = (change: ResourceChange, drift: ResourceChange | undefined): DriftedAttributes => {
  const certain = new Set<string>()
  const possible = new Set<string>()
  for (const planned of change.changedAttributes) {
    const drifted = drift?.changedAttributes.find(({ name }) => name === planned.name)
    if (drifted !== undefined) (isRestored(planned, drifted) ? certain : possible).add(planned.name)
  }
  return { certain, possible }
}

/**
 * Returns true if only drift explains the change: the resource was deleted outside svc and is created again, or the plan
 * reverts every changed attribute.
 */
const isPutBack = (change: ResourceChange, drift: ResourceChange | undefined): boolean => {
  if (drift === undefined) return false
  const isOnly = (of: ResourceChange, action: string) => of.actions.length === 1 && of.actions[0] === action
  if (isOnly(drift, "delete")) return isOnly(change, "create")
  if (!change.actions.includes("update")) return false
  const known = change.changedAttributes.filter(
    ({ name, unknown }) => unknown !== true || change.references?.some(({ attribute }) => attribute === name) === true
  )
  return known.length > 0 && driftedAttributes(change, drift).certain.size === known.length
}

/** Evidence about a plan and the previous apply. */
export interface PlanEvidence {
  readonly evidence: Pick<RunEvidence, "resourceChanges" | "resourceDrift" | "injectedInputs">
  /** `undefined` if the commit is the same or changes none of the module's files. */
  readonly commit: Extract<ChangeCause, { kind: "commit" }> | undefined
  /** `undefined` if the changed inputs were not recorded. */
  readonly changedInputs: RunEvidence["changedInputs"] | undefined
  readonly isUnfinished: boolean
  /** Other differences, which cannot be attributed to resources. */
  readonly others: ReadonlyArray<ChangeCause>
  readonly unknown: ChangeCauses["unknown"]
}

const named = (kind: "drift" | "resource" | "data", addresses: ReadonlyArray<string>): ChangeCause => ({
  kind,
  addresses: addresses.slice(0, mostNamed),
  count: addresses.length
})

const unfinished: ChangeCause = { kind: "unfinished" }

const isOf = (change: ResourceChange, action: string) => change.actions.includes(action)

/** The reasons that the tool reports for removing a resource whose block is gone. */
const goneReasons = new Set(["delete_because_no_resource_config", "delete_because_no_module"])

/**
 * Returns true if a value contains a timestamp, which may come from `plantimestamp()`, because that function is evaluated
 * during the plan.
 */
const holdsTime = (value: unknown) => /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/.test(JSON.stringify(value ?? null))

/** Removes duplicate causes and keeps the order. */
const distinct = (causes: ReadonlyArray<ChangeCause>): ReadonlyArray<ChangeCause> => {
  const seen = new Map(causes.map((cause) => [JSON.stringify(cause), cause]))
  return [...seen.values()]
}

const isData = (address: string) => /(^|\.)(data|ephemeral)\.[^.]+\.[^.]+$/.test(address)

/** Returns a function that lists the causes for one resource of the plan. */
const judgeOf = (plan: PlanEvidence) => {
  const changes = plan.evidence.resourceChanges ?? []
  const live = (plan.evidence.resourceDrift ?? []).filter(({ deposed }) => deposed === undefined)
  const drift = new Map(live.map((change) => [change.address, change]))
  const moving = new Set(
    [...changes.filter(({ mode }) => mode === "managed"), ...drift.values()].map(({ address }) =>
      configurationAddress(address)
    )
  )
  const inputs: ReadonlyArray<readonly [string, ChangeCause]> = [
    ...(plan.changedInputs ?? []).map(({ change, input }) => [input, { kind: "input", input, change }] as const),
    ...(plan.evidence.injectedInputs ?? []).map((each) => [each.input, { kind: "dependency", ...each }] as const)
  ]
  const commits = plan.commit === undefined ? [] : [plan.commit]

  /** Returns the changed inputs and resources that an attribute or an instance count refers to. */
  const behind = (own: string, { inputs: read = [], partial, resources = [] }: ChangeReferences) => {
    const found = resources.filter((address) => moving.has(address) && address !== own)
    const data = resources.filter(isData)
    return [
      ...inputs.filter(([input]) => partial === true || read.includes(input)).map(([, cause]) => cause),
      ...(found.length === 0 ? [] : [named("resource", found)]),
      ...(data.length === 0 ? [] : [named("data", data)])
    ]
  }

  const ofAttributes = (change: ResourceChange, putBack: ReadonlySet<string>) => {
    const own = configurationAddress(change.address)
    return change.changedAttributes
      .filter(({ name }) => !putBack.has(name))
      .flatMap((attribute): ReadonlyArray<ChangeCause> => {
        const references = change.references?.find((each) => each.attribute === attribute.name)
        // If an unknown value has no references, it has no separate cause, because the provider recomputes it from the
        // other attributes.
        if (references === undefined && attribute.unknown === true) return []
        // Every difference may be a cause, because the references of repeated blocks and of provider-normalised values are
        // unknown.
        if (references === undefined) return [...inputs.map(([, cause]) => cause), ...commits, ...plan.others]
        const refersToNothing = references.inputs === undefined && references.resources === undefined
        const isComputed = references.literal !== true && references.partial !== true && refersToNothing
        const function_: ReadonlyArray<ChangeCause> =
          isComputed && (attribute.unknown === true || holdsTime(attribute.after)) ? [{ kind: "function" }] : []
        return [...behind(own, references), ...commits, ...function_]
      })
  }

  const ofInstances = (change: ResourceChange) => {
    const repeated = change.references?.find(({ attribute }) => attribute === undefined)
    // A removed resource is no longer in the configuration, so its instance count may have depended on any input.
    const removed =
      isOf(change, "delete") && change.references === undefined && !goneReasons.has(change.reason ?? "")
        ? inputs.map(([, cause]) => cause)
        : []
    return [...(repeated === undefined ? removed : behind(configurationAddress(change.address), repeated)), ...commits]
  }

  const isWhole = (change: ResourceChange) =>
    isOf(change, "create") !== isOf(change, "delete") || isOf(change, "forget") || change.actions.includes("no-op")

  return (change: ResourceChange): ReadonlyArray<ChangeCause> => {
    // The object is deposed: an earlier replacement created the new object but could not destroy this one.
    if (change.deposed !== undefined) return [unfinished]
    const drifted = drift.get(change.address) ?? drift.get(change.previousAddress ?? "")
    if (isPutBack(change, drifted)) return [named("drift", [change.address])]
    if (change.reason === "replace_because_tainted") return [unfinished]
    if (change.reason === "replace_by_triggers") return [named("resource", [])]
    const putBack = driftedAttributes(change, drifted)
    const specific = isWhole(change) ? ofInstances(change) : ofAttributes(change, putBack.certain)
    const driftCauses = putBack.certain.size + putBack.possible.size === 0 ? [] : [named("drift", [change.address])]
    const found = [...driftCauses, ...specific, ...(plan.isUnfinished ? [unfinished] : [])]
    return distinct(found.length === 0 ? plan.others : found)
  }
}

/** Returns the causes of the plan as a whole: all differences. */
const planCauses = (plan: PlanEvidence): ReadonlyArray<ChangeCause> => {
  const drifted = (plan.evidence.resourceDrift ?? []).map(({ address }) => address)
  return [
    ...(plan.commit === undefined ? [] : [plan.commit]),
    ...(plan.changedInputs ?? []).map(({ change, input }): ChangeCause => ({ kind: "input", input, change })),
    ...(plan.evidence.injectedInputs ?? []).map((each): ChangeCause => ({ kind: "dependency", ...each })),
    ...(drifted.length === 0 ? [] : [named("drift", drifted)]),
    ...(plan.isUnfinished ? [unfinished] : []),
    ...plan.others
  ]
}

/**
 * Determines the causes of a plan's changes from its evidence. Each resource gets the differences that may have caused its
 * change. A cause is certain only if there is no other cause and nothing is unknown.
 */
export const changeCauses = (plan: PlanEvidence): Pick<ChangeCauses, "causes" | "resources" | "unknown"> => {
  const judge = judgeOf(plan)
  return {
    causes: planCauses(plan),
    unknown: plan.unknown,
    resources: (plan.evidence.resourceChanges ?? []).map((change) => {
      const causes = judge(change)
      const [only] = causes
      const proves = only?.kind === "drift" || change.reason === "replace_because_tainted"
      const certain = causes.length === 1 && only?.kind !== "data" && (proves || plan.unknown.length === 0)
      return { address: change.address, certain, causes }
    })
  }
}
