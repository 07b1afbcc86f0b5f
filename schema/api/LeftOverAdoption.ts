import { Schema } from "effect"
import { Capsule } from "../records/Capsule.ts"
import { LeftOverState } from "../records/LeftOverState.ts"
import { StateVersion } from "../records/StateVersion.ts"

export class AdoptionRequest extends Schema.Opaque<AdoptionRequest>()(
  Schema.Struct({
    /** The Capsule's exact name. */
    confirm: Schema.String.check(Schema.isMaxLength(200)),
    expected: Schema.Struct({ authorityGuard: Schema.String.check(Schema.isMaxLength(256)) })
  }).annotate({ identifier: "LeftOverAdoptionRequest" })
) {}

/** Evidence that remains after an adoption. */
export class LeftOverAdopted extends Schema.Opaque<LeftOverAdopted>()(
  Schema.Struct({
    capsule: Capsule,
    stateVersion: StateVersion,
    leftOverState: LeftOverState
  })
) {}
