import { Schema } from "effect"
import { Capsule } from "../records/Capsule.ts"
import { OrphanedState } from "../records/OrphanedState.ts"
import { StateVersion } from "../records/StateVersion.ts"

export class AdoptionRequest extends Schema.Opaque<AdoptionRequest>()(
  Schema.Struct({
    /** The exact name of the Capsule. */
    confirm: Schema.String.check(Schema.isMaxLength(200)),
    expected: Schema.Struct({ authorityGuard: Schema.String.check(Schema.isMaxLength(256)) })
  }).annotate({ identifier: "LeftOverAdoptionRequest" })
) {}

/** The records that an adoption changed or created. */
export class OrphanedStateAdopted extends Schema.Opaque<OrphanedStateAdopted>()(
  Schema.Struct({
    capsule: Capsule,
    stateVersion: StateVersion,
    leftOverState: OrphanedState
  })
) {}
