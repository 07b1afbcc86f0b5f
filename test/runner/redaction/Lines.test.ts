import { spawnSync } from "node:child_process"
import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import * as fc from "fast-check"
import type { RedactedLine } from "../../../runner/redaction/RedactionLines.ts"
import { longestHeld } from "../../../runner/redaction/RedactionStream.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"

const mark = "[redacted var.s]"
const redactor = (...secrets: ReadonlyArray<string>) =>
  new Redactor(secrets.map((secret) => ({ origin: "var.s", value: Redacted.make(secret) })))

/** Returns the output released after each line and at the end. */
const shown = (target: Redactor, lines: ReadonlyArray<string>): ReadonlyArray<RedactedLine> => {
  const stream = target.lines()
  return [...lines.flatMap((line) => stream.push([line])), ...stream.end()]
}
const visible = (lines: ReadonlyArray<RedactedLine>) => lines.filter((line) => line !== undefined)
const bytesOf = (text: string) => [...Buffer.from(text)]
const pairsOf = (text: string) => bytesOf(text).map((byte) => byte.toString(16).padStart(2, "0"))

const secret = "tok-5hWq9Zr/Lm2+Xv8KpTn4Ys7Bd1Fg6Hj3Qa0Ec=longer-than-one-line-of-any-dump"
const wrapped = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, "gs")) ?? []

describe("Multi-line secrets", () => {
  const target = redactor(secret)
  const spellings: Readonly<Record<string, ReadonlyArray<string>>> = {
    "in two writes": [secret.slice(0, 11), secret.slice(11)],
    "in pieces of four": wrapped(secret, 4),
    "base64 at 76 columns": wrapped(Buffer.from(`${secret}\n${secret}`).toString("base64"), 76),
    "base64 at 10 columns": wrapped(Buffer.from(secret).toString("base64"), 10),
    "base64 of base64, indented": wrapped(
      Buffer.from(Buffer.from(secret).toString("base64")).toString("base64"),
      64
    ).map((line) => `      ${line}`),
    "hexadecimal at 12 columns": wrapped(pairsOf(secret).join(""), 12),
    "percent-encoded, cut within an escape": wrapped(pairsOf(secret).join("%").replace(/^/, "%"), 7),
    "escaped as JSON, cut within an escape": wrapped(
      Array.from(secret, (_, index) => `\\u${secret.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
      8
    )
  }
  for (const [name, lines] of Object.entries(spellings)) {
    test(`a secret spread across several lines becomes one mark: ${name}`, () => {
      const result = visible(shown(target, ["before", ...lines, "after"]))
      expect([result[0], result.at(-1)]).toEqual(["before", "after"])
      // The rest is padding and up to five characters of the secret that were shown before the sixth arrived.
      const left = result.slice(1, -1).join("").replaceAll(mark, "").replaceAll(/[\s=]/g, "")
      expect(result.join("")).toContain(mark)
      expect(left.length).toBeLessThanOrEqual(name.includes("JSON") ? 35 : name.includes("percent") ? 17 : 5)
      expect(target.text(`before\n${lines.join("\n")}\nafter`)).toMatch(
        /^before\n *\[redacted var\.s\][^\w]*(K\[redacted var\.s\][^\w]*)?(PQ==)?\nafter$/
      )
    })
  }

  test("the redactor hides base64 in lines of any length, at every alignment of the secret", () => {
    for (const before of ["", "x", "xx", "xxx"]) {
      const encoded = Buffer.from(`${before}${secret}`).toString("base64")
      for (const text of [encoded, Buffer.from(encoded).toString("base64"), Buffer.from(encoded).toString("hex")]) {
        for (let width = 6; width <= 24; width++) {
          const lines = wrapped(text, width)
          const left = [visible(shown(target, lines)).join(""), target.text(lines.join("\n"))].map(
            (one) => one.replaceAll(mark, "").replaceAll(/\s/g, "").length
          )
          // The remaining lines contain only text before the secret, up to five of its characters, and padding.
          expect([before, width, left.every((length) => length <= 32)]).toEqual([before, width, true])
        }
      }
    }
  })

  const dumps: ReadonlyArray<readonly [program: string, ...args: ReadonlyArray<string>]> = [
    ["xxd"],
    ["xxd", "-c", "8"],
    ["xxd", "-p"],
    ["xxd", "-e"],
    ["xxd", "-b"],
    ["xxd", "-i"],
    ["od"],
    ["od", "-c"],
    ["od", "-a"],
    ["od", "-x"],
    ["od", "-b"],
    ["od", "-An", "-c"],
    ["od", "-An", "-tx1"],
    ["od", "-An", "-v", "-tx1", "-w24"],
    ["od", "-Ax", "-tx1z"],
    ["od", "-tx8"],
    ["od", "-td1"],
    ["od", "-tu2"],
    ["od", "-to4"],
    ["hexdump"],
    ["hexdump", "-C"],
    ["hexdump", "-c"]
  ]
  for (const [program, ...args] of dumps) {
    test(`a multi-line secret is hidden in the output of ${[program, ...args].join(" ")}`, () => {
      const { stdout } = spawnSync(program, args, { input: `user ${secret} and so on`, encoding: "utf8" })
      const lines = stdout.split("\n").map((line) => line.trimEnd())
      const result = visible(shown(target, ["before", ...lines.filter((line) => line !== ""), "after"]))
      expect(result[0]).toBe("before")
      expect(result.at(-1)).toBe("after")
      expect(result.join("\n")).toContain(mark)
      // Only the start of the first line and the text after the secret are visible.
      expect(result.join("").length).toBeLessThan(300)
      expect(target.text(stdout)).toContain(mark)
      const cells = (secret.match(/.{6}/g) ?? []).map((part) => pairsOf(part).join(""))
      for (const cell of cells) expect(result.join("").replaceAll(/\s/g, "")).not.toContain(cell)
      expect(result.join("")).not.toContain(secret.slice(12, 18))
    })
  }

  test("redaction does not join separate pieces of output", () => {
    expect([shown(target, [secret.slice(0, 5)]), shown(target, [secret.slice(5)])]).toEqual([
      [secret.slice(0, 5)],
      [secret.slice(5)]
    ])
  })

  test("a key that is printed line by line and split anywhere becomes a single mark", () => {
    const body = wrapped(Buffer.from("a private key ".repeat(20)).toString("base64"), 64)
    const key = ["-----BEGIN PRIVATE KEY-----", ...body, "-----END PRIVATE KEY-----"].join("\n")
    const printed = [...key.split("\n").flatMap((line) => [line.slice(0, 9), line.slice(9)]), "done"]
    const result = visible(shown(redactor(key), printed))
    expect(result.filter((line) => line !== mark)).toEqual(["done"])
    expect(visible(shown(redactor(key), [...key.split("\n"), "done"]))).toEqual([mark, "done"])
  })
})

describe("Delayed text", () => {
  const target = redactor(secret)

  test("redaction delays only lines that contain six characters of a secret", () => {
    const stream = target.lines()
    expect(stream.push(["plain", `x ${secret.slice(0, 5)}`])).toEqual(["plain", `x ${secret.slice(0, 5)}`])
    expect(stream.push([`x ${secret.slice(0, 6)}`])).toEqual([])
    expect(stream.push(["something else"])).toEqual([`x ${secret.slice(0, 6)}`, "something else"])
  })

  test("delayed text is still checked after a shorter prefix has been released", () => {
    const stream = target.lines()
    expect(stream.push([`x ${secret.slice(0, 5)}`])).toEqual([`x ${secret.slice(0, 5)}`])
    expect([...stream.push([secret.slice(5)]), ...stream.push(["after"])]).toEqual([mark, "after"])
  })

  test("delayed text is checked before it is shown, and is not lost when the output ends", () => {
    expect(shown(target, ["before", `x ${secret.slice(0, 20)}`])).toEqual(["before", `x ${mark}`])
    const text = target.stream()
    expect(text.push(`x ${secret.slice(0, 20)}`) + text.end("", true)).toBe(`x ${mark}`)
  })

  test("the redactor hides delayed text beyond the limit, and shows the text after it", () => {
    const stream = redactor(`beginning ${"'".repeat(4)} end-of-it`).lines()
    const flood = Array.from({ length: 40 }, () => "\u001b[31m\u001b[0m".repeat(128))
    const result = [...stream.push(["beginning"]), ...flood.flatMap((line) => stream.push([line]))]
    expect(flood.join("").length).toBeGreaterThan(longestHeld)
    expect(result[0]).toBe(mark)
    expect(stream.push(["ordinary"]).at(-1)).toBe("ordinary")
  })

  test("ordinary lines pass through redaction immediately", () => {
    const stream = redactor(secret, "https://hooks.example.com/T0/B0/x", "-----BEGIN KEY-----\nabcdefgh\n").lines()
    for (const line of [
      "",
      "Creating...",
      "see http",
      "2024-11-02T10:00:00Z commit 1f2e3d4",
      "  indented: yes",
      "100%",
      "a\\"
    ]) {
      expect(stream.push([line])).toEqual([line])
    }
  })
})

describe("Arbitrary secrets", () => {
  const percent = (text: string) =>
    pairsOf(text)
      .map((pair) => `%${pair}`)
      .join("")
  const json = (text: string) =>
    text
      .split("")
      .map((_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join("")
  // Each encoding, with the length of a chunk that contains 6 characters of the secret.
  const encodings: ReadonlyArray<readonly [encode: (text: string) => string, piece: number]> = [
    [(text) => text, 6],
    [(text) => Buffer.from(text).toString("base64"), 10],
    [(text) => Buffer.from(text).toString("base64url"), 10],
    [(text) => pairsOf(text).join(""), 12],
    [percent, 18],
    [json, 36],
    [(text) => Buffer.from(Buffer.from(text).toString("base64")).toString("base64"), 14],
    [(text) => pairsOf(Buffer.from(text).toString("base64")).join(""), 20]
  ]
  const units = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_.:@!#é ", "\n"]
  const secrets = fc
    .array(fc.constantFrom(...units), { minLength: 12, maxLength: 90 })
    .map((parts) => `s${parts.join("")}z`)
    // A repetitive or blank line does not contain six characters that could be searched for.
    .filter((text) => new Set(text.replaceAll(/[\s+]/g, "")).size >= 8)
  const ordinary = fc.array(fc.constantFrom("Creating...", "step 1 of 3", "", "ok", "{", '  "a": 1', "}"), {
    maxLength: 4
  })

  test("redaction never shows six characters of any secret, and leaves surrounding lines unchanged", () => {
    fc.assert(
      fc.property(
        secrets,
        fc.constantFrom(...encodings),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.nat(3),
        ordinary,
        ordinary,
        (text, [encode, piece], places, indent, before, after) => {
          const encoded = encode(text)
          const cuts = [...new Set([0, ...places.map((place) => place % encoded.length)])].sort((a, b) => a - b)
          const printed = cuts
            .map((cut, index) => encoded.slice(cut, cuts[index + 1]))
            .flatMap((line) => line.split("\n"))
            .map((line) => `${" ".repeat(indent)}${line}`.trimEnd())
            .filter((line) => line !== "")
          const result = shown(redactor(text), [...before, ...printed, "--", ...after])
          const compact = (lines: ReadonlyArray<RedactedLine>) =>
            visible(lines).join("").replaceAll(mark, "\u0000").replaceAll(/[\s+]/g, "")
          const left = compact(result.slice(before.length, before.length + printed.length))
          const whole = encoded.replaceAll(/[\s+]/g, "")
          for (let at = 0; at + piece <= whole.length; at++) {
            expect(left.includes(whole.slice(at, at + piece))).toBe(false)
          }
          expect(result.slice(0, before.length)).toEqual(before)
          expect(result.slice(before.length + printed.length)).toEqual(["--", ...after])
          expect(result.length).toBe(before.length + printed.length + 1 + after.length)
        }
      ),
      { numRuns: 400 }
    )
  })

  test("output without secrets stays unchanged and in order", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 30 }), (lines) => {
        const texts = lines.map((line) => line.replaceAll(/[\r\n]/g, " "))
        expect(shown(redactor(secret, "a second secret"), texts)).toEqual(texts)
      }),
      { numRuns: 200 }
    )
  })
})
