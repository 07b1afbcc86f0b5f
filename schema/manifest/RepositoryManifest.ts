import { Schema } from "effect"
import { itemsBetween, propertiesBetween } from "./FieldRule.ts"
import { FeatureDeclaration } from "./FeatureDeclaration.ts"
import { InputDeclaration } from "./InputDeclaration.ts"
import { InterfaceDeclaration } from "./InterfaceDeclaration.ts"
import { RelativeFolder } from "./RelativePath.ts"
import { RequirementDeclaration, RequirementUntilV2_1 } from "./RequirementDeclaration.ts"
import { SourceBuild } from "./SourceBuildDeclaration.ts"

export const ManifestVersion = Schema.Literals([
  "svc.com/v1",
  "svc.com/v2",
  "svc.com/v2.1",
  "svc.com/v2.2",
  "svc.com/v2.3",
  "svc.com/v2.4"
])
export type ManifestVersion = typeof ManifestVersion.Type

const ModuleV1 = Schema.Struct({
  inputs: Schema.Array(InputDeclaration).check(itemsBetween(0, 128)),
  requires: Schema.optionalKey(Schema.Array(RequirementUntilV2_1).check(itemsBetween(0, 16))),
  features: Schema.optionalKey(Schema.Array(FeatureDeclaration).check(itemsBetween(0, 32)))
})

const ModuleV2 = Schema.Struct({
  ...ModuleV1.fields,
  interfaces: Schema.optionalKey(Schema.Array(InterfaceDeclaration).check(itemsBetween(0, 32)))
})

const ModuleV2_2 = Schema.Struct({
  ...ModuleV2.fields,
  requires: Schema.optionalKey(Schema.Array(RequirementDeclaration).check(itemsBetween(0, 16)))
})

/** The declarations that the newest version supports for one module. Every earlier version supports a subset of them. */
export const ModuleDeclaration = Schema.Struct({
  ...ModuleV2_2.fields,
  sourceBuild: Schema.optionalKey(SourceBuild)
})
export type ModuleDeclaration = typeof ModuleDeclaration.Type

const modulesOf = <Module extends Schema.Constraint>(module: Module) =>
  Schema.Record(Schema.String, module).check(propertiesBetween(1, 32), Schema.isPropertyNames(RelativeFolder))

const plainInstall = <Module extends Schema.Constraint>(module: Module) => Schema.Struct({ modules: modulesOf(module) })

const installWithDefault = <Module extends Schema.Constraint>(module: Module) =>
  Schema.Struct({ modules: modulesOf(module), defaultModule: Schema.optionalKey(RelativeFolder) })

const document = <Version extends ManifestVersion, Install extends Schema.Constraint>(
  version: Version,
  install: Install
) => Schema.Struct({ apiVersion: Schema.Literal(version), kind: Schema.Literal("Repository"), install })

/** The closed structure of each version. A released version never gains a field; new fields need a new version. */
export const manifestDocuments = {
  "svc.com/v1": document("svc.com/v1", plainInstall(ModuleV1)),
  "svc.com/v2": document("svc.com/v2", plainInstall(ModuleV2)),
  "svc.com/v2.1": document("svc.com/v2.1", installWithDefault(ModuleV2)),
  "svc.com/v2.2": document("svc.com/v2.2", installWithDefault(ModuleV2_2)),
  "svc.com/v2.3": document("svc.com/v2.3", installWithDefault(ModuleDeclaration)),
  "svc.com/v2.4": document("svc.com/v2.4", plainInstall(ModuleDeclaration))
}

/** A valid manifest of any version. */
export interface RepositoryManifest {
  readonly apiVersion: ManifestVersion
  readonly kind: "Repository"
  readonly install: {
    readonly modules: { readonly [modulePath: string]: ModuleDeclaration }
    readonly defaultModule?: string
  }
}
