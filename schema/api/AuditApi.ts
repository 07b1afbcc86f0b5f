import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AuditHead } from "../records/AuditHead.ts"
import { AskedTime } from "../records/Primitives.ts"
import { described, describedGroup } from "./Endpoint.ts"
import { AfterSequence } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const inWorkspace = { workspaceId: Schema.String }
const asked = Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80)))

/** The operation history of a Workspace as evidence: exported as a whole, and where its chain stands. */
export class AuditApi extends describedGroup("audit", "The operation history of a Workspace as evidence.")
  .add(
    HttpApiEndpoint.get("export", "/api/v1/workspaces/:workspaceId/audit-events", {
      params: inWorkspace,
      query: {
        after: Schema.optionalKey(AfterSequence),
        action: asked,
        capsuleId: asked,
        actor: asked,
        runId: asked,
        since: Schema.optionalKey(AskedTime),
        until: Schema.optionalKey(AskedTime)
      },
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/x-ndjson" }))
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/audit-events"),
        "Export the operation history as JSON lines, oldest first",
        "Streams every event of the Workspace up to this moment, one JSON object a line: the fields of the activity, and `capsuleId`, `position` and `mac`. Positions count from 1 without gaps and never change; `mac` is a keyed digest of the event and of everything before it. An export that was cut off goes on with `after`, the `position` of its last line. Takes the filters of the activity; with one, positions have gaps."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("head", "/api/v1/workspaces/:workspaceId/audit-head", {
      params: inWorkspace,
      success: AuditHead
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/audit-head"),
        "Where the operation history stands",
        "Position and digest of the newest event. Kept elsewhere, it proves later that nothing before it was changed, removed or inserted: the line of an export at this `position` has this `mac`, and the operator's `svc audit verify --head FILE` recomputes the whole chain."
      )
    )
  ) {}
