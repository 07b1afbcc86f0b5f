import { describe, expect, test } from "bun:test"
import { findForbiddenTexts, forbiddenMaterial } from "../../../schema/secret-material/SecretScan.ts"

const encodings: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "inside a sentence": (text) => `see ${text} there`,
  "split by zero-width characters": (text) => Array.from(text).join("\u200b"),
  "in full width": (text) =>
    Array.from(text, (sign) =>
      sign > " " && sign < "\u007f" ? String.fromCharCode(sign.charCodeAt(0) + 0xfee0) : sign
    ).join(""),
  "with lookalike letters": (text) =>
    text.replaceAll("a", "а").replaceAll("e", "е").replaceAll("o", "ο").replaceAll("A", "А"),
  "in base64": (text) => btoa(text),
  "in base64url inside text": (text) =>
    `x ${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")} y`,
  "in base64 twice": (text) => btoa(btoa(text)),
  "percent-encoded": (text) =>
    Array.from(text, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`).join(""),
  "percent-encoded base64": (text) => encodeURIComponent(btoa(text)),
  "percent-encoded twice": (text) => encodeURIComponent(encodeURIComponent(text).replaceAll("a", "%61"))
}

const credentials = [
  "AKIAIOSFODNN7EXAMPLE",
  "ghp_0123456789abcdefABCD",
  "github_pat_11ABCDEFG0123456789_abcdef",
  "glpat-abcdefghij0123456789",
  "xoxb-123456789012-abcdefghijkl",
  "sk_live_abcdefgh12345678",
  "sk-proj-abcdefgh12345678abcd",
  "AIzaSyA0123456789abcdefghijklmnopqrstuv",
  "npm_abcdefghijklmnopqrstuvwxyz0123456789",
  "hvs.CAESIJabcdefghijklmnop",
  "svcp_0123456789abcdefghijABCDEFGHIJ012345",
  "-----BEGIN OPENSSH PRIVATE KEY-----",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  "Authorization: Bearer abc.def-123456",
  "Authorization: Basic dXNlcjpwYXNz",
  "bearer abcdefghijklmnopqrstuvwxyz",
  "password=hunter2",
  "password: hunter2x",
  "token: abc-123-def",
  "token: v2-9f8e7d6c",
  "access_key: s3-9f8e7d6c5b",
  "API_KEY = abc123def456",
  "token: a1b2c3d4e5",
  '"client_secret": "abcdef123456"',
  "https://user:pass@example.com/x",
  "postgres://app:s3cret@db.internal/app",
  "https://sometoken@example.com/repository.git",
  "https://hooks.slack.com/services/T0ABCDEF/B0ABCDEF/abcdefghijkl"
]

describe.each(Object.entries(encodings))("the secret scan detects a credential %s (J7)", (_, encode) => {
  test.each(credentials)("%s", (credential) => {
    expect(forbiddenMaterial(encode(credential))).toBe("secret_material")
  })
})

test.each([
  "The token is created in your account settings.",
  "API token: paste it below",
  "トークンを入力してください。",
  "token：最大32文字まで入力",
  "Password: 8-64 characters",
  "Secret: base64url-encoded, 32 bytes",
  "Bearer authentication is used",
  "Token: v2-style tokens only",
  "Token: v2-style",
  "Token: v3-scoped tokens",
  "Bearer v2-style tokens only",
  "Access_key: 40-character hexadecimal text",
  "Access_key: s3-compatible",
  "Secret: AES-256, kept by the host",
  "Token: RFC6750-style, from the account page",
  "Password: 12-digit number",
  "Basic authentication",
  "max_tokens=4096",
  "ssh://git@example.com/repository",
  "git@github.com:team/repository",
  "https://example.com/@user/page?next=/home",
  "--token-file /run/token",
  "TOKEN=$TOKEN",
  "token=${TOKEN}",
  "password=<your password>",
  "--password-stdin",
  "risk-assessment-policy-for-everything",
  "run_integration_tests_all",
  "modules/very/long/path/for/the/module/service-account",
  "SGVsbG8sIHdvcmxkISBUaGlzIGlzIHBsYWlu",
  "100%25 sure, 50% off",
  "a".repeat(4096),
  ""
])("the text %p contains no credential", (text) => {
  expect(forbiddenMaterial(text)).toBeUndefined()
})

test.each([
  "ws_0123456789abcdef",
  "cap_a1b2c3d4e5f6g7h8i9j0",
  "conn_0123456789abcdef0123",
  "see icfg_0123456789abcdef"
])("%s is an id of the host, and no credential", (id) => {
  expect(forbiddenMaterial(id)).toBe("host_authority_material")
  expect(forbiddenMaterial(btoa(`id is ${id}`))).toBe("host_authority_material")
})

test("the secret scan finds several credentials, up to the limit", () => {
  const texts = Array.from({ length: 500 }, (_, index) => (index % 100 === 7 ? "token=abcdef" : "plain text"))
  expect([...findForbiddenTexts(texts, 10).keys()]).toEqual([7, 107, 207, 307, 407])
  expect([...findForbiddenTexts(texts, 2).keys()]).toEqual([7, 107])
  expect(findForbiddenTexts(["password=", "hunter2"], 10).size).toBe(0)
  expect([...findForbiddenTexts(["x", "--password hunter2"], 10).keys()]).toEqual([1])
})
