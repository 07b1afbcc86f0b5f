import { Schema } from "effect"
import { RunTrigger } from "../../../schema/records/Run.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import type { RunRow } from "../run/RunRow.ts"
import type { SourceRow } from "./SourceRow.ts"

/** The part of an automatic plan's specification with the trigger of the check that found its commit. */
export const FollowSpec = Schema.Struct({ look: Schema.optionalKey(RunTrigger) })

const FollowJson = jsonText(FollowSpec)

/** The trigger of the check that found the commit of an automatic plan. */
export const lookOf = ({ spec }: Pick<RunRow, "spec">) => FollowJson.read(spec).look

/** A look that a webhook or the schedule started. A look without a recorded trigger counts as one. */
const isAutomatic = (look: typeof RunTrigger.Type | undefined) =>
  look === undefined || look === "webhook" || look === "schedule"

/**
 * The reason why a check may not take effect, or why a commit that it found may not be planned or applied without a person;
 * `undefined` if nothing prevents it. A disabled Source stops every check, and a Source that does not follow its ref stops checks
 * that no person started.
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
