import type { AuditApi } from "../../../schema/api/AuditApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const auditProse: GroupProse<typeof AuditApi> = {
  about: "The operation history of a Workspace as evidence.",
  routes: {
    export: route(
      "Export the operation history as JSON lines, oldest first",
      "Streams every event of the Workspace up to this moment, one JSON object a line: the fields of the activity, and `capsuleId`, `position` and `mac`. Positions count from 1 without gaps and never change; `mac` is a keyed digest of the event and of everything before it. An export that was cut off goes on with `after`, the `position` of its last line. Takes the filters of the activity; with one, positions have gaps."
    ),
    head: route(
      "Where the operation history stands",
      "Position and digest of the newest event. Kept elsewhere, it proves later that nothing before it was changed, removed or inserted: the line of an export at this `position` has this `mac`, and the operator's `svc audit verify --head FILE` recomputes the whole chain."
    )
  }
}
