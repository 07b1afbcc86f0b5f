import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { StateVersionId } from "../records/Ids.ts"
import { ResourceDrift, ResourceEvent, StateDifference, StateResource } from "../records/StateResource.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const searchText = Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(500)))

export class StateResourcesApi extends HttpApiGroup.make("stateResources")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/capsules/:capsuleId/resources", {
      params: { capsuleId: Schema.String },
      query: {
        ...pageQuery,
        address: searchText,
        search: searchText
      },
      success: Schema.Struct({
        resources: Schema.Array(StateResource),
        stateVersionId: Schema.optionalKey(StateVersionId),
        indexed: Schema.Boolean,
        ...nextCursor
      })
    })
  )
  .add(
    HttpApiEndpoint.get("history", "/api/v1/capsules/:capsuleId/resource-history", {
      params: { capsuleId: Schema.String },
      query: {
        ...pageQuery,
        address: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(2000)),
        deposed: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(64)))
      },
      success: Schema.Struct({
        events: Schema.Array(ResourceEvent),
        drift: Schema.optionalKey(ResourceDrift),
        indexed: Schema.Boolean,
        ...nextCursor
      })
    })
  )
  .add(
    HttpApiEndpoint.get("difference", "/api/v1/state-versions/:stateVersionId/difference", {
      params: { stateVersionId: Schema.String },
      query: { ...pageQuery, from: Schema.optionalKey(StateVersionId) },
      success: Schema.Struct({ difference: StateDifference, ...nextCursor })
    })
  )
  .annotateEndpoints(ExtensionFamily, "state-resources") {}
