import { compiler, inputs, installs, manifest, material, parser, requires, rules, versions } from "./RuleTests.ts"
import type { SpecificationRule } from "./SpecificationRule.ts"

const requireCompiler = manifest("RequirementCompiler")
const builds = manifest("SourceBuildDeclaration")
const interfaces = manifest("InterfaceDeclaration")
const hosting = "actors/Hosting.test.ts"

/** Rules in the repository manifest section of the specification. */
export const manifestRules: ReadonlyArray<SpecificationRule> = [
  ["UTF-8 JSON, at most 128 KiB", parser, "a manifest of 128 KiB is accepted, and one more byte is rejected (J5)"],
  [
    "a mismatch of manifest digest, snapshot, selected module or compatibility report fails closed",
    compiler,
    "another %s",
    "a manifest without a digest, or a digest without a manifest, is rejected"
  ],
  [
    "a proposal conflicting with an operator declaration is rejected, not merged over it",
    manifest("InterfaceCompiler"),
    "another document under the same key",
    "a delivery to the operator's variable"
  ],
  ["every object is closed; $schema and schemaVersion are rejected", parser, "$schema", "schemaVersion"],
  [
    "unknown versions and fields fail closed",
    versions,
    "no object in the full document accepts unknown fields",
    "an earlier manifest version rejects %s as an unknown field"
  ],
  ["root fields are exactly apiVersion, kind, install", parser, "no kind", "no install"],
  [
    "fields of each version",
    versions,
    "defaultModule before v2.1",
    "defaultModule in v2.4",
    "sourceBuild before v2.3",
    "interface.consume requires v2.2"
  ],
  ["identity.oidc: bindings from v2.4 on", requireCompiler, "runtime OIDC bindings require v2.4"],
  [
    "a v2 declaration keeps its shape and meaning under later versions",
    versions,
    "every version accepts the fields that all versions share"
  ],
  ["modules: 1 to 32 entries", parser, "0 modules", "32 modules", "33 modules"],
  ["module keys are canonical", parser, "the module key %p is canonical", "the module key %p has an invalid length"],
  ["defaultModule must equal a key of modules", parser, "defaultModule names a key", "defaultModule names no key"],
  ["adding a module-selection field to install is invalid", parser, "modulePath in install"],
  ["inputs: required array, at most 128", inputs, "inputs are required", "128 of them", "129 of them"],
  [
    "input name: 1 to 128 characters, exact pattern",
    inputs,
    "name of 128 characters",
    "name of 129 characters",
    "empty name",
    "name with a leading digit"
  ],
  ["input source: only kind, one of four", inputs, "unknown source kind", "more in source"],
  [
    "label: ja and en, 1 to 160 characters, not blank, no control characters",
    inputs,
    "label of 160 characters",
    "label of 161 characters",
    "blank label",
    "label with tab, line feed, carriage return inside"
  ],
  ["role, type", inputs, "unknown role", "unknown type"],
  [
    "format: 1 to 64 characters, pattern",
    inputs,
    "format of 64 characters",
    "format of 65 characters",
    "format beginning with a sign"
  ],
  ["helper: each 1 to 2000 characters", inputs, "helper of 2,000 characters", "helper of 2,001 characters"],
  [
    "placeholder: 1 to 256 characters, not blank",
    inputs,
    "placeholder of 256 characters",
    "placeholder of 257 characters",
    "blank placeholder"
  ],
  ["secret: true requires source.kind user", rules, "a secret user input", "a secret capsule_name input"],
  [
    "module_default forbids required: true",
    rules,
    "a required module default",
    "a module default that is not required"
  ],
  ["an input named env cannot be initial_secret or secret", rules, "env as a secret", "env as the initial secret"],
  ["names and roles are unique within a module", rules, "a name twice", "a role twice"],
  ["leading or trailing whitespace is rejected rather than trimmed", inputs, "name with outer white space (J9)"],
  [
    "an input is adopted only when the report proves variable, type and default",
    manifest("InputCompiler"),
    "a manifest is rejected if an input's variable or type cannot be verified (J11)"
  ],
  [
    "label, helper and placeholder are scanned for credential-like material; prose is accepted",
    material,
    "placeholder",
    "public material may contain prose that mentions credentials"
  ],
  ["requires: at most 16", requires, "16 of them", "17 of them"],
  [
    "deliver holds exactly one of variables or bindings, with at least one entry",
    requires,
    "both lanes",
    "no lane",
    "no slot"
  ],
  [
    "target names: 1 to 128 characters, pattern",
    requires,
    "target of 128 characters",
    "target of 129 characters",
    "target with a dash"
  ],
  ["slot names are closed per kind", requires, "slot of another kind"],
  [
    "two requirements cannot claim the same delivery name",
    rules,
    "a delivery target twice",
    "a delivery target in both lanes"
  ],
  [
    "the compiler rejects host-reserved bindings, absent or non-string variables, kinds outside policy",
    requireCompiler,
    "an absent variable",
    "a variable that is not a string",
    "a kind outside the policy",
    "LD_PRELOAD"
  ],
  [
    "secret.generated: bytes 16 to 64, encoding, at most 8 per module",
    requires,
    "16 bytes",
    "15 bytes",
    "64 bytes",
    "65 bytes",
    "encoding base64"
  ],
  ["at most 8 secret.generated requirements per module", rules, "8 generated secrets", "9 generated secrets"],
  ["http.endpoint: singleton, three slots", rules, "two endpoints"],
  ["identity.oidc: callbackPath", requires, "callback of 513 characters", "callback ${path"],
  [
    "identity.oidc: 1 to 16 unique scopes of 1 to 128 characters",
    requires,
    "16 scopes",
    "17 scopes",
    "a scope twice",
    "scope of 129 characters"
  ],
  [
    "exactly one identity.oidc and one http.endpoint that delivers url to a separate variable",
    rules,
    "two identities",
    "an identity alone",
    "an endpoint url in a variable of the identity"
  ],
  ["the endpoint delivers url to a variable", requireCompiler, "an endpoint that delivers no url"],
  ["delivery is variables-only with exactly four slots", requireCompiler, "three slots", "a fifth slot"],
  [
    "scopes include openid and stay inside the allowlist; with none no capability is granted",
    requireCompiler,
    "a scope outside the allowlist",
    "an identity is not granted without a scope allowlist"
  ],
  [
    "the endpoint url is a canonical HTTPS origin; values are pinned; only the final Apply registers; retired by destroy",
    hosting,
    "a sign-in client is pinned at plan time, registered only by the apply, and retired by the destroy"
  ],
  [
    "drift of origin, variable, callback, scope or digest fails before the runner executes",
    hosting,
    "svc rejects an apply before its tool starts if a delivered value has changed"
  ],
  [
    "interface.consume: module-unique key, type, version, 1 to 16 permissions, delivery type",
    requires,
    "consume type of 257 characters",
    "consume with 17 permissions",
    "consume with more in delivery"
  ],
  [
    "consumed only when exactly one Resolved Interface of the Workspace matches",
    hosting,
    "a plan reports a consumed Interface that has no provider in the Workspace, or no provider at all",
    "a withdrawn endpoint blocks plans and applies, but not drift checks or destroys"
  ],
  [
    "the binding is least-privilege and for the authenticated principal",
    hosting,
    "a consumed Interface is resolved after the plan, bound during review, and ready after the apply"
  ],
  [
    "features: at most 32, id, label, inputs",
    manifest("FeatureDeclaration"),
    "33 of them",
    "id of 97 characters",
    "no inputs",
    "an input twice"
  ],
  [
    "each feature input is a user input of the module and of one feature",
    rules,
    "a feature of an unknown input",
    "a feature of an input that is not the user's",
    "an input in two features"
  ],
  [
    "sourceBuild: 1 to 8 commands, argv of 1 to 32 entries of 1 to 4096 characters, 1 to 16 outputs",
    builds,
    "8 commands",
    "9 commands",
    "33 arguments",
    "argument of 4,097 characters",
    "17 outputs"
  ],
  [
    "sourceBuild paths are canonical; . is no output; no env, credentials, provider or lifecycle fields",
    builds,
    "working directory ${",
    "output ${",
    "env",
    "provider"
  ],
  ["no secret-like material in argv", material, "arguments that are one only together"],
  [
    "no provider credential reaches the build phase; argv without a shell",
    "runner/execution/SourceBuild.test.ts",
    "a source build runs without a shell, credentials or network access"
  ],
  [
    "a reviewed sourceBuild has the manifest's shape",
    installs,
    "A reviewed build has the same limits as a build in a manifest"
  ],
  [
    "interfaces: key, name, type, version, document, inputs",
    interfaces,
    "key of 129 characters",
    "name of 129 characters",
    "type of 257 characters",
    "document 33 deep",
    "65 inputs"
  ],
  ["access: visibility workspace, no policyRef", interfaces, "visibility public", "policyRef"],
  ["resourceUriInput names an input of the same spec", rules, "an unknown resource input"],
  [
    "Interface keys and names are unique; one Output has one public type",
    rules,
    "an Interface key twice",
    "an Interface name twice",
    "one Output as two types"
  ],
  [
    "the report must prove each Output with sensitive: false and ephemeral: false",
    manifest("InterfaceCompiler"),
    "a sensitive Output",
    "an ephemeral Output",
    "no such Output"
  ],
  [
    "binding requests: at most 1, closed, installing_principal, 1 to 16 permissions",
    interfaces,
    "2 binding requests",
    "another subject",
    "17 permissions",
    "permission of 257 characters"
  ],
  [
    "the default permits ui.open with none and mcp.invoke with oauth2 only",
    manifest("InterfaceCompiler"),
    "ui.open with none",
    "mcp.invoke with oauth2",
    "ui.open with oauth2"
  ],
  [
    "Interface JSON is scanned for secret-like values and authority-key names",
    material,
    "Interface names",
    "public material may not contain ids of host records"
  ],
  [
    "diagnostics never echo a rejected value",
    manifest("ManifestProperties"),
    "no diagnostic repeats a value from the document"
  ],
  [
    "whatever the published schemas reject the parser rejects",
    manifest("PublishedSchemas"),
    "the published schema rejects nothing that the parser accepts",
    "the published schemas match the definitions exactly"
  ],
  [
    "the published schemas are served",
    "src/http/Handoff.test.ts",
    "the published schemas are public, and identical to the files in the repository"
  ]
]
