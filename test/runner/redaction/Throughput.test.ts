import { expect, test } from "bun:test"
import { Redacted } from "effect"
import { Redactor } from "../../../runner/redaction/Redactor.ts"

const event = (index: number) =>
  JSON.stringify({
    "@level": "info",
    "@message": `demo_note.web[${index}]: Still creating... [1m20s elapsed]`,
    "@module": "terraform.ui",
    type: "apply_progress",
    hook: { resource: { addr: `demo_note.web[${index}]` }, action: "create", elapsed_seconds: 80 }
  })

const fastest = (task: () => void) => {
  let best = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 5; turn++) {
    const start = performance.now()
    task()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

const redactor = new Redactor(
  Array.from({ length: 30 }, (_, index) => Redacted.make(`secret-${index}-${Bun.hash(String(index)).toString(36)}`))
)
const lines = Array.from({ length: 5_000 }, (_, index) => `${event(index)}\n`)
const feed = (pieces: ReadonlyArray<string>) => () => {
  const stream = redactor.stream()
  for (const piece of pieces) stream.push(piece)
  stream.end()
}

// Measured: about 0.2 of the time of parsing; the limit only catches a change of kind.
test("costs less than a few times the parsing of the same events", () => {
  const parsing = fastest(() => lines.forEach((line) => JSON.parse(line)))
  expect(fastest(feed(lines)) / parsing).toBeLessThan(5)
})

test("grows in proportion to the text, also when all of it looks like the start of a secret", () => {
  const hostile = "secret-".repeat(20_000)
  const once = fastest(feed([hostile]))
  expect(fastest(feed([hostile, hostile, hostile, hostile])) / once).toBeLessThan(12)
})

const large = (words: number) => Array.from({ length: words }, (_, word) => Bun.hash(`${word}`).toString(36)).join("")

test("takes in a large secret in proportion to its size", () => {
  const take = (words: number) => {
    const secret = Redacted.make(large(words))
    return fastest(() => new Redactor([secret]))
  }
  expect(take(4_000) / take(1_000)).toBeLessThan(12)
})

test("hides any longer piece of a large secret", () => {
  const secret = large(6_000)
  const output = new Redactor([Redacted.make(secret)]).text(`<${secret.slice(10_000, 11_000)}>`)
  expect(output).toContain("[redacted]")
  expect(output.length).toBeLessThan(600)
})
