import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { isRedactionSentinel, redactionMarkOf } from "../../../runner/redaction/RedactionMark.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { budgetProblem, secretBudget } from "../../../runner/redaction/SecretBudget.ts"
import { declaredKeys, hidingProblem, valueSecrets } from "../../../runner/redaction/SecretRule.ts"

const type = "object({ password = string, port = optional(number, 1), users = map(string) })"
const database = {
  password: "kq7zx",
  port: 839_274,
  users: { "acme-corporation": "hunter2-hunter2" },
  tls: true,
  mode: "x",
  nothing: null
}
const redactor = new Redactor(valueSecrets("var.db", database, declaredKeys(type)))

describe("Secret rule", () => {
  test("every leaf of a structured value is a secret, regardless of its name and type", () => {
    expect(redactor.text("https://839274.example.com/")).toBe("https://[redacted var.db.port].example.com/")
    expect(redactor.text("x839274y")).toBe("x[redacted var.db.port]y")
    expect(redactor.text("hunter2-hunter2")).toBe("[redacted var.db.users.*]")
  })

  test("the redactor hides a short secret as a whole token and in name-value pairs, but never inside a word", () => {
    expect(redactor.text("kq7zx")).toBe("[redacted var.db.password]")
    expect(redactor.text("pw=kq7zx;")).toBe("pw=[redacted var.db.password];")
    expect(redactor.text('{"pw":"kq7zx"}')).toBe('{"pw":"[redacted var.db.password]"}')
    expect(redactor.text("akq7zxb kq7zx_")).toBe("akq7zxb kq7zx_")
  })

  test("a short number within a date, a version or an address is not hidden", () => {
    const port = new Redactor(valueSecrets("var.port", [10, 443]))
    expect(port.text("Version 2012-10-17, 10.0.0.10, 1.10.2")).toBe("Version 2012-10-17, 10.0.0.10, 1.10.2")
    expect(port.text("db:443, 10 items")).toBe("db:[redacted var.port.1], [redacted var.port.0] items")
  })

  test("a key that the type does not declare is a secret, and is not listed as an origin", () => {
    const shown = redactor.text("acme-corporation and password")
    expect(shown).toBe("[redacted var.db key 4] and password")
    expect(
      valueSecrets("var.m", { "acme-corporation": { inner: "hunter2-hunter2" } }).map(({ origin }) => origin)
    ).toEqual(["var.m key 1", "var.m.*.*"])
  })

  test("true, false, null and single characters are not secrets", () => {
    const words = new Redactor(valueSecrets("var.x", ["true", "false", "null", "7", "x", "", " "]))
    expect(words.text("true false null 7 x")).toBe("true false null 7 x")
  })

  test("a secret that cannot be hidden is reported with the reason", () => {
    expect(hidingProblem("x")).toContain("a single character")
    expect(hidingProblem(" ")).toContain("blank")
    expect(hidingProblem("''\"\"''")).toContain("quoting characters")
    expect(hidingProblem("true")).toBeUndefined()
    expect(hidingProblem("ab")).toBeUndefined()
  })

  test("the leaves of a JSON string are also secrets, and a repeated string keeps its first origin", () => {
    const target = new Redactor([
      { origin: "env.A", value: Redacted.make('{"a":["first-leaf",{"b":12345678}]}') },
      { origin: "env.B", value: Redacted.make("first-leaf") }
    ])
    expect(target.text("first-leaf 12345678")).toBe("[redacted env.A] [redacted env.A]")
  })

  test("names from the module's code are not hidden, except instance keys", () => {
    const names = new Redactor(valueSecrets("var.db", ["postgres", "app", "a-very-long-secret-0123456789"]))
    expect(names.address('postgresql_role.app["postgres"]')).toBe('postgresql_role.app["[redacted var.db.0]"]')
    expect(names.message("postgresql_role.app: Creating... [app]", "postgresql_role.app")).toBe(
      "postgresql_role.app: Creating... [[redacted var.db.1]]"
    )
    expect(names.name("postgres")).toBe("postgres")
    expect(names.address("x.a-very-long-secret-0123456789")).toBe("x.[redacted var.db.2]")
  })

  test("several sets of secrets are combined and all hidden", () => {
    const set = (text: string) => [{ origin: "env.T", value: Redacted.make(text) }]
    expect(new Redactor(set("old-value"), set("new-value")).text("old-value new-value")).toBe(
      "[redacted env.T] [redacted env.T]"
    )
  })

  test("secrets that exceed the redaction budget are rejected, with the limit in the error", () => {
    const texts = (count: number, length: number) =>
      Array.from({ length: count }, (_, index) => ({
        origin: "",
        value: Redacted.make(`${index}`.padEnd(length, "x"))
      }))
    expect(budgetProblem(texts(1500, 400))).toBeUndefined()
    expect(budgetProblem(texts(2600, 400))).toBeUndefined()
    // A value that occurs in the plan, an input and a Connection counts once.
    const twice = { origin: "var.a", value: Redacted.make("x".repeat(secretBudget.bytes - 1)) }
    expect(budgetProblem([twice, { ...twice, origin: "env.A" }])).toBeUndefined()
    expect(budgetProblem(texts(3, secretBudget.bytes / 2))).toContain(String(secretBudget.bytes))
    expect(budgetProblem(texts(secretBudget.texts + 1, 8))).toContain(String(secretBudget.texts))
    expect(
      budgetProblem([
        { origin: "", value: Redacted.make(JSON.stringify(Array.from({ length: 100_000 }, (_, index) => index))) }
      ])
    ).toContain("hold")
  })

  test("svc recognises a redaction mark in an input, and removes brackets and line breaks from the mark's origin", () => {
    expect(isRedactionSentinel(`postgres://u:${redactionMarkOf("var.db.password")}@h`)).toBe(true)
    expect(isRedactionSentinel(redactionMarkOf("file.a-b.json"))).toBe(true)
    expect(redactionMarkOf("x]y[z\n")).toBe("[redacted xyz]")
  })
})
