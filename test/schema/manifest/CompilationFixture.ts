import { Result } from "effect"
import type { CompiledInstall } from "../../../schema/manifest/CompiledInstall.ts"
import {
  type CompilationRequest,
  compileInstallConfig,
  type ManifestDeclaration
} from "../../../schema/manifest/InstallConfigCompiler.ts"
import type { OutputFacts, VariableFacts } from "../../../schema/manifest/ModuleFacts.ts"
import { defaultOperatorPolicy, emptyBaseConfig, type OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"
import { type JsonObject, manifest, parse } from "./ManifestFixture.ts"

export const pins = {
  sourceSnapshotId: "snap_1",
  compatibilityReportId: "rep_1",
  modulePath: ".",
  manifestDigest: `sha256:${"a".repeat(64)}`
}
export const variable = (name: string, more: Partial<VariableFacts> = {}): VariableFacts => {
  const hasDefault = more.hasDefault ?? false
  return { name, type: "string", hasDefault, required: !hasDefault, sensitive: false, ephemeral: false, ...more }
}
export const output = (name: string, more: Partial<OutputFacts> = {}): OutputFacts => ({
  name,
  sensitive: false,
  ephemeral: false,
  ...more
})
export const env = variable("env", { type: "json", hasDefault: true, mapOfStrings: true })

export const declare = (document: JsonObject): ManifestDeclaration =>
  Result.match(parse(document), {
    onSuccess: (parsed): ManifestDeclaration => ({ _tag: "Parsed", manifest: parsed }),
    onFailure: (refusal): ManifestDeclaration => ({ _tag: "Refused", refusal })
  })

export const openPolicy: OperatorPolicy = {
  ...defaultOperatorPolicy,
  allowedOidcScopes: ["openid", "profile", "email"]
}

export const request = (
  module: JsonObject,
  more: Partial<CompilationRequest> = {},
  facts: Partial<CompilationRequest["facts"]> = {}
): CompilationRequest => ({
  pins,
  facts: { pins, variables: [], outputs: [], ...facts },
  manifestKey: pins.modulePath,
  declaration: declare(manifest("svc.com/v2.4", module)),
  policy: openPolicy,
  base: emptyBaseConfig,
  ...more
})

export const compile = (...parts: Parameters<typeof request>) =>
  Result.getOrThrow(compileInstallConfig(request(...parts)))
export const variables = (...facts: ReadonlyArray<VariableFacts>) => ({ variables: facts })
export const told = (compiled: CompiledInstall) =>
  compiled.diagnostics.map(({ code, path }) => `${code} ${path.replace("/install/modules/./", "")}`)
