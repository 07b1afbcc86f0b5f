import { Option, Schema } from "effect"
import type { SourceId } from "../../../schema/records/Ids.ts"
import type { RunRow } from "./RunRow.ts"

/** Parameters of a sync that determine what happens to its Source when the sync ends. */
export const UnreadSource = {
  /** If true, the Source is removed unless a sync has read it. */
  removeUnread: Schema.optionalKey(Schema.Boolean)
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct(UnreadSource)))

/** Returns the id of the Source to remove if this sync ends without having read it. */
export const removableBy = (run: Pick<RunRow, "type" | "source_id" | "spec">): SourceId | undefined => {
  if (run.type !== "source_sync" || run.source_id === null) return undefined
  return Option.getOrUndefined(decode(run.spec))?.removeUnread === true ? run.source_id : undefined
}
