import type { LeftOverStatesApi } from "../../../schema/api/LeftOverStatesApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const leftOverStatesProse: GroupProse<typeof LeftOverStatesApi> = {
  about: "States that a Run left behind.",
  routes: {
    list: route(
      "List left-over states, newest first",
      "States that applies left and that could not become the Capsule's next state: `reason` is `lineage_changed`, `serial_decreased`, `unreadable`, or `unknown` for one that an earlier release kept. Each is kept, sealed, until an owner adopts or discards it. Metadata only: no route answers the state itself, because it holds the secrets of the infrastructure in the clear. Whoever runs the installation reads it on its machine with `svc admin left-over-states download`. `adoptionProblems` says what keeps it from being adopted at this moment; `runId` lists those of one Run."
    ),
    read: route(
      "Read a left-over state",
      "Metadata only. One that was adopted or discarded stays readable as evidence, without its state."
    ),
    adopt: route(
      "Make a left-over state the Capsule's state",
      "Needs `Idempotency-Key`, the guard read from the Capsule, and `confirm` with the Capsule's name. It changes what svc knows and no infrastructure, so no plan, review or approval comes before it: the owner's confirmation and the audit event stand for them. Refused (409) while `adoptionProblems` names anything: the state must be readable, of the lineage of the current state (any, when there is none) and not older by its serial, nobody may have decided over it, no Run may be under way, and the Capsule must stand exactly where the apply's settlement left it (state version, generation, epoch).\n\nCommits in one transaction: a StateVersion with `partial` and `adoptedFrom`, the next generation, and its Outputs. An Output is public only where the previous state published the same value under the same name; every other one is sealed. Plans that are not applied yet become `superseded`, consumers are compared. The Capsule is in `error` with `runtimeSafety` `unknown` (a disabled one stays disabled) and `driftStatus` `unknown` until a plan is applied: plan it next and review what the plan finds."
    ),
    discard: route(
      "Discard a left-over state",
      "Erases the sealed state for good; its metadata stays, with who discarded it and when. What only this state knew of has to be found and removed by hand afterwards. Repeating it changes nothing; one that was adopted is refused (409)."
    )
  }
}
