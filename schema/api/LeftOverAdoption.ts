import { Schema } from "effect"
import { Capsule } from "../records/Capsule.ts"
import { LeftOverState } from "../records/LeftOverState.ts"
import { StateVersion } from "../records/StateVersion.ts"

export const AdoptionRequest = Schema.Struct({
  /** The Capsule's name, as it is written. */
  confirm: Schema.String.check(Schema.isMaxLength(200)),
  expected: Schema.Struct({ authorityGuard: Schema.String.check(Schema.isMaxLength(256)) })
}).annotate({ identifier: "LeftOverAdoptionRequest" })
export type AdoptionRequest = typeof AdoptionRequest.Type

/** What an adoption left. */
export const LeftOverAdopted = Schema.Struct({
  capsule: Capsule,
  stateVersion: StateVersion,
  leftOverState: LeftOverState
})
export type LeftOverAdopted = typeof LeftOverAdopted.Type
