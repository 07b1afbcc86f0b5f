import { Schema } from "effect"
import { InputType } from "../manifest/InputType.ts"
import { InputFacts } from "./CompatibilityReport.ts"
import { InstallConfigId, SourceSnapshotId, WorkspaceId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"
import { PlannedCheck, SourceBuild } from "./Run.ts"

/** A declared variable of a configuration, with the origin of its value but never the value. */
export class DeclaredVariable extends Schema.Opaque<DeclaredVariable>()(
  Schema.Struct({
    name: Schema.String,
    type: InputType,
    required: Schema.Boolean,
    hasDefault: Schema.Boolean,
    sensitive: Schema.Boolean,
    ephemeral: Schema.Boolean,
    ...InputFacts.fields,
    /**
     * `user`: entered by a person; `module_default`: the module's default; `host`: delivered by svc; `operator`: set by the
     * operator's base configuration; all other values have the same meaning as in the manifest.
     */
    origin: Schema.Literals([
      "user",
      "capsule_name",
      "workspace_scoped_capsule_name",
      "module_default",
      "host",
      "operator"
    ]),
    /** True if this configuration sets a value. */
    set: Schema.Boolean
  }).annotate({ identifier: "DeclaredVariable" })
) {}

/**
 * The part of a configuration that comes from the operator's base configuration. `place` identifies the modules that a ready-made
 * configuration applies to. Values of variables are never shown.
 */
export class OperatorConfig extends Schema.Opaque<OperatorConfig>()(
  Schema.Struct({
    name: Schema.optionalKey(Schema.String),
    description: Schema.optionalKey(Schema.String),
    place: Schema.optionalKey(
      Schema.Struct({
        origin: Schema.String,
        path: Schema.optionalKey(Schema.String),
        module: Schema.optionalKey(Schema.String)
      })
    ),
    profile: Schema.String,
    variables: Schema.Array(Schema.String),
    postApply: Schema.Array(PlannedCheck)
  }).annotate({ identifier: "OperatorConfig" })
) {}

/** The public projection of a Capsule's private, immutable configuration (`capsule-configs`). */
export class InstallConfig extends Schema.Opaque<InstallConfig>()(
  Schema.Struct({
    id: InstallConfigId,
    workspaceId: WorkspaceId,
    origin: Schema.Literals(["operator", "repository_manifest", "generic"]),
    modulePath: Schema.String,
    sourceSnapshotId: Schema.optionalKey(SourceSnapshotId),
    digest: Schema.String,
    variables: Schema.Array(DeclaredVariable),
    outputAllowlist: Schema.Array(Schema.Json),
    interfaceBlueprints: Schema.Array(Schema.Json),
    /** The manifest's presentation of inputs and features, if a manifest was adopted. */
    presentation: Schema.optionalKey(Schema.Json),
    sourceBuild: Schema.optionalKey(SourceBuild),
    operator: Schema.optionalKey(OperatorConfig),
    createdAt: Timestamp
  }).annotate({ identifier: "InstallConfig" })
) {}
