import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { Redactor } from "../../../runner/redaction/Redactor.ts"

const secret = "p/w \"K7Q2'é+&<x>\nline-two\\z"
const target = new Redactor([{ origin: "var.s", value: Redacted.make(secret) }])

const json = (text: string) => JSON.stringify(text).slice(1, -1)
const times = (count: number, encode: (text: string) => string) => (text: string) =>
  Array.from({ length: count }).reduce((value: string) => encode(value), text)
const base64 = (text: string) => Buffer.from(text).toString("base64")
const hexPairs = (text: string) => Buffer.from(text).toString("hex").match(/../g) ?? []
const pythonBytes = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte === 10 ? "\\n" : byte === 92 ? "\\\\" : byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`
    )
    .join("")
const octal = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte < 127 && byte > 31 && byte !== 92 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`
    )
    .join("")

const spellings: Readonly<Record<string, (text: string) => string>> = {
  "percent-encoding that keeps slashes": (text) => encodeURIComponent(text).replaceAll("%2F", "/"),
  "percent-encoding twice": times(2, encodeURIComponent),
  "JSON three times": times(3, json),
  "JSON five times": times(5, json),
  "base64 of base64": times(2, base64),
  "base64 three times": times(3, base64),
  "base64 inside JSON inside base64": (text) =>
    base64(JSON.stringify({ auths: { h: { auth: base64(`user:${text}`) } } })),
  "base64 on indented lines": (text) => (base64(text).match(/.{1,24}/g) ?? []).join("\n      "),
  "percent-encoded base64": (text) => encodeURIComponent(base64(text)),
  "hexadecimal with colons": (text) => hexPairs(text).join(":"),
  "hexadecimal in groups": (text) =>
    (
      hexPairs(text)
        .join("")
        .match(/.{1,8}/g) ?? []
    ).join(" "),
  "hexadecimal as a list": (text) =>
    hexPairs(text)
      .map((pair) => `0x${pair}`)
      .join(", "),
  "hexadecimal of base64": (text) => hexPairs(base64(text)).join(""),
  "Python's bytes": (text) => `b'${pythonBytes(text).replaceAll("'", "\\'")}'`,
  "octal escapes": octal,
  "YAML in single quotes": (text) => `'${text.replaceAll("'", "''")}'`,
  "a YAML block": (text) => `|\n    ${text.replaceAll("\n", "\n    ")}`,
  XML: (text) => `<a b="${Bun.escapeHTML(text).replaceAll("\n", "&#10;")}"/>`,
  "XML in JSON": (text) => json(Bun.escapeHTML(text)),
  "decimal entities": (text) => Array.from(text, (character) => `&#${character.codePointAt(0)};`).join(""),
  "a shell word": (text) => `'${text.replaceAll("'", `'"'"'`)}'`,
  "JSON with everything escaped": (text) =>
    Array.from(text, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`).join("")
}

describe("reversible encodings", () => {
  for (const [name, spell] of Object.entries(spellings)) {
    test(name, () => {
      const spelled = spell(secret)
      const shown = target.text(`(${spelled})`)
      expect(shown).toContain("[redacted var.s]")
      // Skips the first and last characters, because they also encode surrounding text.
      expect(shown.replaceAll("[redacted var.s]", "").length).toBeLessThan(Math.max(24, spelled.length / 2))
    })
  }

  test("the redactor finds secrets in reversible encodings regardless of where the text is split", () => {
    for (const spell of Object.values(spellings)) {
      const text = `<${spell(secret)}>`
      for (const size of [1, 3, 7]) {
        const stream = target.stream()
        let shown = ""
        for (let start = 0; start < text.length; start += size) shown += stream.push(text.slice(start, start + size))
        expect(shown + stream.end()).toBe(target.text(text))
      }
    }
  })

  test("the redactor finds a short secret in the base64 of a registry's credentials", () => {
    const short = new Redactor([{ origin: "var.s", value: Redacted.make("kq7zx") }])
    const config = base64(JSON.stringify({ auths: { h: { auth: base64("me:kq7zx") } } }))
    expect(short.text(config)).toContain("[redacted var.s]")
    expect(short.text(base64("me:kq7zx"))).toContain("[redacted var.s]")
  })

  test("the redactor leaves ordinary encoded text unchanged", () => {
    const noise = base64("The quick brown fox jumps over the lazy dog. ".repeat(50))
    const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    const text = `${noise} ${digest} 550e8400-e29b-41d4-a716-446655440000 %2Fhome%2Fme &lt;b&gt; a\\nb`
    expect(target.text(text)).toBe(text)
  })
})
