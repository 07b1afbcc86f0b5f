import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Option, Random } from "effect"
import type { ReportBatch, ReportedEntry } from "../../../schema/agent/AgentJob.ts"
import { openSpool, type Spool, spoolLimits } from "../../../runner/agent/Spool.ts"
import { it } from "../../support/Effect.ts"
import { mountRefusal, smallDisk } from "../../support/SmallDisk.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const at = "2026-01-31T09:30:00.000Z"

const event = (address: string): ReportedEntry => ({
  kind: "event",
  at,
  fact: { kind: "resource.started", data: { address, action: "create" } }
})

const line = (text: string): ReportedEntry => ({ kind: "line", at, phase: "apply", stream: "stdout", text })

/** Simulates a server that stores each batch once, even if it arrives several times. */
const receiver = () => {
  let last = 0
  const entries: Array<ReportedEntry> = []
  return {
    entries,
    store: (batch: ReportBatch) => {
      if (batch.number === last + 1) {
        last = batch.number
        entries.push(...batch.entries)
      } else expect(batch.number).toBeLessThanOrEqual(last)
      return last
    }
  }
}

const deliverAll = Effect.fnUntraced(function* (spool: Spool, server: ReturnType<typeof receiver>) {
  for (let batch = yield* spool.next; Option.isSome(batch); batch = yield* spool.next) {
    yield* spool.acknowledged(server.store(batch.value))
  }
})

describe("Agent spool", () => {
  it.live("an agent's spool delivers everything once and in order, despite lost responses and killed processes", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 40; seed += 1) {
        const folder = join(yield* temporaryFolder, "spool")
        const server = receiver()
        const appended: Array<ReportedEntry> = []
        const limits = { ...spoolLimits, batchBytes: 600, batchEntries: 5 }
        yield* Effect.gen(function* () {
          for (let life = 0; life < 6; life += 1) {
            yield* Effect.scoped(
              Effect.gen(function* () {
                const spool = yield* openSpool(folder, limits)
                for (let step = 0; step < 12; step += 1) {
                  const dice = yield* Random.nextIntBetween(0, 10)
                  if (dice < 6) {
                    const entry = dice < 3 ? event(`a.${appended.length}`) : line(`line ${appended.length}`)
                    appended.push(entry)
                    yield* spool.append(entry)
                    continue
                  }
                  const batch = yield* spool.next
                  if (Option.isNone(batch)) continue
                  // At random, the request is lost, the response is lost, or neither.
                  if (dice === 6) continue
                  const stored = server.store(batch.value)
                  if (dice > 7) yield* spool.acknowledged(stored)
                }
              })
            )
          }
          const spool = yield* openSpool(folder, limits)
          yield* deliverAll(spool, server)
          expect(readdirSync(folder)).toEqual(["stored"])
        }).pipe(Effect.scoped, Random.withSeed(seed))
        expect(server.entries).toEqual(appended)
      }
    })
  )

  it.live("an agent's spool rejects an entry with a changed byte, even if the entry can still be parsed", () =>
    Effect.gen(function* () {
      const made = join(yield* temporaryFolder, "made")
      const entries = [event("a.a"), event("a.b")]
      yield* Effect.scoped(
        Effect.flatMap(openSpool(made), (spool) => Effect.forEach(entries, spool.append, { discard: true }))
      )
      const [name = ""] = readdirSync(made)
      const text = readFileSync(join(made, name), "utf8")
      writeFileSync(join(made, name), text.replace("a.b", "a.c"))
      const batch = yield* Effect.scoped(Effect.flatMap(openSpool(made), (spool) => spool.next))
      expect(Option.map(batch, (one) => one.entries)).toEqual(Option.some(entries.slice(0, 1)))
    })
  )

  it.live("an agent's spool drops an entry truncated by a crash, and keeps all entries before it", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const made = join(folder, "made")
      const entries = [event("a.a"), line("größer than one byte a letter"), event("a.b")]
      yield* Effect.scoped(
        Effect.flatMap(openSpool(made), (spool) => Effect.forEach(entries, spool.append, { discard: true }))
      )
      const [name = ""] = readdirSync(made)
      const whole = readFileSync(join(made, name))
      const ends = [...whole].flatMap((byte, index) => (byte === 0x0a ? [index + 1] : []))
      for (let length = 0; length <= whole.length; length += 1) {
        const copy = join(folder, `copy-${length}`)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Effect.scoped(openSpool(copy))
            writeFileSync(join(copy, name), whole.subarray(0, length))
            const spool = yield* openSpool(copy)
            const expected = entries.slice(0, ends.filter((end) => end <= length).length)
            const batch = yield* spool.next
            expect(Option.getOrUndefined(Option.map(batch, (one) => one.entries)) ?? []).toEqual(expected)
            // Entries appended after the truncated end are kept.
            yield* spool.append(event("a.later"))
            if (Option.isSome(batch)) yield* spool.acknowledged(batch.value.number)
            expect(Option.map(yield* spool.next, (one) => one.entries)).toEqual(Option.some([event("a.later")]))
          })
        )
        rmSync(copy, { recursive: true })
      }
    })
  )

  it.live("an agent's spool ignores everything after a damaged entry", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.scoped(Effect.flatMap(openSpool(folder), (spool) => spool.append(event("a.a"))))
      const [name = ""] = readdirSync(folder)
      const size = statSync(join(folder, name)).size
      appendFileSync(join(folder, name), "00000000 {}\n")
      const spool = yield* openSpool(folder)
      expect(Option.map(yield* spool.next, (one) => one.entries)).toEqual(Option.some([event("a.a")]))
      expect(statSync(join(folder, name)).size).toBe(size)
      truncateSync(join(folder, name), size)
    })
  )

  it.live("an agent's spool drops lines beyond its limit and reports their number, but never drops an event", () =>
    Effect.gen(function* () {
      const server = receiver()
      const spool = yield* openSpool(yield* temporaryFolder, { batchBytes: 500, batchEntries: 10, lineBytes: 1500 })
      for (let index = 0; index < 100; index += 1) {
        yield* spool.append(line(`line ${index}`))
        if (index % 20 === 0) yield* spool.append(event(`a.${index}`))
      }
      yield* spool.last
      yield* deliverAll(spool, server)
      const kinds = (kind: ReportedEntry["kind"]) => server.entries.filter((entry) => entry.kind === kind)
      const omitted = server.entries.reduce((sum, entry) => sum + (entry.kind === "omitted" ? entry.lines : 0), 0)
      expect(kinds("event")).toHaveLength(5)
      expect(omitted).toBeGreaterThan(0)
      expect(kinds("line").length + omitted).toBe(100)
    })
  )

  if (mountRefusal !== undefined) test.skip(`a full disk: ${mountRefusal}`, () => {})
  else
    it.live("an agent's spool keeps every event while its disk is full, and reports how many lines it dropped", () =>
      Effect.gen(function* () {
        const folder = join(yield* temporaryFolder, "disk")
        const disk = yield* smallDisk(folder, 1)
        const server = receiver()
        const spool = yield* openSpool(join(folder, "spool"))
        yield* spool.append(event("a.before"))
        yield* disk.fill
        for (let index = 0; index < 200; index += 1) {
          yield* spool.append(event(`a.${index}`))
          yield* spool.append(line(`line ${index}`))
        }
        yield* disk.free
        yield* spool.append(event("a.after"))
        yield* deliverAll(spool, server)
        const events = server.entries.filter((entry) => entry.kind === "event")
        expect(events.map(({ fact }) => ("address" in fact.data ? fact.data.address : ""))).toEqual([
          "a.before",
          ...Array.from({ length: 200 }, (_, index) => `a.${index}`),
          "a.after"
        ])
        const lines = server.entries.filter(({ kind }) => kind === "line").length
        const omitted = server.entries.reduce((sum, entry) => sum + (entry.kind === "omitted" ? entry.lines : 0), 0)
        expect(omitted).toBeGreaterThan(0)
        expect(lines + omitted).toBe(200)
      }).pipe(Effect.provide(NodeServices.layer))
    )

  it.live(
    "an agent's spool never reuses a number that the server has seen, even if its own disk has lost the entry",
    () =>
      Effect.gen(function* () {
        const spool = yield* openSpool(yield* temporaryFolder)
        yield* spool.acknowledged(7)
        yield* spool.append(event("a.a"))
        expect(Option.map(yield* spool.next, ({ number }) => number)).toEqual(Option.some(8))
      })
  )
})
