import { describe, expect, test } from "bun:test"
import { Result, Schema } from "effect"
import { CompiledInstall } from "../../../schema/manifest/CompiledInstall.ts"
import {
  type CompilationRequest,
  compileInstallConfig,
  type ManifestDeclaration
} from "../../../schema/manifest/InstallConfigCompiler.ts"
import type { OutputFacts, VariableFacts } from "../../../schema/manifest/ModuleFacts.ts"
import { defaultOperatorPolicy, emptyBaseConfig, type OperatorPolicy } from "../../../schema/manifest/OperatorPolicy.ts"
import {
  bindingRequest,
  consume,
  endpoint,
  feature,
  fullModule,
  iface,
  interfaceSpec,
  type JsonObject,
  label,
  manifest,
  oidc,
  parse,
  secret,
  sourceBuild,
  userInput
} from "./ManifestFixture.ts"

const pins = {
  sourceSnapshotId: "snap_1",
  compatibilityReportId: "rep_1",
  modulePath: ".",
  manifestDigest: `sha256:${"a".repeat(64)}`
}
const variable = (name: string, more: Partial<VariableFacts> = {}): VariableFacts => {
  const hasDefault = more.hasDefault ?? false
  return { name, type: "string", hasDefault, required: !hasDefault, sensitive: false, ephemeral: false, ...more }
}
const output = (name: string, more: Partial<OutputFacts> = {}): OutputFacts => ({
  name,
  sensitive: false,
  ephemeral: false,
  ...more
})
const env = variable("env", { type: "json", hasDefault: true })

const declare = (document: JsonObject): ManifestDeclaration =>
  Result.match(parse(document), {
    onSuccess: (parsed): ManifestDeclaration => ({ _tag: "Parsed", manifest: parsed }),
    onFailure: (refusal): ManifestDeclaration => ({ _tag: "Refused", refusal })
  })

const openPolicy: OperatorPolicy = { ...defaultOperatorPolicy, allowedOidcScopes: ["openid", "profile", "email"] }

const request = (
  module: JsonObject,
  more: Partial<CompilationRequest> = {},
  facts: Partial<CompilationRequest["facts"]> = {}
): CompilationRequest => ({
  pins,
  facts: { pins, variables: [], outputs: [], ...facts },
  declaration: declare(manifest("svc.com/v2.4", module)),
  policy: openPolicy,
  base: emptyBaseConfig,
  ...more
})

const compile = (...parts: Parameters<typeof request>) => Result.getOrThrow(compileInstallConfig(request(...parts)))
const variables = (...facts: ReadonlyArray<VariableFacts>) => ({ variables: facts })
const told = (compiled: CompiledInstall) =>
  compiled.diagnostics.map(({ code, path }) => `${code} ${path.replace("/install/modules/./", "")}`)

const fullFacts = {
  variables: [
    ...["service_name", "admin_password", "slug", "session_key", "public_url"].map((name) => variable(name)),
    ...["accounts_url", "issuer_url", "client_id", "redirect_uri"].map((name) => variable(name)),
    variable("size", { type: "number", hasDefault: true }),
    variable("region", { hasDefault: true }),
    variable("extra", { type: "json" }),
    variable("extra_secret", { hasDefault: true, sensitive: true })
  ],
  outputs: [output("url")]
}

describe("a proven manifest", () => {
  const compiled = compile(fullModule, {}, fullFacts)

  test("is adopted whole", () => {
    expect(told(compiled)).toEqual([])
    expect(compiled).toMatchObject({
      origin: "repository_manifest",
      assistance: "adopted",
      manifestVersion: "svc.com/v2.4",
      pins,
      features: [{ id: "sizing" }],
      interfaceBlueprints: [{ key: "ui", name: "Ui" }],
      bindingRequests: [{ interfaceKey: "ui", key: "open", permissions: ["ui.open"], delivery: { type: "none" } }],
      outputAllowlist: [{ name: "url", type: "url" }],
      sourceBuild: { origin: "repository" }
    })
  })

  test("gives every variable one owner", () => {
    expect(
      compiled.inputs.map(({ name, origin, required, secret, source, type }) => [
        name,
        origin,
        source,
        type,
        required,
        secret
      ])
    ).toEqual([
      ["service_name", "manifest", "user", "string", true, false],
      ["admin_password", "manifest", "user", "string", true, true],
      ["size", "manifest", "user", "number", false, false],
      ["slug", "manifest", "workspace_scoped_capsule_name", "string", false, false],
      ["region", "manifest", "module_default", "string", false, false],
      ["extra", "generic", "user", "json", true, false],
      ["extra_secret", "generic", "user", "string", false, true]
    ])
  })

  test("resolves requirements to exact targets", () => {
    expect(compiled.requires).toEqual([
      {
        kind: "secret.generated",
        bytes: 48,
        encoding: "base64url",
        deliveries: [{ slot: "value", lane: "variable", name: "session_key" }]
      },
      { kind: "http.endpoint", deliveries: [{ slot: "url", lane: "variable", name: "public_url" }] },
      {
        kind: "identity.oidc",
        callbackPath: "/auth/callback",
        scopes: ["openid", "profile"],
        endpointVariable: "public_url",
        deliveries: [
          { slot: "accountsUrl", lane: "variable", name: "accounts_url" },
          { slot: "issuerUrl", lane: "variable", name: "issuer_url" },
          { slot: "clientId", lane: "variable", name: "client_id" },
          { slot: "redirectUri", lane: "variable", name: "redirect_uri" }
        ]
      },
      {
        kind: "interface.consume",
        key: "mail",
        interface: { type: "mail.smtp", version: "v1" },
        permissions: ["mcp.invoke"],
        delivery: { type: "oauth2" }
      }
    ])
  })

  test("is stored and read back as JSON", () => {
    const stored = JSON.stringify(Schema.encodeSync(Schema.toCodecJson(CompiledInstall))(compiled))
    expect(Schema.decodeUnknownSync(Schema.toCodecJson(CompiledInstall))(JSON.parse(stored))).toEqual(compiled)
  })
})

describe("without a usable manifest the generic install goes on", () => {
  const facts = variables(variable("a"), variable("b", { hasDefault: true, sensitive: true }))
  const generic = [
    {
      name: "a",
      type: "string",
      origin: "generic",
      source: "user",
      required: true,
      hasDefault: false,
      secret: false,
      advanced: false
    },
    {
      name: "b",
      type: "string",
      origin: "generic",
      source: "user",
      required: false,
      hasDefault: true,
      secret: true,
      advanced: false
    }
  ] as const
  const { manifestDigest: _, ...absentPins } = pins

  test("absent", () => {
    const compiled = compile({}, { pins: absentPins, declaration: { _tag: "Absent" } }, { ...facts, pins: absentPins })
    expect(compiled).toMatchObject({ origin: "generic", assistance: "absent", diagnostics: [] })
    expect(compiled.inputs).toEqual(generic)
  })

  test("invalid: nothing of it is adopted, and the reasons stay", () => {
    const compiled = compile({ inputs: [userInput("a"), userInput("a")] }, {}, facts)
    expect(compiled).toMatchObject({ origin: "generic", assistance: "invalid", requires: [], features: [] })
    expect(compiled.inputs).toEqual(generic)
    expect(told(compiled)).toEqual(["duplicate_name inputs/1/name"])
  })

  test("not declared: a manifest says nothing of a module that it does not name", () => {
    const other = declare(manifest("svc.com/v2.4", {}, { modules: { app: { inputs: [userInput("a")] } } }))
    const compiled = compile({}, { declaration: other }, facts)
    expect(compiled).toMatchObject({ origin: "generic", assistance: "not_declared", diagnostics: [] })
    expect(compiled.inputs).toEqual(generic)
  })

  test("a module path that is a prototype name is not declared (J4)", () => {
    const odd = { ...pins, modulePath: "constructor" }
    const compiled = compile({ inputs: [userInput("a")] }, { pins: odd }, { ...facts, pins: odd })
    expect(compiled.assistance).toBe("not_declared")
  })

  test("rejected: one unproven input turns all of it off", () => {
    const compiled = compile(
      { inputs: [userInput("a"), userInput("missing")], features: [feature("f", ["a"])], sourceBuild: sourceBuild() },
      {},
      facts
    )
    expect(compiled).toMatchObject({ origin: "generic", assistance: "rejected", features: [] })
    expect(compiled.inputs).toEqual(generic)
    expect("sourceBuild" in compiled).toBe(false)
    expect(told(compiled)).toEqual(["variable_not_found inputs/1/name"])
  })
})

describe("inputs are proven (J11)", () => {
  const from = (kind: string, more: JsonObject = {}) => ({ name: "a", source: { kind }, label, ...more })
  test.each<readonly [string, JsonObject, VariableFacts, ReadonlyArray<string>]>([
    ["exact type", userInput("a", { type: "number" }), variable("a", { type: "number" }), []],
    ["another type", userInput("a", { type: "number" }), variable("a"), ["variable_type_not_proven inputs/0"]],
    ["no declared type", userInput("a"), variable("a", { type: "json" }), []],
    ["a name that differs in case", userInput("A"), variable("a"), ["variable_not_found inputs/0/name"]],
    ["capsule_name into a string", from("capsule_name"), variable("a"), []],
    [
      "capsule_name into a number",
      from("capsule_name"),
      variable("a", { type: "number" }),
      ["variable_type_not_proven inputs/0"]
    ],
    [
      "workspace_scoped_capsule_name into json",
      from("workspace_scoped_capsule_name"),
      variable("a", { type: "json" }),
      ["variable_type_not_proven inputs/0"]
    ],
    [
      "a role on a boolean",
      userInput("a", { role: "service_name" }),
      variable("a", { type: "boolean" }),
      ["variable_type_not_proven inputs/0"]
    ],
    [
      "a role on a declared number",
      userInput("a", { role: "service_name", type: "number" }),
      variable("a", { type: "number" }),
      ["variable_type_not_proven inputs/0"]
    ],
    ["module_default with a default", from("module_default"), variable("a", { hasDefault: true }), []],
    ["module_default without a default", from("module_default"), variable("a"), ["default_not_proven inputs/0/source"]],
    ["optional with a default", userInput("a", { required: false }), variable("a", { hasDefault: true }), []],
    [
      "optional without a default",
      userInput("a", { required: false }),
      variable("a"),
      ["default_not_proven inputs/0/required"]
    ],
    ["required with a default", userInput("a", { required: true }), variable("a", { hasDefault: true }), []]
  ])("%s", (_, input, fact, expected) => {
    expect(told(compile({ inputs: [input] }, {}, variables(fact)))).toEqual([...expected])
  })

  test("a manifest can raise secrecy and cannot lower it", () => {
    const secretOf = (input: JsonObject, fact: Partial<VariableFacts>) =>
      compile({ inputs: [userInput("a", input)] }, {}, variables(variable("a", fact))).inputs[0]?.secret
    expect(secretOf({}, {})).toBe(false)
    expect(secretOf({ secret: true }, {})).toBe(true)
    expect(secretOf({ role: "initial_secret" }, {})).toBe(true)
    expect(secretOf({ secret: false }, { sensitive: true })).toBe(true)
    expect(secretOf({ secret: false }, { ephemeral: true })).toBe(true)
  })

  test("a required: true input stays required although the module has a default", () => {
    const compiled = compile(
      { inputs: [userInput("a", { required: true })] },
      {},
      variables(variable("a", { hasDefault: true }))
    )
    expect(compiled.inputs).toMatchObject([{ name: "a", required: true, hasDefault: true }])
  })
})

describe("requirements are proven (J11)", () => {
  const identityFacts = variables(
    ...["public_url", "accounts_url", "issuer_url", "client_id", "redirect_uri"].map((name) => variable(name)),
    env
  )
  const bound = oidc({
    deliver: {
      bindings: {
        accountsUrl: "ACCOUNTS_URL",
        issuerUrl: "ISSUER_URL",
        clientId: "CLIENT_ID",
        redirectUri: "REDIRECT_URI"
      }
    }
  })
  const binding = (name: string) => secret("x", { deliver: { bindings: { value: name } } })

  test.each<readonly [string, ReadonlyArray<JsonObject>, Partial<OperatorPolicy>, ReadonlyArray<string>]>([
    ["an absent variable", [secret("missing")], {}, ["variable_not_found requires/0/deliver/variables/value"]],
    [
      "a variable that is no string",
      [secret("env")],
      {},
      ["variable_type_not_proven requires/0/deliver/variables/value"]
    ],
    [
      "a kind outside the policy",
      [secret("client_id")],
      { allowedRequirementKinds: ["http.endpoint"] },
      ["requirement_kind_not_allowed requires/0"]
    ],
    ["a binding", [binding("SESSION_KEY")], {}, []],
    ...[
      "PATH",
      "TF_LOG",
      "tf_var_x",
      "LD_PRELOAD",
      "HTTPS_PROXY",
      "SVC_MASTER_KEY",
      "GIT_SSH_COMMAND",
      "NODE_OPTIONS"
    ].map(
      (name) =>
        [
          `the reserved binding ${name}`,
          [binding(name)],
          {},
          ["reserved_binding requires/0/deliver/bindings/value"]
        ] as const
    ),
    ["an identity", [endpoint(), oidc()], {}, []],
    [
      "an identity without a scope allowlist",
      [endpoint(), oidc()],
      { allowedOidcScopes: [] },
      ["oidc_not_allowed requires/1"]
    ],
    [
      "a scope outside the allowlist",
      [endpoint(), oidc()],
      { allowedOidcScopes: ["openid"] },
      ["oidc_scope_not_allowed requires/1/scopes/1"]
    ],
    ["a callback inside the allowlist", [endpoint(), oidc()], { allowedOidcCallbackPaths: ["/auth/callback"] }, []],
    [
      "a callback outside the allowlist",
      [endpoint(), oidc()],
      { allowedOidcCallbackPaths: ["/other"] },
      ["oidc_callback_not_allowed requires/1/callbackPath"]
    ],
    ["runtime OIDC bindings that the operator allows", [endpoint(), bound], { runtimeOidcBindings: true }, []],
    [
      "runtime OIDC bindings that it does not",
      [endpoint(), bound],
      {},
      ["oidc_bindings_not_allowed requires/1/deliver/bindings"]
    ],
    ["consume with a permission of the default policy", [consume()], {}, []],
    [
      "consume with another delivery",
      [consume({ delivery: { type: "none" } })],
      {},
      ["permission_not_allowed requires/0/permissions/0"]
    ]
  ])("%s", (_, requires, policy, expected) => {
    expect(told(compile({ requires: [...requires] }, { policy: { ...openPolicy, ...policy } }, identityFacts))).toEqual(
      [...expected]
    )
  })

  test("without any scope allowlist no identity is granted", () => {
    expect(told(compile({ requires: [endpoint(), oidc()] }, { policy: defaultOperatorPolicy }, identityFacts))).toEqual(
      ["oidc_not_allowed requires/1"]
    )
  })

  test("runtime OIDC bindings are entries of env", () => {
    const compiled = compile(
      { requires: [endpoint(), bound] },
      { policy: { ...openPolicy, runtimeOidcBindings: true } },
      identityFacts
    )
    expect(compiled.requires[1]).toMatchObject({
      endpointVariable: "public_url",
      deliveries: [
        { slot: "accountsUrl", lane: "binding", name: "ACCOUNTS_URL" },
        { slot: "issuerUrl", lane: "binding", name: "ISSUER_URL" },
        { slot: "clientId", lane: "binding", name: "CLIENT_ID" },
        { slot: "redirectUri", lane: "binding", name: "REDIRECT_URI" }
      ]
    })
    expect(compiled.inputs.map(({ name }) => name)).not.toContain("env")
  })

  test("a binding needs a map of strings named env", () => {
    expect(told(compile({ requires: [binding("A")] }))).toEqual([
      "binding_environment_not_found requires/0/deliver/bindings/value"
    ])
    expect(told(compile({ requires: [binding("A")] }, {}, variables(variable("env"))))).toEqual([
      "binding_environment_not_found requires/0/deliver/bindings/value"
    ])
  })

  test("an input and a requirement do not share a variable", () => {
    expect(
      told(compile({ inputs: [userInput("client_id")], requires: [secret("client_id")] }, {}, identityFacts))
    ).toEqual(["variable_claimed_twice inputs/0/name"])
    expect(told(compile({ inputs: [userInput("env")], requires: [binding("A")] }, {}, identityFacts))).toEqual([
      "variable_claimed_twice inputs/0/name"
    ])
  })

  test("what a requirement delivers is not asked of the user", () => {
    expect(compile({ requires: [secret("client_id")] }, {}, variables(variable("client_id"))).inputs).toEqual([])
  })
})

describe("interfaces are proven (J11)", () => {
  const spec = interfaceSpec({ inputs: { url: { source: "output", outputName: "url", outputType: "url" } } })
  const at = "interfaces/0/spec/inputs/url/outputName"
  test.each<readonly [string, ReadonlyArray<OutputFacts>, ReadonlyArray<string>]>([
    ["a public Output", [output("url")], []],
    ["no such Output", [output("URL")], [`output_not_found ${at}`]],
    ["a sensitive Output", [output("url", { sensitive: true })], [`output_not_public ${at}`]],
    ["an ephemeral Output", [output("url", { ephemeral: true })], [`output_not_public ${at}`]]
  ])("%s", (_, outputs, expected) => {
    expect(told(compile({ interfaces: [iface({ spec })] }, {}, { outputs }))).toEqual([...expected])
  })

  const asking = (permissions: ReadonlyArray<string>, type: string) => ({
    interfaces: [iface({ bindingRequests: [bindingRequest({ permissions: [...permissions], delivery: { type } })] })]
  })
  const where = "interfaces/0/bindingRequests/0/permissions"
  test.each<readonly [string, JsonObject, Partial<OperatorPolicy>, ReadonlyArray<string>]>([
    ["ui.open with none", asking(["ui.open"], "none"), {}, []],
    ["mcp.invoke with oauth2", asking(["mcp.invoke"], "oauth2"), {}, []],
    ["ui.open with oauth2", asking(["ui.open"], "oauth2"), {}, [`permission_not_allowed ${where}/0`]],
    ["one of two", asking(["ui.open", "admin"], "none"), {}, [`permission_not_allowed ${where}/1`]],
    [
      "another permission that the operator allows",
      asking(["mail.send"], "none"),
      { allowedPermissions: [{ permission: "mail.send", delivery: "none" }] },
      []
    ],
    [
      "a default permission that the operator took away",
      asking(["ui.open"], "none"),
      { allowedPermissions: [] },
      [`permission_not_allowed ${where}/0`]
    ]
  ])("%s", (_, module, policy, expected) => {
    expect(told(compile(module, { policy: { ...openPolicy, ...policy } }))).toEqual([...expected])
  })
})

describe("the operator's declarations are ceilings", () => {
  const declared = compile(
    {
      interfaces: [
        iface({
          bindingRequests: [bindingRequest()],
          spec: interfaceSpec({ inputs: { url: { source: "output", outputName: "url", outputType: "url" } } })
        })
      ]
    },
    {},
    { outputs: [output("url")] }
  )
  const base = {
    ...emptyBaseConfig,
    variables: ["region"],
    interfaceBlueprints: declared.interfaceBlueprints,
    bindingRequests: declared.bindingRequests,
    outputAllowlist: declared.outputAllowlist
  }
  const facts = { variables: [variable("a"), variable("region")], outputs: [output("url"), output("other")] }
  const withUrl = (more: JsonObject) =>
    iface({
      ...more,
      spec: interfaceSpec({ inputs: { url: { source: "output", outputName: "url", outputType: "url" } } })
    })

  test("equal declarations merge into one", () => {
    const compiled = compile({ interfaces: [withUrl({ bindingRequests: [bindingRequest()] })] }, { base }, facts)
    expect(compiled.assistance).toBe("adopted")
    expect(compiled.interfaceBlueprints).toEqual(base.interfaceBlueprints)
    expect(compiled.bindingRequests).toEqual(base.bindingRequests)
    expect(compiled.outputAllowlist).toEqual(base.outputAllowlist)
  })

  test("new keys are added beside the operator's", () => {
    const compiled = compile({ interfaces: [iface({ key: "api", name: "Api" })] }, { base }, facts)
    expect(compiled.interfaceBlueprints.map(({ key }) => key)).toEqual(["ui", "api"])
  })

  test.each<readonly [string, JsonObject, ReadonlyArray<string>]>([
    ["another document under the same key", { interfaces: [iface()] }, ["operator_declaration_conflict interfaces/0"]],
    [
      "the operator's name under another key",
      { interfaces: [withUrl({ key: "other" })] },
      ["operator_declaration_conflict interfaces/0"]
    ],
    [
      "another binding request",
      { interfaces: [withUrl({ bindingRequests: [bindingRequest({ key: "x" })] })] },
      ["operator_declaration_conflict interfaces/0/bindingRequests/0"]
    ],
    [
      "another public type",
      {
        interfaces: [
          iface({
            key: "b",
            name: "B",
            spec: interfaceSpec({ inputs: { u: { source: "output", outputName: "url", outputType: "string" } } })
          })
        ]
      },
      ["operator_declaration_conflict interfaces/0/spec/inputs/u/outputName"]
    ],
    [
      "an input for the operator's variable",
      { inputs: [userInput("region")] },
      ["operator_declaration_conflict inputs/0/name"]
    ],
    [
      "a delivery to the operator's variable",
      { requires: [secret("region")] },
      ["operator_declaration_conflict requires/0/deliver/variables/value"]
    ]
  ])("%s is rejected, and the operator's stays", (_, module, expected) => {
    const compiled = compile(module, { base }, facts)
    expect(told(compiled)).toEqual([...expected])
    expect(compiled).toMatchObject({
      assistance: "rejected",
      interfaceBlueprints: base.interfaceBlueprints,
      outputAllowlist: base.outputAllowlist
    })
  })

  test("the operator's variables are asked of nobody", () => {
    expect(compile({}, { base }, facts).inputs.map(({ name }) => name)).toEqual(["a"])
  })

  test("the operator's sourceBuild wins, also without a manifest", () => {
    const operators = { commands: [{ argv: ["make"] }], outputs: ["out"] }
    const withBuild = { ...emptyBaseConfig, sourceBuild: operators }
    expect(compile({ sourceBuild: sourceBuild() }, { base: withBuild }).sourceBuild).toEqual({
      origin: "operator",
      proposal: operators
    })
    expect(compile({ inputs: [userInput("missing")] }, { base: withBuild }).sourceBuild).toEqual({
      origin: "operator",
      proposal: operators
    })
    expect(compile({ sourceBuild: sourceBuild() }).sourceBuild?.origin).toBe("repository")
  })
})

describe("an operator who requires an exact version", () => {
  const policy = { ...openPolicy, requiredManifestVersion: "svc.com/v2.4" as const }
  const refusal = (more: Partial<CompilationRequest>, module: JsonObject = {}) => {
    const result = compileInstallConfig(request(module, { policy, ...more }))
    return Result.isFailure(result) && result.failure._tag === "ManifestRequired"
      ? result.failure.diagnostics.map(({ code }) => String(code))
      : "compiled"
  }
  const { manifestDigest: _, ...absentPins } = pins

  test("accepts that version, and makes everything else fatal", () => {
    expect(refusal({})).toBe("compiled")
    expect(refusal({ declaration: declare(manifest("svc.com/v2.3")) })).toEqual(["manifest_version_mismatch"])
    expect(
      refusal({ declaration: declare(manifest("svc.com/v2.4", {}, { modules: { app: { inputs: [] } } })) })
    ).toEqual(["module_not_declared"])
    expect(refusal({ declaration: declare({ apiVersion: "svc.com/v9" }) })).toEqual(["unknown_version"])
    expect(refusal({}, { inputs: [userInput("missing")] })).toEqual(["variable_not_found"])
    expect(
      refusal({
        pins: absentPins,
        facts: { pins: absentPins, variables: [], outputs: [] },
        declaration: { _tag: "Absent" }
      })
    ).toEqual(["manifest_absent"])
  })
})

describe("evidence that is not of one piece is fatal under every policy", () => {
  const mismatch = (more: Partial<CompilationRequest>) => {
    const result = compileInstallConfig(request({}, more))
    return Result.isFailure(result) && result.failure._tag === "InstallEvidenceMismatch"
      ? result.failure.fields
      : "compiled"
  }
  test.each(["sourceSnapshotId", "compatibilityReportId", "modulePath", "manifestDigest"] as const)(
    "another %s",
    (name) => {
      expect(mismatch({ pins: { ...pins, [name]: "other" } })).toEqual([name])
    }
  )
  test("a manifest without a digest, and a digest without a manifest", () => {
    const { manifestDigest: _, ...rest } = pins
    expect(mismatch({ pins: rest, facts: { pins: rest, variables: [], outputs: [] } })).toEqual(["manifestDigest"])
    expect(mismatch({ declaration: { _tag: "Absent" } })).toEqual(["manifestDigest"])
    expect(mismatch({})).toBe("compiled")
  })
})
