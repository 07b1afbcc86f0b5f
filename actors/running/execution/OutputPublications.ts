import type { PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { OutputChange, OutputPublication } from "../../../schema/records/PlanDetails.ts"
import type { RunDiagnostic } from "../../../schema/records/Run.ts"
import type { OutputRow } from "../../ledger/state/StateVersionRow.ts"
import type { ApplyResult } from "./ApplyResult.ts"

/** An Output of the current state. */
type StoredOutput = Pick<OutputRow, "name" | "sensitive" | "private_origins">

/** The Outputs that reviewers of a plan see, and the names of the Outputs that the plan's apply may publish. */
interface ReviewedOutputs {
  readonly outputChanges: ReadonlyArray<OutputChange>
  readonly publicOutputs: ReadonlyArray<string>
}

const publicationOf = (
  stored: StoredOutput | undefined,
  isPublic: boolean | undefined,
  change: OutputChange | undefined
): OutputPublication | undefined => {
  const wasPublic = stored?.sensitive === 0
  if (isPublic === true) {
    if (wasPublic) return undefined
    if (stored === undefined) return { change: "published", reason: "new" }
    const isUnmarked = change?.beforeSensitive === true && stored.private_origins === null
    return { change: "published", reason: isUnmarked ? "mark_removed" : "secret_gone" }
  }
  if (!wasPublic) return undefined
  if (isPublic === undefined) return { change: "withdrawn", reason: "removed" }
  return { change: "withdrawn", reason: change?.reason === "holds_secret" ? "holds_secret" : "marked_sensitive" }
}

/** Lists the Outputs that restoring an earlier state publishes or withdraws. */
export const restoredOutputs = (
  current: ReadonlyArray<StoredOutput>,
  restored: ReadonlyArray<StoredOutput>
): ReadonlyArray<{ readonly name: string; readonly publication: OutputPublication }> => {
  const isPublic = ({ sensitive }: StoredOutput) => sensitive === 0
  const [now, then] = [current, restored].map((outputs) => new Map(outputs.map((output) => [output.name, output])))
  const published = restored.filter((output) => {
    const before = now?.get(output.name)
    return isPublic(output) && (before === undefined || !isPublic(before))
  })
  const withdrawn = current.filter((output) => {
    const after = then?.get(output.name)
    return isPublic(output) && (after === undefined || !isPublic(after))
  })
  return [
    ...published.map(({ name }) => ({
      name,
      publication: { change: "published", reason: now?.has(name) === true ? "restored" : "new" } as const
    })),
    ...withdrawn.map(({ name }) => ({
      name,
      publication: { change: "withdrawn", reason: then?.has(name) === true ? "restored" : "removed" } as const
    }))
  ]
}

/** Adds the Outputs that the apply publishes or withdraws to a plan's Outputs, even if the tool reports no change for them. */
export const reviewedOutputs = (
  { outputChanges, plannedOutputs }: Pick<PlanOutcome, "outputChanges" | "plannedOutputs">,
  stored: ReadonlyArray<StoredOutput>
): ReviewedOutputs => {
  const before = new Map(stored.map((output) => [output.name, output]))
  const planned = new Map(plannedOutputs.map((output) => [output.name, output]))
  const changes = new Map(outputChanges.map((change) => [change.name, change]))
  const publication = (name: string, change: OutputChange | undefined) => {
    const sensitive = planned.get(name)?.sensitive
    return publicationOf(before.get(name), sensitive === undefined ? undefined : !sensitive, change)
  }
  const unchanged = [...new Set([...planned.keys(), ...before.keys()])].flatMap((name): ReadonlyArray<OutputChange> => {
    const found = changes.has(name) ? undefined : publication(name, undefined)
    if (found === undefined) return []
    const { sensitive = false, value } = planned.get(name) ?? {}
    return [
      {
        name,
        actions: ["no-op"],
        sensitive,
        publication: found,
        ...(value === undefined ? {} : { before: value, after: value })
      }
    ]
  })
  return {
    outputChanges: [
      ...outputChanges.map((change) => {
        const found = publication(change.name, change)
        return found === undefined ? change : { ...change, publication: found }
      }),
      ...unchanged
    ],
    publicOutputs: plannedOutputs.filter(({ sensitive }) => !sensitive).map(({ name }) => name)
  }
}

/**
 * Marks every Output of an apply as private unless its reviewed plan listed it as public. A failed apply withdraws no Output that
 * is still in its state. Plans from earlier releases have no list of public Outputs.
 */
export const asReviewed = (
  { exit, outputs }: Pick<ApplyResult, "exit" | "outputs">,
  listed: ReadonlyArray<string> | undefined,
  stored: ReadonlyArray<StoredOutput>
): { readonly outputs: ApplyResult["outputs"]; readonly notes: ReadonlyArray<RunDiagnostic> } => {
  if (listed === undefined) return { outputs, notes: [] }
  const kept = exit === "succeeded" ? [] : stored.filter(({ sensitive }) => sensitive === 0).map(({ name }) => name)
  const allowed = new Set([...listed, ...kept])
  const withheld = outputs.filter(({ name, sensitive }) => !sensitive && !allowed.has(name)).map(({ name }) => name)
  if (withheld.length === 0) return { outputs, notes: [] }
  return {
    outputs: outputs.map((output) => (withheld.includes(output.name) ? { ...output, sensitive: true } : output)),
    notes: [
      {
        severity: "warning",
        summary: "Outputs were not published, because the reviewed plan did not list them as public.",
        detail: `Plan again to review them: ${withheld.join(", ")}.`
      }
    ]
  }
}
