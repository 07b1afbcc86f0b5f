import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { forEachSource } from "./support/ParsedSources.ts"
import { type StaleRead, staleReads } from "./support/StaleReads.ts"

/**
 * Code inside a service, and the pattern that the check must find in it. The pattern is `undefined` if the check must find
 * nothing.
 */
const examples: ReadonlyArray<readonly [string, StaleRead["shape"] | undefined, string]> = [
  [
    "a line is added to a batch that is taken while the time is read",
    "adds across a yield",
    `let pending: Array<Line> = []
     const take = () => { const batch = pending; pending = []; return batch }
     const write = Effect.fnUntraced(function* (text: string) { pending.push({ at: yield* now, text }) })`
  ],
  [
    "the time is read before a line is added",
    undefined,
    `let pending: Array<Line> = []
     const take = () => { const batch = pending; pending = []; return batch }
     const write = Effect.fnUntraced(function* (text: string) { const at = yield* now; pending.push({ at, text }) })`
  ],
  [
    "a value of a Map is made in its place",
    "adds across a yield",
    `const known = new Map<string, string>()
     const learn = Effect.fnUntraced(function* (key: string) { known.set(key, yield* made(key)) })`
  ],
  [
    "an async function adds what it awaits",
    "adds across a yield",
    `const found: Array<string> = []
     const look = async (name: string) => { found.push(await read(name)) }`
  ],
  [
    "a sum is read before what is added to it",
    "adds across a yield",
    `let sum = 0
     const count = Effect.fnUntraced(function* (name: string) { sum += yield* sizeOf(name) })`
  ],
  [
    "a sum is read after what is added to it",
    undefined,
    `let sum = 0
     const count = Effect.fnUntraced(function* (name: string) { const size = yield* sizeOf(name); sum += size })`
  ],
  [
    "a list that another function changes is copied before a yield",
    "reads before a yield",
    `const names: Array<string> = []
     const note = (name: string) => { names.push(name) }
     const all = Effect.gen(function* () { return [...names, yield* newest] })`
  ],
  [
    "a list that nobody changes is copied before a yield",
    undefined,
    `const names = ["a", "b"]
     const all = Effect.gen(function* () { return [...names, yield* newest] })`
  ],
  [
    "a switch is read before a yield in an object",
    "reads before a yield",
    `let draining = false
     const drain = () => { draining = true }
     const facts = Effect.gen(function* () { return { draining, names: yield* names } })`
  ],
  [
    "a switch is read after a yield in an object",
    undefined,
    `let draining = false
     const drain = () => { draining = true }
     const facts = Effect.gen(function* () { return { names: yield* names, draining } })`
  ],
  [
    "a counter is an argument before a yield",
    "reads before a yield",
    `let count = 0
     const next = () => { count += 1 }
     const report = Effect.gen(function* () { return sent(count, yield* now) })`
  ],
  [
    "a list is passed on before a yield",
    undefined,
    `const names: Array<string> = []
     const note = (name: string) => { names.push(name) }
     const report = Effect.gen(function* () { return { names, at: yield* now } })`
  ],
  [
    "a lock is made if there is none, and replaces one that was made meanwhile",
    "writes what it read before a yield",
    `const locks = new Map<string, Semaphore>()
     const lockOf = Effect.fnUntraced(function* (name: string) {
       const lock = locks.get(name) ?? (yield* Semaphore.make(1))
       locks.set(name, lock)
       return lock
     })`
  ],
  [
    "a lock that was made meanwhile is kept",
    undefined,
    `const locks = new Map<string, Semaphore>()
     const lockOf = Effect.fnUntraced(function* (name: string) {
       const made = yield* Semaphore.make(1)
       const lock = locks.get(name) ?? made
       locks.set(name, lock)
       return lock
     })`
  ],
  [
    "a counter is written back after a yield",
    "writes what it read before a yield",
    `let count = 0
     const next = Effect.gen(function* () {
       const before = count
       yield* stored(before)
       count = before + 1
     })`
  ],
  [
    "a value is written if it was absent before a yield",
    "writes what it read before a yield",
    `let newest: string | undefined
     const value = Effect.gen(function* () {
       if (newest !== undefined) return newest
       const made = yield* make
       newest = made
       return made
     })`
  ],
  [
    "a value is written if it is still the one that was read",
    undefined,
    `let newest: string | undefined
     const value = Effect.gen(function* () {
       const earlier = newest
       if (earlier !== undefined) return earlier
       const made = yield* make
       if (newest === earlier) newest = made
       return made
     })`
  ],
  [
    "a flag is only ever set",
    undefined,
    `let isComplete = false
     const complete = Effect.gen(function* () {
       if (isComplete) return
       yield* store
       isComplete = true
     })`
  ],
  [
    "a flag is set and cleared around a yield that it does not prevent",
    "writes what it read before a yield",
    `let busy = false
     const work = Effect.gen(function* () {
       if (busy) return
       yield* prepare
       busy = true
       yield* finish
       busy = false
     })`
  ],
  [
    "a variable of one call is written after a yield",
    undefined,
    `const walk = Effect.gen(function* () {
       let at = 0
       while (at < 10) { yield* visit(at); at = at + 1 }
     })`
  ],
  [
    "an Effect has the name of a method",
    undefined,
    `const runs = makeRuns()
     const take = Effect.gen(function* () {
       if (runs.holds("a")) return
       yield* prepare
       yield* runs.add("a")
     })`
  ],
  [
    "a function inside yields at another time",
    undefined,
    `const works: Array<Effect<void>> = []
     const plan = () => { works.push(Effect.gen(function* () { yield* work })) }`
  ]
]

describe("Stale reads", () => {
  const found = new Map<string, ReadonlyArray<StaleRead>>()
  const folder = mkdtempSync(join(tmpdir(), "svc-stale-reads-"))
  beforeAll(async () => {
    mkdirSync(join(folder, "examples"))
    for (const [index, [, , code]] of examples.entries()) {
      writeFileSync(join(folder, "examples", `${index}.ts`), `export const make = () => {\n${code}\n}\n`)
    }
    await forEachSource(folder, ["examples"], (file, source) => found.set(file, staleReads(source)))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  for (const [index, [title, shape]] of examples.entries()) {
    test(`the stale read check ${shape === undefined ? "accepts" : "finds"}: ${title}`, () => {
      const shapes = found.get(`examples/${index}.ts`)?.map((one) => one.shape)
      if (shape === undefined) expect(shapes).toEqual([])
      else expect(shapes).toContain(shape)
    })
  }
})

test("the code never writes shared state that it read before a yield", async () => {
  const stale: Array<string> = []
  const files = await forEachSource(dirname(import.meta.dir), ["schema", "runner", "actors", "src"], (file, source) => {
    for (const { line, shape } of staleReads(source)) stale.push(`${file}:${line} ${shape}`)
  })
  expect(files).toBeGreaterThan(1000)
  // If this fails: yield first, then read and write the shared state with no yield in between.
  expect(stale).toEqual([])
}, 60_000)
