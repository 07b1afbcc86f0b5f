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

const cost = (task: () => void) => {
  const before = process.cpuUsage()
  task()
  const { system, user } = process.cpuUsage(before)
  return system + user
}

/**
 * Returns the ratio of the costs of two tasks. Alternates many runs and compares the CPU time of the cheapest runs, to exclude
 * other work on the machine.
 */
const ratio = (task: () => void, measure: () => void) => {
  const best = { task: Number.POSITIVE_INFINITY, measure: Number.POSITIVE_INFINITY }
  for (let turn = 0; turn < 15; turn++) {
    best.task = Math.min(best.task, cost(task))
    best.measure = Math.min(best.measure, cost(measure))
  }
  return best.task / Math.max(1, best.measure)
}

const redactor = new Redactor(
  Array.from({ length: 30 }, (_, index) => ({
    origin: "",
    value: Redacted.make(`secret-${index}-${Bun.hash(String(index)).toString(36)}`)
  }))
)
const lines = Array.from({ length: 5_000 }, (_, index) => `${event(index)}\n`)
const feed = (pieces: ReadonlyArray<string>) => () => {
  const stream = redactor.stream()
  for (const piece of pieces) stream.push(piece)
  stream.end()
}

// Redaction removes escapes from every string and decodes every possible encoding at each alignment. That costs about 100
// times as much as parsing a line, which is acceptable because redaction runs in a separate thread. The cost must not depend
// on the number of secrets.
test("redaction costs the same for few and for many secrets", () => {
  const many = new Redactor(
    Array.from({ length: 3_000 }, (_, index) => ({
      origin: "",
      value: Redacted.make(`${Bun.hash(String(index))}-${index}`)
    }))
  )
  const feedMany = () => {
    const stream = many.stream()
    for (const line of lines.slice(0, 500)) stream.push(line)
    stream.end()
  }
  feedMany()
  expect(ratio(feedMany, feed(lines.slice(0, 500)))).toBeLessThan(6)
})

test("the cost of redaction is linear in the text, even if all of it resembles the start of a secret", () => {
  const hostile = "secret-".repeat(4_000)
  expect(ratio(feed([hostile, hostile, hostile, hostile]), feed([hostile]))).toBeLessThan(12)
})

const large = (words: number) => Array.from({ length: words }, (_, word) => Bun.hash(`${word}`).toString(36)).join("")

test("the cost of accepting a large secret is linear in its size", () => {
  const take = (words: number) => {
    const secret = { origin: "", value: Redacted.make(large(words)) }
    return () => new Redactor([secret])
  }
  expect(ratio(take(4_000), take(1_000))).toBeLessThan(12)
})

test("redaction hides every sufficiently long part of a large secret", () => {
  const secret = large(6_000)
  const output = new Redactor([{ origin: "", value: Redacted.make(secret) }]).text(`<${secret.slice(10_000, 11_000)}>`)
  expect(output).toContain("[redacted]")
  expect(output.length).toBeLessThan(600)
})
