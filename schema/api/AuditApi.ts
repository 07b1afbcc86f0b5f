import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AuditHead } from "../records/AuditHead.ts"
import { AskedTime } from "../records/Primitives.ts"
import { AfterSequence } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const inWorkspace = { workspaceId: Schema.String }
const asked = Schema.optionalKey(Schema.String.check(Schema.isMaxLength(80)))

/** Endpoints that return a Workspace's operation history as evidence: the full export, and the head of the audit chain. */
export class AuditApi extends HttpApiGroup.make("audit")
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
    })
  )
  .add(
    HttpApiEndpoint.get("head", "/api/v1/workspaces/:workspaceId/audit-head", {
      params: inWorkspace,
      success: AuditHead
    })
  )
  .annotateEndpoints(ExtensionFamily, "audit") {}
