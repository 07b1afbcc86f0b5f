import { describe, expect, test } from "bun:test"
import { Result, Schema } from "effect"
import { CompiledInstall } from "../../../schema/manifest/CompiledInstall.ts"
import { type CompilationRequest, compileInstallConfig } from "../../../schema/manifest/InstallConfigCompiler.ts"
import { pins, variable, output, declare, request, compile, variables, told, openPolicy } from "./CompilationFixture.ts"
import { feature, fullModule, manifest, sourceBuild, userInput, type JsonObject } from "./ManifestFixture.ts"

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

describe("Proven manifests", () => {
  const compiled = compile(fullModule, {}, fullFacts)

  test("a verified manifest is adopted in full", () => {
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

  test("a verified manifest gives every variable exactly one source", () => {
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

  test("a verified manifest resolves requirements to exact targets", () => {
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

  test("a verified manifest round-trips through JSON", () => {
    const stored = JSON.stringify(Schema.encodeSync(Schema.toCodecJson(CompiledInstall))(compiled))
    expect(Schema.decodeUnknownSync(Schema.toCodecJson(CompiledInstall))(JSON.parse(stored))).toEqual(compiled)
  })
})

describe("Generic installs", () => {
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

  test("no part of an invalid manifest is adopted, and its diagnostics are kept", () => {
    const compiled = compile({ inputs: [userInput("a"), userInput("a")] }, {}, facts)
    expect(compiled).toMatchObject({ origin: "generic", assistance: "invalid", requires: [], features: [] })
    expect(compiled.inputs).toEqual(generic)
    expect(told(compiled)).toEqual(["duplicate_name inputs/1/name"])
  })

  test("a module that the manifest does not declare gets the generic install", () => {
    const other = declare(manifest("svc.com/v2.4", {}, { modules: { app: { inputs: [userInput("a")] } } }))
    const compiled = compile({}, { declaration: other }, facts)
    expect(compiled).toMatchObject({ origin: "generic", assistance: "not_declared", diagnostics: [] })
    expect(compiled.inputs).toEqual(generic)
  })

  test("a module whose path is a prototype name counts as undeclared (J4)", () => {
    const odd = { ...pins, modulePath: "constructor" }
    const compiled = compile(
      { inputs: [userInput("a")] },
      { pins: odd, manifestKey: "constructor" },
      { ...facts, pins: odd }
    )
    expect(compiled.assistance).toBe("not_declared")
  })

  test("a module is identified by its path in the repository, regardless of the Source's folder", () => {
    const modules = { ".": { inputs: [userInput("missing")] }, "apps/web": { inputs: [userInput("a")] } }
    const declaration = declare({ apiVersion: "svc.com/v2.4", kind: "Repository", install: { modules } })
    const root = { variables: [variable("a")] }
    expect(compile({}, { declaration, manifestKey: "apps/web" }, root).inputs[0]?.origin).toBe("manifest")
    expect(compile({}, { declaration, manifestKey: "apps" }, root).assistance).toBe("not_declared")
  })

  test("a single unverified input disables the entire manifest", () => {
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

describe("Exact versions", () => {
  const policy = { ...openPolicy, requiredManifestVersion: "svc.com/v2.4" as const }
  const refusal = (more: Partial<CompilationRequest>, module: JsonObject = {}) => {
    const result = compileInstallConfig(request(module, { policy, ...more }))
    return Result.isFailure(result) && result.failure._tag === "ManifestRequired"
      ? result.failure.diagnostics.map(({ code }) => String(code))
      : "compiled"
  }
  const { manifestDigest: _, ...absentPins } = pins

  test("an operator can require an exact version, which makes every problem fatal", () => {
    expect(refusal({})).toBe("compiled")
    expect(refusal({ declaration: declare(manifest("svc.com/v2.3")) })).toEqual(["manifest_version_mismatch"])
    const absent = compileInstallConfig(
      request(
        {},
        {
          policy,
          pins: absentPins,
          facts: { pins: absentPins, variables: [], outputs: [] },
          declaration: { _tag: "Absent" }
        }
      )
    )
    expect(Result.isFailure(absent) ? absent.failure.message : "").toContain("the operator requires svc.com/v2.4")
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

describe("mismatching evidence is fatal under every policy", () => {
  const mismatch = (more: Partial<CompilationRequest>) => {
    const result = compileInstallConfig(request({}, more))
    return Result.isFailure(result) && result.failure._tag === "InstallEvidenceMismatch"
      ? result.failure.fields
      : "compiled"
  }
  test.each(["sourceSnapshotId", "compatibilityReportId", "modulePath", "manifestDigest"] as const)(
    "another %s does not match the reviewed evidence",
    (name) => {
      expect(mismatch({ pins: { ...pins, [name]: "other" } })).toEqual([name])
    }
  )
  test("a manifest without a digest, or a digest without a manifest, is rejected", () => {
    const { manifestDigest: _, ...rest } = pins
    expect(mismatch({ pins: rest, facts: { pins: rest, variables: [], outputs: [] } })).toEqual(["manifestDigest"])
    expect(mismatch({ declaration: { _tag: "Absent" } })).toEqual(["manifestDigest"])
    expect(mismatch({})).toBe("compiled")
  })
})
