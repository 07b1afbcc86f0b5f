import { Schema } from "effect"
import { InstallConfigId, SourceSnapshotId } from "../records/Ids.ts"
import { requiredText } from "../records/Primitives.ts"
import { ProviderBinding } from "../records/Provider.ts"
import { VariableValues } from "./InstallPlansApi.ts"

export class ConfigurationPlanRequest extends Schema.Opaque<ConfigurationPlanRequest>()(
  Schema.Struct({
    variablePatch: Schema.optionalKey(
      Schema.Struct({
        set: Schema.optionalKey(VariableValues),
        remove: Schema.optionalKey(Schema.Array(Schema.String))
      })
    ),
    providerBindings: Schema.optionalKey(Schema.Array(ProviderBinding).check(Schema.isMaxLength(64))),
    interfaceBlueprints: Schema.optionalKey(Schema.Array(Schema.Json).check(Schema.isMaxLength(32))),
    expected: Schema.Struct({ authorityGuard: Schema.String.check(Schema.isMaxLength(256)) })
  }).annotate({ identifier: "ConfigurationPlanRequest" })
) {}

export class ReAdoptionRequest extends Schema.Opaque<ReAdoptionRequest>()(
  Schema.Struct({
    baseInstallConfigId: InstallConfigId,
    sourceSnapshotId: SourceSnapshotId,
    reason: requiredText(1000),
    reviewedUserVariables: Schema.optionalKey(VariableValues),
    expected: Schema.Struct({ authorityGuard: Schema.String.check(Schema.isMaxLength(256)) })
  }).annotate({ identifier: "ReAdoptionRequest" })
) {}
