import { Buffer } from "node:buffer"
import { generateKeyPairSync } from "node:crypto"
import { describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import type { ProvidedSet } from "../../../runner/execution/ProvidedCredentials.ts"
import { refuseProvided } from "../../../runner/execution/ProvidedInPlan.ts"
import { providedParts } from "../../../runner/execution/ProvidedParts.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { directRedactor } from "../../support/DirectRedactor.ts"
import { it } from "../../support/Effect.ts"

const bytes = (text: string) => Redacted.make(new TextEncoder().encode(text))
const document = (values: unknown) => JSON.stringify({ prior_state: { values } })

const pem = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" }
}).privateKey

/** A key in the format that Google issues. */
const googleKey = {
  type: "service_account",
  project_id: "acme-prod-1",
  private_key_id: "0b7c1d2e3f405162738495a6b7c8d9e0f1a2b3c4",
  private_key: pem,
  client_email: "deployer@acme-prod-1.iam.gserviceaccount.com",
  client_id: "104857600123456789012",
  auth_uri: "https://accounts.google.com/o/oauth2/auth",
  token_uri: "https://oauth2.googleapis.com/token",
  auth_provider_x509_cert_url: "https://www.googleapis.com/oauth2/v1/certs",
  client_x509_cert_url:
    "https://www.googleapis.com/robot/v1/metadata/x509/deployer%40acme-prod-1.iam.gserviceaccount.com",
  universe_domain: "googleapis.com"
}

const publicNames = ["type", "project_id", "client_email", "client_id", "universe_domain"]

const google: ProvidedSet = {
  publicNames,
  values: {},
  files: [
    {
      name: "key.json",
      content: bytes(JSON.stringify(googleKey, null, 2)),
      envName: "GOOGLE_APPLICATION_CREDENTIALS"
    }
  ]
}

/** Returns the tool's JSON description of a plan that uses Google's provider. */
const googlePlan = (more: object = {}) =>
  JSON.stringify({
    format_version: "1.2",
    planned_values: {
      root_module: {
        resources: [
          {
            address: "google_project_iam_member.deployer",
            values: {
              project: "acme-prod-1",
              member: "serviceAccount:deployer@acme-prod-1.iam.gserviceaccount.com",
              service_account: [{ scopes: ["https://www.googleapis.com/auth/cloud-platform"] }],
              universe_domain: "googleapis.com",
              ...more
            }
          }
        ]
      }
    }
  })

const variable = (value: string): ProvidedSet => ({ values: { DEMO_TOKEN: Redacted.make(value) }, files: [] })

const refusal = (set: ProvidedSet, plan: string, base?: string) =>
  refuseProvided(
    directRedactor(new Redactor(providedParts([set]))),
    new TextEncoder().encode(plan),
    base === undefined ? undefined : bytes(base)
  ).pipe(Effect.match({ onSuccess: () => undefined, onFailure: ({ message, reason }) => ({ message, reason }) }))

describe("Leaking plans", () => {
  it.effect(
    "a runner rejects a plan that would leak the machine's credentials, and the error does not contain the credentials",
    () =>
      Effect.gen(function* () {
        const value = "own-credential-canary"
        const plan = document({ note: `a ${value} b` })
        const refused = yield* refusal(variable(value), plan)
        expect(refused?.reason).toBe("plan_failed")
        expect(refused?.message).toContain("env.DEMO_TOKEN")
        expect(refused?.message).not.toContain(value)
        expect(yield* refusal(variable(value), document({ note: "nothing" }))).toBeUndefined()
      })
  )

  it.effect(
    "a runner rejects a plan that leaks text missing from the state, even if the state contains other credentials",
    () =>
      Effect.gen(function* () {
        const secretOnly = { ...google, publicNames: [] }
        const base = JSON.stringify({ version: 4, resources: [{ attributes: { project: "acme-prod-1", key: "x" } }] })
        expect(yield* refusal(secretOnly, document({ project: "acme-prod-1" }), base)).toBeUndefined()
        for (const leak of [pem, googleKey.private_key_id, pem.split("\n")[1] ?? ""]) {
          const plan = document({ project: "acme-prod-1", note: leak })
          expect(yield* refusal(secretOnly, plan, base)).toMatchObject({ reason: "plan_failed" })
          // The plan is accepted if the state already contains the credential.
          expect(yield* refusal(secretOnly, plan, document({ other: leak, project: "acme-prod-1" }))).toBeUndefined()
        }
        // The plan is still rejected if the state contains only part of the key.
        const line = document({ note: pem.split("\n")[1] })
        expect(yield* refusal(secretOnly, document({ note: pem }), line)).toMatchObject({ reason: "plan_failed" })
      })
  )

  it.effect(
    "a runner rejects a plan with Google's credentials only for content that the operator has not declared public",
    () =>
      Effect.gen(function* () {
        expect(yield* refusal(google, googlePlan())).toBeUndefined()
        const file = JSON.stringify(googleKey, null, 2)
        for (const leak of [
          { note: pem },
          { note: pem.replaceAll("\n", "\\n") },
          { note: googleKey.private_key_id },
          { note: file },
          { note: JSON.stringify(googleKey) },
          { note: Buffer.from(file).toString("base64") },
          { note: Buffer.from(pem).toString("hex") },
          { [googleKey.private_key_id]: true }
        ]) {
          const refused = yield* refusal(google, googlePlan(leak))
          expect(refused).toMatchObject({
            reason: "plan_failed",
            message: expect.stringContaining("file.key.json private_key")
          })
        }
        // If no names are declared public, every value in the plan counts as secret.
        expect(yield* refusal({ ...google, publicNames: [] }, googlePlan())).toMatchObject({ reason: "plan_failed" })
      })
  )

  it.effect("a plan may contain the value of a public variable, unless a secret variable has the same value", () =>
    Effect.gen(function* () {
      const values = { AWS_REGION: Redacted.make("eu-west-1"), AWS_SECRET_ACCESS_KEY: Redacted.make("a-secret-key-77") }
      const plan = document({ zone: "eu-west-1a", region: "eu-west-1" })
      expect(yield* refusal({ publicNames: ["AWS_REGION"], values, files: [] }, plan)).toBeUndefined()
      expect(yield* refusal({ values, files: [] }, plan)).toMatchObject({ reason: "plan_failed" })
      const same = { ...values, AWS_SECRET_ACCESS_KEY: Redacted.make("eu-west-1") }
      expect(yield* refusal({ publicNames: ["AWS_REGION"], values: same, files: [] }, plan)).toMatchObject({
        reason: "plan_failed"
      })
    })
  )

  it.effect(
    "a runner searches a plan's numbers for secrets at full precision, and rejects a plan that it cannot search",
    () =>
      Effect.gen(function* () {
        for (const [secret, shown] of [
          ["12345678901234567891", "12345678901234567891"],
          ["12345.10", "12345.1"],
          ["0012345678.50", "12345678.5"],
          ["123456.78901234567891", "123456.78901234567891"]
        ] as const) {
          const plan = `{"prior_state":{"values":{"pin":${shown}}}}`
          expect(yield* refusal(variable(secret), plan)).toMatchObject({ reason: "plan_failed" })
          const inDocument = variable(`{"pin":${secret.replace(/^0+/, "")}}`)
          expect(yield* refusal(inDocument, plan)).toMatchObject({ reason: "plan_failed" })
        }
        const value = "own-credential-canary"
        const large = `{"big":1e999,"note":"${value}"}`
        expect(yield* refusal(variable(value), large)).toMatchObject({ reason: "plan_failed" })
        expect(yield* refusal(variable(value), '{"big":1e999,"note":"x"}')).toBeUndefined()
        expect(yield* refusal(variable(value), "{")).toMatchObject({ reason: "output_unreadable" })
      })
  )
})
