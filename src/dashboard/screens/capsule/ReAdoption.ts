import { isPostApplyCode } from "../../../../schema/records/PostApplyCodes.ts"
import type { Capsule, InstallConfig, Run } from "../../api/Types.ts"
import { changeableVariables, type FormField, type FormModel, fieldsOf, formModel } from "../../forms/FormModel.ts"

const decisive: ReadonlySet<Run["type"]> = new Set(["apply", "destroy_apply", "restore"])
const ended: ReadonlySet<Run["status"]> = new Set(["succeeded", "failed", "cancelled"])

const endOf = (run: Run): string => run.finishedAt ?? run.createdAt

/** Returns the last finished Run that determines the condition of the Capsule. */
export const lastDecisive = (runs: ReadonlyArray<Run>): Run | undefined =>
  runs
    .filter(({ status, type }) => decisive.has(type) && ended.has(status))
    .reduce<Run | undefined>(
      (latest, run) => (latest === undefined || endOf(run) > endOf(latest) ? run : latest),
      undefined
    )

/**
 * Returns true if the last decisive Run is an apply after which only a check failed. Only then can a Capsule in `error` be
 * re-adopted. The server decides again, with more evidence than a list of Runs.
 */
export const onlyCheckFailed = (runs: ReadonlyArray<Run>): boolean => {
  const last = lastDecisive(runs)
  return last?.type === "apply" && last.status === "failed" && isPostApplyCode(last.error?.code)
}

export interface SnapshotChoice {
  readonly id: string
  readonly of: "configuration" | "adopted"
}

/** The two snapshots of a re-adoption, or only one if both are the same. */
export const snapshotChoices = (
  capsule: Pick<Capsule, "adoptedSourceRevision">,
  config: Pick<InstallConfig, "sourceSnapshotId">
): ReadonlyArray<SnapshotChoice> => {
  const own = config.sourceSnapshotId
  const adopted = capsule.adoptedSourceRevision?.sourceSnapshotId
  return [
    ...(own === undefined ? [] : [{ id: own, of: "configuration" as const }]),
    ...(adopted === undefined || adopted === own ? [] : [{ id: adopted, of: "adopted" as const }])
  ]
}

/** The inputs to review: all inputs that people provide, except secrets, which keep their values. */
export const reviewedModel = (config: Pick<InstallConfig, "origin" | "variables" | "presentation">): FormModel => {
  const changeable = changeableVariables(config)
  const secret = new Set(
    fieldsOf(formModel(changeable, changeable, config.presentation))
      .filter((field: FormField) => field.secret)
      .map(({ name }) => name)
  )
  const open = changeable.filter(({ name }) => !secret.has(name))
  return formModel(open, open, config.presentation)
}
