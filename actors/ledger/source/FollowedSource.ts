import { Schema } from "effect"
import { RunTrigger } from "../../../schema/records/Run.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import type { RunRow } from "../run/RunRow.ts"
import type { SourceRow } from "./SourceRow.ts"

/** Parameters of an automatic plan, including the trigger of the check that found the plan's commit. */
export const FollowSpec = Schema.Struct({ look: Schema.optionalKey(RunTrigger) })

const FollowJson = jsonText(FollowSpec)

/** Returns the trigger of the check that found the commit of an automatic plan. */
export const lookOf = ({ spec }: Pick<RunRow, "spec">) => FollowJson.read(spec).look

/** Returns true for checks started by a webhook or a schedule, and for checks without a recorded trigger. */
const isAutomatic = (look: typeof RunTrigger.Type | undefined) =>
  look === undefined || look === "webhook" || look === "schedule"

/**
 * Returns the reason why a check must not take effect, or why a commit that it found must not be planned or applied
 * automatically; `undefined` if nothing prevents it. If the Source is disabled, no check may take effect. If the Source does
 * not sync automatically, only checks that a person started may take effect.
 */
export const followObstacle = (
  source: Pick<SourceRow, "auto_sync" | "removed_at" | "status"> | undefined,
  look: typeof RunTrigger.Type | undefined
): string | undefined => {
  if (source === undefined || source.removed_at !== null) return "The Source was removed."
  if (source.status === "disabled") return "The Source is disabled."
  return isAutomatic(look) && source.auto_sync !== 1
    ? "The Source no longer follows its ref (`autoSync` is off)."
    : undefined
}
