import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OrphanedState } from "../records/OrphanedState.ts"
import { AdoptionRequest, OrphanedStateAdopted } from "./OrphanedStateAdoption.ts"
import { idempotencyHeaders } from "./IdempotencyHeaders.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofCapsule = { capsuleId: Schema.String }
const ofOrphanedState = { ...ofCapsule, leftOverStateId: Schema.String }
const record = Schema.Struct({ leftOverState: OrphanedState })

export class OrphanedStatesApi extends HttpApiGroup.make("leftOverStates")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/capsules/:capsuleId/left-over-states", {
      params: ofCapsule,
      query: { ...pageQuery, runId: Schema.optionalKey(Schema.String) },
      success: Schema.Struct({ leftOverStates: Schema.Array(OrphanedState), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId", {
      params: ofOrphanedState,
      success: record
    })
  )
  .add(
    HttpApiEndpoint.post("adopt", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId/adopt", {
      params: ofOrphanedState,
      headers: idempotencyHeaders,
      payload: AdoptionRequest,
      success: Schema.Struct({ replayed: Schema.Boolean, ...OrphanedStateAdopted.fields })
    })
  )
  .add(
    HttpApiEndpoint.delete("discard", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId", {
      params: ofOrphanedState,
      success: record
    })
  )
  .annotateEndpoints(ExtensionFamily, "left-over-states") {}
