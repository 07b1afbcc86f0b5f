import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { LeftOverState } from "../records/LeftOverState.ts"
import { described, describedGroup } from "./Endpoint.ts"
import { AdoptionRequest, LeftOverAdopted } from "./LeftOverAdoption.ts"
import { idempotencyHeaders } from "./IdempotencyHeaders.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const ofCapsule = { capsuleId: Schema.String }
const ofLeftOver = { ...ofCapsule, leftOverStateId: Schema.String }
const record = Schema.Struct({ leftOverState: LeftOverState })

export class LeftOverStatesApi extends describedGroup("leftOverStates", "States that a Run left behind.")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/capsules/:capsuleId/left-over-states", {
      params: ofCapsule,
      query: { ...pageQuery, runId: Schema.optionalKey(Schema.String) },
      success: Schema.Struct({ leftOverStates: Schema.Array(LeftOverState), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/capsules/:capsuleId/left-over-states"),
        "List left-over states, newest first",
        "States that applies left and that could not become the Capsule's next state: `reason` is `lineage_changed`, `serial_decreased`, `unreadable`, or `unknown` for one that an earlier release kept. Each is kept, sealed, until an owner adopts or discards it. Metadata only: no route answers the state itself, because it holds the secrets of the infrastructure in the clear. Whoever runs the installation reads it on its machine with `svc admin left-over-states download`. `adoptionProblems` says what keeps it from being adopted at this moment; `runId` lists those of one Run."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId", {
      params: ofLeftOver,
      success: record
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId"),
        "Read a left-over state",
        "Metadata only. One that was adopted or discarded stays readable as evidence, without its state."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("adopt", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId/adopt", {
      params: ofLeftOver,
      headers: idempotencyHeaders,
      payload: AdoptionRequest,
      success: Schema.Struct({ replayed: Schema.Boolean, ...LeftOverAdopted.fields })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId/adopt"),
        "Make a left-over state the Capsule's state",
        "Needs `Idempotency-Key`, the guard read from the Capsule, and `confirm` with the Capsule's name. It changes what svc knows and no infrastructure, so no plan, review or approval comes before it: the owner's confirmation and the audit event stand for them. Refused (409) while `adoptionProblems` names anything: the state must be readable, of the lineage of the current state (any, when there is none) and not older by its serial, nobody may have decided over it, no Run may be under way, and the Capsule must stand exactly where the apply's settlement left it (state version, generation, epoch).\n\nCommits in one transaction: a StateVersion with `partial` and `adoptedFrom`, the next generation, and its Outputs. An Output is public only where the previous state published the same value under the same name; every other one is sealed. Plans that are not applied yet become `superseded`, consumers are compared. The Capsule is in `error` with `runtimeSafety` `unknown` (a disabled one stays disabled) and `driftStatus` `unknown` until a plan is applied: plan it next and review what the plan finds."
      )
    )
  )
  .add(
    HttpApiEndpoint.delete("discard", "/api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId", {
      params: ofLeftOver,
      success: record
    }).annotateMerge(
      described(
        accessOf("DELETE /api/v1/capsules/:capsuleId/left-over-states/:leftOverStateId"),
        "Discard a left-over state",
        "Erases the sealed state for good; its metadata stays, with who discarded it and when. What only this state knew of has to be found and removed by hand afterwards. Repeating it changes nothing; one that was adopted is refused (409)."
      )
    )
  ) {}
