import { Schema } from "effect"
import { Timestamp } from "./Primitives.ts"

/** The longest accepted interval: one year. */
const mostHours = 8760

const Hours = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostHours }))

const Off = Schema.Struct({ mode: Schema.Literal("off") })
const Every = Schema.Struct({ mode: Schema.Literal("every"), hours: Hours })

/** The interval at which svc compares the real infrastructure with the deployed state, or `off`. */
export const WorkspaceDriftChecks = Schema.Union([Off, Every]).annotate({ identifier: "WorkspaceDriftChecks" })
export type WorkspaceDriftChecks = typeof WorkspaceDriftChecks.Type

/** The setting for one Capsule. `inherit` means that the Workspace's setting applies. */
export const CapsuleDriftChecks = Schema.Union([
  Schema.Struct({ mode: Schema.Literal("inherit") }),
  Off,
  Every
]).annotate({ identifier: "CapsuleDriftChecks" })
export type CapsuleDriftChecks = typeof CapsuleDriftChecks.Type

/** A Capsule's setting, and the time of its next check, if any. */
export class DriftCheckPlan extends Schema.Opaque<DriftCheckPlan>()(
  Schema.Struct({
    mode: Schema.Literals(["inherit", "off", "every"]),
    /** Present if the Capsule's own setting is `every`. */
    hours: Schema.optionalKey(Hours),
    nextAt: Schema.optionalKey(Timestamp)
  }).annotate({ identifier: "DriftCheckPlan" })
) {}
