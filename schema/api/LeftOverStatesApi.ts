import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { LeftOverState } from "../records/LeftOverState.ts"
import { AdoptionRequest, LeftOverAdopted } from "./LeftOverAdoption.ts"
import { idempotencyHeaders } from "./IdempotencyHeaders.ts"
import { nextCursor, pageQuery } from "./Paging.ts"

const ofCapsule = { capsuleId: Schema.String }
const ofLeftOver = { ...ofCapsule, leftOverStateId: Schema.String }
const record = Schema.Struct({ leftOverState: LeftOverState })

export class LeftOverStatesApi extends HttpApiGroup.make("leftOverStates")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/capsules/:capsuleId/left-over-states", {
      params: ofCapsule,
      query: { ...pageQuery, runId: Schema.optionalKey(Schema.String) },
      success: Schema.Struct({ leftOverStates: Schema.Array(LeftOverState), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId", {
      params: ofLeftOver,
      success: record
    })
  )
  .add(
    HttpApiEndpoint.post("adopt", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId/adopt", {
      params: ofLeftOver,
      headers: idempotencyHeaders,
      payload: AdoptionRequest,
      success: Schema.Struct({ replayed: Schema.Boolean, ...LeftOverAdopted.fields })
    })
  )
  .add(
    HttpApiEndpoint.delete("discard", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId", {
      params: ofLeftOver,
      success: record
    })
  ) {}
