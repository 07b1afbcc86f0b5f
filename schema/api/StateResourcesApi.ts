import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { StateVersionId } from "../records/Ids.ts"
import { ResourceDrift, ResourceEvent, StateDifference, StateResource } from "../records/StateResource.ts"
import { described, describedGroup } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const searchText = Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(500)))

export class StateResourcesApi extends describedGroup("stateResources", "The resources of a Capsule, without values.")
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
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/capsules/:capsuleId/resources"),
        "List the resources of the current state, by address",
        "Instances of managed resources, without values. `address` lists those whose address contains the text; letter cases count. `search` lists those whose address, type or `id` contains the text, in any letter case. `id` is absent where the state marks it as sensitive, where it contains a secret, and where it may be one. `changedByRunId` and `changedAt` name the Run that made the resource as it is, and `commit` its commit; the record of the Run may be gone after its retention period. `indexed: false` says that nothing can be listed: a state from an earlier release is not read yet (which happens in the background after an upgrade), or the tool encrypted it. `stateVersionId` is absent for a Capsule without a state."
      )
    )
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
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/capsules/:capsuleId/resource-history"),
        "List the changes of one resource, newest first",
        "Each change of the resource at `address` with the Run that made it: its commit, who requested and approved its plan, and the names of the attributes that changed, without values. `deposed` selects an object that waits to be destroyed after its replacement. `drift` is on the first page only: what the newest drift check of the current state found at this resource. The history of an address starts with the oldest state that is kept, and is empty for an address that no state contains; a moved resource starts anew at its address. `limit` counts periods in which the resource stayed as it was; one that ended with its removal is two events."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("difference", "/api/v1/state-versions/:stateVersionId/difference", {
      params: { stateVersionId: Schema.String },
      query: { ...pageQuery, from: Schema.optionalKey(StateVersionId) },
      success: Schema.Struct({ difference: StateDifference, ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/state-versions/:stateVersionId/difference"),
        "Compare a StateVersion with another one",
        "What is different in this StateVersion than in `from`, another one of the same Capsule, older or newer; without `from` the previous one that is kept. Names alone: no value, whether secret or not. `resources` are paged by address; `outputs` are all on every page. `indexed: false` says that one of the two cannot be compared: it is from an earlier release and not read yet, or the tool encrypted it."
      )
    )
  ) {}
