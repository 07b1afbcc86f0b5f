import { describe, expect, test } from "bun:test"
import { Redacted, Result } from "effect"
import { type CredentialDelivery, deliverCredentials } from "../../../runner/execution/CredentialDelivery.ts"
import { credentialFileNameProblem } from "../../../runner/execution/CredentialFileName.ts"
import { environmentNameProblem } from "../../../runner/execution/EnvironmentNames.ts"
import type { ProviderCredentials } from "../../../runner/execution/RunJob.ts"

const place = { insideRoot: "/capsule", credentialFolder: "settings/credentials", moduleFolder: "source/infra" }

const tuple = (more: Partial<ProviderCredentials>): ProviderCredentials => ({
  provider: "acme/demo",
  moduleLocalName: "demo",
  connection: "a",
  values: {},
  files: [],
  config: {},
  argumentNames: {},
  ...more
})

const delivered = (tuples: ReadonlyArray<ProviderCredentials>): CredentialDelivery => {
  const result = deliverCredentials(tuples, place)
  if (Result.isFailure(result)) throw new Error(result.failure)
  return result.success
}

const refused = (tuples: ReadonlyArray<ProviderCredentials>): string => {
  const result = deliverCredentials(tuples, place)
  return Result.isFailure(result) ? result.failure : "(accepted)"
}

const plain = (values: CredentialDelivery["environment"]) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Redacted.value(value)]))

const secret = (value: string) => Redacted.make(value)
const file = (name: string, envName?: string) => ({
  name,
  content: Redacted.make(new TextEncoder().encode(`content of ${name}`)),
  ...(envName === undefined ? {} : { envName })
})

describe("deliverCredentials", () => {
  test("a single Connection is delivered through the environment, even for several configurations", () => {
    const values = { DEMO_TOKEN: secret("one") }
    const delivery = delivered([
      tuple({ values, files: [file("key.json", "DEMO_KEY_FILE")], config: { region: "eu" } }),
      tuple({ alias: "b", values, files: [file("key.json", "DEMO_KEY_FILE")] })
    ])
    expect(plain(delivery.environment)).toEqual({
      DEMO_TOKEN: "one",
      DEMO_KEY_FILE: "/capsule/settings/credentials/0/key.json"
    })
    expect(delivery.files.map(({ path }) => path)).toEqual(["settings/credentials/0/key.json"])
    expect(delivery.blocks).toEqual([
      { provider: "acme/demo", moduleLocalName: "demo", alias: undefined, inherited: false, body: { region: "eu" } }
    ])
    expect(delivery.variables).toEqual({})
  })

  test("several Connections for one provider are delivered as arguments, with file paths that are valid in every run folder", () => {
    const delivery = delivered([
      tuple({ values: { DEMO_TOKEN: secret("one") }, argumentNames: { DEMO_TOKEN: "api_token" } }),
      tuple({
        alias: "b",
        connection: "b",
        values: { DEMO_TOKEN: secret("two") },
        files: [file("key.json", "DEMO_KEY_FILE")]
      })
    ])
    expect(delivery.environment).toEqual({})
    expect(delivery.blocks.map(({ alias, body }) => [alias, body])).toEqual([
      [undefined, { api_token: `\${var.svc_provider_0}` }],
      ["b", { token: `\${var.svc_provider_1}`, key_file: `\${var.svc_provider_2}` }]
    ])
    expect(plain(delivery.variables)).toEqual({
      svc_provider_0: "one",
      svc_provider_1: "two",
      svc_provider_2: "../../settings/credentials/0/key.json"
    })
  })

  test("a configuration without a Connection does not inherit another configuration's credentials", () => {
    const delivery = delivered([
      tuple({ values: { DEMO_TOKEN: secret("one") } }),
      tuple({ alias: "anonymous", connection: undefined })
    ])
    expect(delivery.environment).toEqual({})
    expect(delivery.blocks).toHaveLength(1)
  })

  test("two providers that read the same variable receive separate values", () => {
    const same = delivered([
      tuple({ values: { SHARED_TOKEN: secret("x") } }),
      tuple({
        provider: "acme/other",
        moduleLocalName: "other",
        connection: "o",
        values: { SHARED_TOKEN: secret("x") }
      })
    ])
    expect(plain(same.environment)).toEqual({ SHARED_TOKEN: "x" })
    const names = { SHARED_TOKEN: "token" }
    const apart = delivered([
      tuple({ values: { SHARED_TOKEN: secret("x") }, argumentNames: names }),
      tuple({
        provider: "acme/other",
        moduleLocalName: "other",
        connection: "o",
        values: { SHARED_TOKEN: secret("y") },
        argumentNames: names
      })
    ])
    expect(apart.environment).toEqual({})
    expect(plain(apart.variables)).toEqual({ svc_provider_0: "x", svc_provider_1: "y" })
  })

  test("a delivery rejects a secret that would reach another provider, without disclosing its value", () => {
    const reason = refused([
      tuple({ values: { SHARED_TOKEN: secret("canary-one") } }),
      tuple({ alias: "b", connection: "b", values: { SHARED_TOKEN: secret("canary-two") } })
    ])
    expect(reason).toContain("SHARED_TOKEN")
    expect(reason).not.toContain("canary")
  })

  test("non-secret provider arguments are passed literally", () => {
    const dollar = "$"
    const delivery = delivered([
      tuple({
        config: {
          endpoint: `${dollar}{file("/etc/shadow")} %{if true}${dollar}${dollar}{x}`,
          nested: [{ [`${dollar}{k}`]: 1 }]
        }
      })
    ])
    expect(delivery.blocks[0]?.body).toEqual({
      endpoint: `${dollar}${dollar}{file("/etc/shadow")} %%{if true}${dollar}${dollar}${dollar}{x}`,
      nested: [{ [`${dollar}${dollar}{k}`]: 1 }]
    })
  })

  test("a delivery rejects variable names that would affect more than one provider", () => {
    for (const [more, part] of [
      [{ values: { PATH: secret("x") } }, "PATH"],
      [{ config: { alias: "x" } }, "alias"],
      [{ config: { "a b": "x" } }, "a b"],
      [{ alias: "b c" }, "identifier"],
      [{ files: [file("../x")] }, "../x"],
      [{ files: [file("a"), file("a")] }, "twice"],
      [{ values: { K: secret("x") }, files: [file("a", "K")] }, "twice"]
    ] as const) {
      expect(refused([tuple(more)])).toContain(part)
    }
  })
})

describe("environmentNameProblem", () => {
  test("a delivery accepts variable names that configure a provider", () => {
    for (const name of [
      "AWS_ACCESS_KEY_ID",
      "GITHUB_TOKEN",
      "DEMO_TOKEN",
      "KUBE_PROXY_URL",
      "TF_VAR_x",
      "TF_TOKEN_example_test",
      "_X",
      "a1"
    ]) {
      expect(environmentNameProblem(name)).toBeUndefined()
    }
  })

  test("a delivery rejects variable names that control the tool, the loader, an interpreter or the network", () => {
    for (const name of [
      "TF_LOG",
      "TF_CLI_ARGS",
      "TF_VAR_",
      "tf_cli_args_plan",
      "TF_DATA_DIR",
      "TF_REATTACH_PROVIDERS",
      "LD_PRELOAD",
      "PATH",
      "Path",
      "HOME",
      "HTTPS_PROXY",
      "https_proxy",
      "NO_PROXY",
      "GIT_SSH_COMMAND",
      "NODE_OPTIONS",
      "BUN_OPTIONS",
      "BASH_ENV",
      "SVC_MASTER_KEY",
      "SSL_CERT_FILE",
      "PLUGIN_CLIENT_CERT",
      "GODEBUG",
      "",
      "1A",
      "A-B",
      "A=B",
      "A\u0000",
      "A\n",
      "Ä",
      "A".repeat(129)
    ]) {
      expect([name, environmentNameProblem(name)]).toEqual([name, expect.any(String)])
    }
  })
})

test("a credential file's name must not contain a path or special characters", () => {
  for (const name of ["key.json", "a", "id_rsa-1.pem"]) expect(credentialFileNameProblem(name)).toBeUndefined()
  for (const name of ["", ".", "..", "../x", "/x", "a/b", "a\\b", ".hidden", "a b", "a\n", "ä", "a".repeat(129)]) {
    expect([name, typeof credentialFileNameProblem(name)]).toEqual([name, "string"])
  }
})
