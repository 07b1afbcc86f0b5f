import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { redactionMark } from "../../../runner/redaction/RedactionMark.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"

const hides = (secret: string | Uint8Array, part: string) =>
  new Redactor([{ origin: "", value: Redacted.make(secret) }]).text(`<${part}>`) === `<${redactionMark}>`

const privateKey =
  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAo\n-----END PRIVATE KEY-----\n"
const serviceAccount = {
  type: "service_account",
  project_id: "project-with-a-name",
  private_key_id: "0f9e8d7c6b5a",
  private_key: privateKey,
  client_email: "robot@project-with-a-name.iam.example.test",
  token_uri: "https://oauth2.example.test/token",
  nested: [{ pin_token: 4711471, secret: "pw" }]
}

test("the redactor hides every digit of a number in a JSON credential", () => {
  const file = '{"pin":12345678901234567891,"rate":12345678901234.123456,"small":1234567.50}'
  for (const digits of ["12345678901234567891", "12345678901234.123456", "1234567.50", "1234567.5"])
    expect(hides(file, digits)).toBe(true)
})

describe("Secret parts", () => {
  test("every string and number of a JSON credential file is a secret, under any name", () => {
    for (const file of [JSON.stringify(serviceAccount), JSON.stringify(serviceAccount, null, 2)]) {
      expect(hides(file, "MIIEvQIBADANBgkqhkiG9w0")).toBe(true)
      expect(hides(file, "0f9e8d7c6b5a")).toBe(true)
      expect(hides(file, "4711471")).toBe(true)
      expect(hides(file, "pw")).toBe(true)
      expect(hides(file, "project-with-a-name")).toBe(true)
      expect(hides(file, "service_account")).toBe(true)
      expect(hides(file, "https://oauth2.example.test/token")).toBe(true)
      expect(hides(file, "private_key_id")).toBe(false)
    }
    expect(hides(new TextEncoder().encode(JSON.stringify(serviceAccount)), "0f9e8d7c6b5a")).toBe(true)
    expect(hides(btoa(JSON.stringify(serviceAccount)), "0f9e8d7c6b5a")).toBe(true)
    expect(hides(JSON.stringify({ inner: JSON.stringify({ token: "inner-token" }) }), "inner-token")).toBe(true)
  })

  test("passwords in URLs are secrets, both as written and decoded", () => {
    expect(hides("postgres://user:p%40ssw0rd@db.example.test/main", "p%40ssw0rd")).toBe(true)
    expect(hides("postgres://user:p%40ssw0rd@db.example.test/main", "p@ssw0rd")).toBe(true)
    expect(hides("https://only-a-token@git.example.test/x.git", "only-a-token")).toBe(true)
    expect(hides("postgres://user:p%40ssw0rd@db.example.test/main", "db.example.test")).toBe(false)
  })

  test("values assigned in ini, env, yaml, netrc and connection strings are secrets", () => {
    const aws =
      "[default]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = wJalr+XUt/nFEMI\nregion = eu-west-1\n"
    expect(hides(aws, "wJalr+XUt/nFEMI")).toBe(true)
    expect(hides(aws, "eu-west-1")).toBe(false)
    expect(hides("users:\n- user:\n    token: kube-token\n", "kube-token")).toBe(true)
    expect(hides("machine h login me password netrc-pass\n", "netrc-pass")).toBe(true)
    expect(hides("Endpoint=x;AccountKey=QUJDREVG==;Suffix=y", "QUJDREVG==")).toBe(true)
    expect(hides("API_TOKEN='quoted value'", "quoted value")).toBe(true)
  })

  test("authorization headers and tokens are secrets", () => {
    expect(hides("Bearer bearer-value", "bearer-value")).toBe(true)
    expect(hides(`Basic ${btoa("user:basic-pass")}`, "basic-pass")).toBe(true)
    const [header, payload, signature] = ["eyJhbGciOiJFUzI1NiJ9", "eyJzdWIiOiJzb21lb25lIn0", "c2lnbmF0dXJlLW9mLXRva2Vu"]
    expect(hides(`${header}.${payload}.${signature}`, payload ?? "")).toBe(true)
    expect(hides(`${header}.${payload}.${signature}`, signature ?? "")).toBe(true)
    expect(hides(`${header}.${payload}.${signature}`, header ?? "")).toBe(false)
  })
})
