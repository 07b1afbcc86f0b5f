import { Schema } from "effect"
import { ByteSize } from "../records/ByteSize.ts"
import { PoolName } from "../agent/PoolName.ts"
import { type SandboxLevel, ToolIdentity } from "../records/Run.ts"

/** The default profile, which uses the server's settings. */
export const defaultProfile = "opentofu-default"

/** The name of a profile, as in the policy file and on a Run. */
export const ProfileName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    description: "a name of up to 63 lower-case letters, digits and hyphens"
  })
)

/** Isolation levels that a profile can require for module code. Excludes `process`, which does not isolate. */
export const IsolationFloor = Schema.Literals([
  "bubblewrap",
  "namespaces",
  "user_landlock",
  "landlock",
  "seatbelt"
] as const satisfies ReadonlyArray<SandboxLevel>)

const processes = Schema.Int.check(Schema.isBetween({ minimum: 16, maximum: 1_000_000 }))

/**
 * Constraints on the execution of modules with this profile. They can only narrow the server's settings.
 * - `pool`: the agents that execute the Runs; if absent, the control plane executes them
 * - `tool`: the tool, with a version if only that version may be used
 * - `isolation`: the lowest level to accept; a Run is refused if the machine offers less
 * - `network`: `isolated` requires a separate network for the Run
 * - `limits`: upper limits for one Run; limits in the settings still apply if they are lower
 */
export const ExecutionProfile = Schema.Struct({
  description: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(500))),
  pool: Schema.optionalKey(PoolName),
  tool: Schema.optionalKey(
    Schema.Struct({
      name: Schema.optionalKey(ToolIdentity.fields.name),
      version: Schema.optionalKey(
        Schema.String.check(
          Schema.isPattern(/^\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[0-9A-Za-z.]{1,32})?$/, {
            description: "an exact version such as 1.11.4"
          })
        )
      )
    })
  ),
  isolation: Schema.optionalKey(IsolationFloor),
  network: Schema.optionalKey(Schema.Literal("isolated")),
  limits: Schema.optionalKey(
    Schema.Struct({
      memory: Schema.optionalKey(ByteSize),
      processes: Schema.optionalKey(processes),
      tmp: Schema.optionalKey(ByteSize),
      shm: Schema.optionalKey(ByteSize),
      folder: Schema.optionalKey(ByteSize)
    })
  )
})
export type ExecutionProfile = typeof ExecutionProfile.Type

/** The profiles that an operator defines, by name. */
export const ExecutionProfiles = Schema.Record(ProfileName, ExecutionProfile)
