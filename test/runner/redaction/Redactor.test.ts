import { describe, expect, test } from "bun:test"
import { Effect, Redacted, type Schema } from "effect"
import * as fc from "fast-check"
import { holdsRedactionSentinel, isRedactionSentinel, redactionMark } from "../../../runner/redaction/RedactionMark.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { redacted } from "../../../runner/redaction/RunRedactor.ts"
import { directRedactor } from "../../support/DirectRedactor.ts"

const redactor = (...secrets: ReadonlyArray<string | Uint8Array>) =>
  new Redactor(secrets.map((secret) => ({ origin: "", value: Redacted.make(secret) })))

const json = (target: Redactor, value: Schema.Json) =>
  Effect.runSync(redacted(directRedactor(target), (hide) => hide.json(value)))

const inPieces = (target: Redactor, text: string, sizes: ReadonlyArray<number>) => {
  const stream = target.stream()
  let output = ""
  let position = 0
  for (let turn = 0; position < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    output += stream.push(text.slice(position, position + size))
    position += size
  }
  return output + stream.end()
}

const secretUnit = fc.oneof(
  fc.constantFrom(..."ABCXYZ0189"),
  fc.constantFrom(..."+/=&<>\"'\\$%{}!*() ~.;@:?#é漢😀\n\r\t")
)
// Each secret contains `K7Q2`, which does not occur in the surrounding text.
const secretArbitrary = fc
  .tuple(fc.string({ unit: secretUnit, maxLength: 30 }), fc.string({ unit: secretUnit, maxLength: 30 }))
  .map(([head, tail]) => `${head}K7Q2${tail}`.trim())
  .filter((secret) => secret.length >= 6)
const sizesArbitrary = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })
const proseArbitrary = fc.string({ unit: fc.constantFrom(..."abc, \n\u001b[m"), maxLength: 60 })

const goJson = (text: string) =>
  JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`)
const asciiJson = (text: string) =>
  JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
const unquoted = (text: string) => text.slice(1, -1)
const wholeSpellings: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  json: (secret) => unquoted(JSON.stringify(secret)),
  "json in json": (secret) => unquoted(JSON.stringify(unquoted(JSON.stringify(secret)))),
  "json of Go": (secret) => unquoted(goJson(secret)),
  "json in ASCII": (secret) => unquoted(asciiJson(secret)),
  "json in ASCII, upper case": (secret) =>
    unquoted(asciiJson(secret)).replace(/\\u.{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`),
  "json with escaped slashes": (secret) => unquoted(JSON.stringify(secret)).replaceAll("/", "\\/"),
  "URI component": encodeURIComponent,
  "URI component, lower case": (secret) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  form: (secret) => new URLSearchParams({ "": secret.replace(/\r\n?|\n/g, " ") }).toString().slice(1),
  html: Bun.escapeHTML,
  "shell word": (secret) => secret.replaceAll("'", "'\\''"),
  template: (secret) => unquoted(JSON.stringify(secret)).replaceAll("${", "$${").replaceAll("%{", "%%{"),
  hex: (secret) => Buffer.from(secret).toString("hex"),
  HEX: (secret) => Buffer.from(secret).toString("hex").toUpperCase()
}

describe("Redactor", () => {
  for (const [name, spell] of Object.entries(wholeSpellings)) {
    test(`the redactor hides the secret spelled as ${name}, regardless of where the text is split`, () => {
      fc.assert(
        fc.property(secretArbitrary, proseArbitrary, proseArbitrary, sizesArbitrary, (secret, before, after, sizes) => {
          const spelled = spell(name === "form" ? secret.replace(/[\r\n]/g, "_") : secret)
          const target = redactor(name === "form" ? secret.replace(/[\r\n]/g, "_") : secret)
          const text = `${before}(${spelled})${after}`
          const output = inPieces(target, text, sizes)
          expect(output).toBe(target.text(text))
          expect(output).not.toContain(spelled)
          expect(output).not.toContain("K7Q2")
          // The secret may begin or end with the same character as the surrounding text. All other text must be unchanged.
          expect(output.replaceAll(redactionMark, "").length).toBeLessThanOrEqual(before.length + after.length + 2)
        }),
        { numRuns: 60 }
      )
    })
  }

  for (const encoding of ["base64", "base64url"] as const) {
    test(`the redactor hides the secret inside ${encoding} of a longer text`, () => {
      fc.assert(
        fc.property(secretArbitrary, fc.string(), fc.string(), sizesArbitrary, (secret, before, after, sizes) => {
          const head = Buffer.from(before).length
          const encoded = Buffer.from(before + secret + after).toString(encoding)
          const output = inPieces(redactor(secret), `Basic ${encoded}\n`, sizes)
          // Returns the range of encoded characters that only the secret determines.
          const start = Math.ceil((head * 4) / 3)
          const end = Math.floor(((head + Buffer.from(secret).length) * 4) / 3)
          expect(output).not.toContain(encoded.slice(start, end))
          expect(output).toContain(redactionMark)
        }),
        { numRuns: 200 }
      )
    })
  }

  test("the redactor hides the secret inside base64 of UTF-16, as in an encoded Windows command", () => {
    fc.assert(
      fc.property(secretArbitrary, fc.string(), fc.string(), (secret, before, after) => {
        const head = before.length * 2
        const encoded = Buffer.from(before + secret + after, "utf16le").toString("base64")
        const output = redactor(secret).text(`powershell -EncodedCommand ${encoded}\n`)
        const start = Math.ceil((head * 4) / 3)
        const end = Math.floor(((head + secret.length * 2) * 4) / 3)
        expect(output).not.toContain(encoded.slice(start, end))
        expect(output).toContain(redactionMark)
      }),
      { numRuns: 100 }
    )
  })

  test("the redactor leaves text without secrets unchanged", () => {
    const lower = fc.string({ unit: fc.constantFrom(..."abcdefghij -_:/.\n\u001b[;m]\u0007\r"), maxLength: 400 })
    const upper = fc.string({ unit: fc.constantFrom(..."ABCDEFGHJK0123456789"), minLength: 2, maxLength: 40 })
    fc.assert(
      fc.property(fc.array(upper, { maxLength: 5 }), lower, sizesArbitrary, (secrets, text, sizes) => {
        expect(inPieces(redactor(...secrets), text, sizes)).toBe(text)
      }),
      { numRuns: 200 }
    )
  })

  test("the redactor yields the same result regardless of where the text is split, even with overlapping secrets, tokens and colours", () => {
    const unit = fc.constantFrom("a", "b", "ab", "-", "\u001b[1m", "\u001b]0;x\u0007", "\u001b", "[3", "m")
    const text = fc.array(unit, { maxLength: 80 }).map((units) => units.join(""))
    const secret = fc.string({ unit: fc.constantFrom("a", "b", "-"), minLength: 2, maxLength: 9 })
    fc.assert(
      fc.property(fc.array(secret, { minLength: 1, maxLength: 4 }), text, sizesArbitrary, (secrets, content, sizes) => {
        const target = redactor(...secrets)
        expect(inPieces(target, content, sizes)).toBe(target.text(content))
      }),
      { numRuns: 500 }
    )
  })

  test("the redactor does not merge a complete match with a match that the next character may invalidate", () => {
    const target = redactor("-a", "aa")
    const content = "-a\u001b[1maa"
    expect(inPieces(target, content, [1])).toBe(target.text(content))
    expect(target.text(content)).toBe(`${redactionMark}\u001b[1maa`)
  })

  test("the redactor finds a secret between colour codes, and keeps the codes", () => {
    const target = redactor("hunter2-hunter2")
    expect(target.text("x \u001b[1mhunt\u001b[31mer2-hun\u001b[0mter2\u001b[0m y")).toBe(
      `x \u001b[1m${redactionMark}\u001b[31m\u001b[0m\u001b[0m y`
    )
  })

  test("the redactor replaces overlapping secrets with one mark", () => {
    const target = redactor("alpha-beta", "beta-gamma")
    expect(target.text("<alpha-beta-gamma>")).toBe(`<${redactionMark}>`)
    expect(inPieces(target, "<alpha-beta-gamma>", [11, 1])).toBe(`<${redactionMark}>`)
  })

  test("the redactor hides short values only if they are whole tokens", () => {
    const target = redactor("abc", "x", "true")
    expect(target.text("abc abcd =abc; fabc x true")).toBe(`${redactionMark} abcd =${redactionMark}; fabc x true`)
    expect(inPieces(target, "abc abcd =abc; fabc", [1])).toBe(`${redactionMark} abcd =${redactionMark}; fabc`)
  })

  test("the redactor delays only text that could become a secret", () => {
    const stream = redactor("secret-value-1").stream()
    expect(stream.push("plan: 3 to add\nsecr")).toBe("plan: 3 to add\n")
    // The redactor holds back the last character of a word, because it may be half of an encoded character.
    expect(stream.push("ets")).toBe("secre")
    expect(stream.end()).toBe("ts")
  })

  test("the redactor applies secrets that are added while a stream is open", () => {
    const target = redactor("first-secret")
    const stream = target.stream()
    expect(stream.push("first-secret second-secret\n")).toBe(`${redactionMark} second-secret\n`)
    target.add([{ origin: "", value: Redacted.make("second-secret") }])
    expect(stream.push("first-secret second-secret\n")).toBe(`${redactionMark} ${redactionMark}\n`)
  })

  test("the redactor hides each line of a key, and any long part of a line", () => {
    const lines = Array.from({ length: 40 }, (_, line) =>
      Buffer.from(`line material ${line} `.repeat(3)).toString("base64")
    )
    const key = `-----BEGIN PRIVATE KEY-----\r\n${lines.join("\r\n")}\r\n-----END PRIVATE KEY-----\r\n`
    const target = redactor(key)
    for (const line of lines) expect(target.text(`got ${line}.`)).toBe(`got ${redactionMark}.`)
    expect(target.text(key)).not.toContain("bGlu")
    const wrapped = (
      Buffer.from(key)
        .toString("base64")
        .match(/.{1,76}/g) ?? []
    ).join("\n")
    expect(target.text(wrapped).replaceAll(redactionMark, "").length).toBeLessThan(wrapped.length / 10)
    const stream = target.lines()
    const shown = [...wrapped.split("\n").flatMap((line) => stream.push([line])), ...stream.end()].join("")
    expect(shown.replaceAll(redactionMark, "").length).toBeLessThan(wrapped.length / 10)
  })

  test("the redactor finds the bytes of a binary secret in base64 and hex", () => {
    const bytes = Uint8Array.from([0xff, 0xfe, 0x00, 0x81, 0x12, 0x34, 0x56, 0x78, 0x9a])
    const target = redactor(bytes)
    expect(target.text(Buffer.from(bytes).toString("hex"))).toBe(redactionMark)
    expect(target.text(Buffer.from(bytes).toString("base64"))).toBe(redactionMark)
  })

  test("the redactor hides secrets in every string, key and number of a JSON value", () => {
    const target = redactor("secret-value", "12345678")
    const value = { a: ["x secret-value", 12345678, 1, null, true], "key secret-value": { b: "none" } }
    expect(json(target, value)).toEqual({
      a: [`x ${redactionMark}`, redactionMark, 1, null, true],
      [`key ${redactionMark}`]: { b: "none" }
    })
  })

  test("the redactor drops values that are nested too deeply", () => {
    const nested = `${"[".repeat(1000)}"secret-value"${"]".repeat(1000)}`
    expect(JSON.stringify(json(redactor("secret-value"), JSON.parse(nested)))).not.toContain("secret-value")
  })

  test("the redactor recognises its own mark in an input", () => {
    expect(isRedactionSentinel("postgres://u:[REDACTED]@h")).toBe(true)
    expect(isRedactionSentinel("redacted")).toBe(false)
    expect(holdsRedactionSentinel({ a: [1, { b: "[redacted]" }] })).toBe(true)
    expect(holdsRedactionSentinel({ "[redacted]": 1 })).toBe(true)
    expect(holdsRedactionSentinel({ a: ["fine", null] })).toBe(false)
  })
})
