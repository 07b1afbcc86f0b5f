import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ChangeApproval } from "../records/ChangeApproval.ts"
import { freeText } from "../records/Primitives.ts"
import { repeatable } from "./AnswerStatus.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"

const ofRun = { runId: Schema.String }
const record = Schema.Struct({ changeApproval: ChangeApproval })

export const ApproveChange = Schema.Struct({
  planDigest: Schema.String,
  changeDigest: Schema.String,
  comment: Schema.optionalKey(freeText(2000))
})

export class ChangeApprovalsApi extends HttpApiGroup.make("changeApprovals")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/runs/:runId/change-approvals", {
      params: ofRun,
      success: Schema.Struct({ changeApprovals: Schema.Array(ChangeApproval) })
    })
  )
  .add(
    HttpApiEndpoint.post("approve", "/api/v1/runs/:runId/change-approvals", {
      params: ofRun,
      headers: optionalIdempotencyHeaders,
      payload: ApproveChange,
      success: repeatable(record)
    })
  )
  .add(
    HttpApiEndpoint.delete("withdraw", "/api/v1/runs/:runId/change-approvals/:changeApprovalId", {
      params: { ...ofRun, changeApprovalId: Schema.String },
      success: record
    })
  )
  .annotateEndpoints(ExtensionFamily, "change-approvals") {}
