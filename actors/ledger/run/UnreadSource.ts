import { Option, Schema } from "effect"
import type { SourceId } from "../../../schema/records/Ids.ts"
import type { RunRow } from "./RunRow.ts"

/** The part of a sync's specification that affects how it ends. */
export const UnreadSource = {
  /** Remove the Source unless some sync has read it. */
  removeUnread: Schema.optionalKey(Schema.Boolean)
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct(UnreadSource)))

/** The Source that this Run would remove if it ended without having read it. */
export const removableBy = (run: Pick<RunRow, "type" | "source_id" | "spec">): SourceId | undefined => {
  if (run.type !== "source_sync" || run.source_id === null) return undefined
  return Option.getOrUndefined(decode(run.spec))?.removeUnread === true ? run.source_id : undefined
}
