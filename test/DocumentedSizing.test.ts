import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"

const read = (name: string) => readFileSync(new URL(`../docs/${name}`, import.meta.url), "utf8")
const sizing = read("sizing.md")
const performance = read("builders/performance.md")
const settings = read("operations/settings.md")

/** The default of a setting in days. Several settings of one row have their defaults in the same order. */
const days = (name: string): number => {
  for (const [, names = "", values = ""] of settings.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)) {
    const at = names.split(", ").findIndex((one) => one.includes(name))
    if (at !== -1) return Number(values.split(", ")[at])
  }
  return Number.NaN
}

const figure = (pattern: RegExp, text: string): number => Number(pattern.exec(text)?.[1])

describe("Documented sizing", () => {
  test("the figures of the page are those of their sources", () => {
    expect(figure(/resident memory of the idle binary \| [^|]+\| (\d+) MB/, performance)).toBeLessThanOrEqual(130)
    expect(sizing).toContain("An idle server needs about 130 MB")
    const measured = [
      /`terraform_data` \| (\d+) MB/,
      /one configuration of the AWS provider \| (\d+) MB/,
      /second configuration \| (\d+) MB/
    ].map((pattern) => figure(pattern, performance))
    const [plain = 0, one = 0, two = 0] = measured
    expect(sizing).toContain(
      `${plain} MB for a module without a provider, ${one} MB for one with the AWS provider, and ${two - one} MB more`
    )
    const slower = [/against the bare tool \| [^|]+\| ([\d.]+) x/, /module with a provider \| [^|]+\| ([\d.]+) x/].map(
      (pattern) => figure(pattern, performance)
    )
    expect(sizing.replaceAll("\n", " ")).toContain(
      `${slower[0]} times as long as with the bare tool, or ${slower[1]} times for a module with a provider`
    )
  })

  test("every machine of the table has the memory that the page counts for its places", () => {
    const machines = [...sizing.matchAll(/\| \d+ cores, (\d+) GiB, \d+ GB disk \| (\d+)/g)]
    expect(machines.length).toBe(2)
    const largest = figure(/second configuration \| (\d+) MB/, performance)
    for (const [row, memory, places] of machines) {
      expect([row, Number(places) * largest + 512 <= Number(memory) * 1024]).toEqual([row, true])
    }
  })

  test("the example of the disk is below its bound by the formula of retention", () => {
    const [capsules, runs, log, applies, state] = [
      ...(/Example: (\d+) Capsules, (\d+) Runs a day with (\d+) KB of log each, (\d+) of them applies, and a state of (\d+) KB/.exec(
        sizing
      ) ?? [])
    ]
      .slice(1)
      .map(Number)
    const kib = 1024
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = [capsules, runs, log, applies, state]
    const sealedState = (e * 1000 * 4) / 3
    // Plan files are small. The audit history, which has no default period, is left out as on the page of retention.
    const bound =
      8 * kib * kib +
      1.25 *
        (b * days("SVC_KEEP_RUNS") * 6 * kib +
          b * c * 1000 * days("SVC_KEEP_LOGS") +
          (10 * a + d * days("SVC_KEEP_STATES")) * (sealedState + 16 * kib) +
          b * 8 * (50_000 + 16 * kib))
    expect(bound).toBeGreaterThan(5e9)
    expect(bound).toBeLessThan(8e9)
  })
})
