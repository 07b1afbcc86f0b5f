import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Duration } from "effect"
import { periodOfKind, retention } from "../../../schema/records/Retention.ts"

const root = join(import.meta.dir, "../../..")

const units = [
  ["day", Duration.toMillis("1 day")],
  ["hour", Duration.toMillis("1 hour")],
  ["minute", Duration.toMillis("1 minute")],
  ["second", 1000]
] as const

/**
 * Formats a period in the largest unit that divides it evenly. The largest unit is a day, which is used only for more than
 * two days.
 */
const inWords = (after: Duration.Duration): string => {
  const millis = Duration.toMillis(after)
  const fits = units.find(([unit, size]) => millis % size === 0 && (unit !== "day" || millis > 2 * size))
  const [unit, size] = fits ?? (["second", 1000] as const)
  const count = millis / size
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** Returns the operations page's table of retention periods, as Markdown. */
const retentionTable = (): string =>
  [
    "| after | what ends or is removed | why |",
    "|---|---|---|",
    ...Object.values(retention).map(({ after, what, why }) => `| ${inWords(after)} | ${what} | ${why} |`)
  ].join("\n")

test("the retention page in the documentation contains the retention table", () => {
  const page = readFileSync(join(root, "docs/operations/retention.md"), "utf8")
  expect(/<!-- retention -->\n([\s\S]*?)\n<!-- \/retention -->/.exec(page)?.[1]).toBe(retentionTable())
})

test("every retention period is used, and the code that removes records repeats no period", () => {
  const files = ["actors", "runner"].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => ({ path, text: readFileSync(join(root, room, path), "utf8") }))
  )
  const named = files.flatMap(({ text }) => [...text.matchAll(/(?<!["`])\bretention\.(\w+)/g)].map(([, name]) => name))
  const used = new Set([...named, ...Object.values(periodOfKind)])
  expect([...used].sort()).toEqual(Object.keys(retention).sort())
  const removing = files.filter(({ text }) => /DELETE FROM/.test(text) || /addDuration\(/.test(text))
  const days = removing.filter(({ text }) => /Duration\.days\(\d|"\d+ (?:days|hours)"/.test(text))
  expect(days.map(({ path }) => path)).toEqual([])
})

test("the retention periods match the periods in the specification", () => {
  expect(Duration.toHours(retention.plan.after)).toBe(7 * 24)
  expect(Duration.toHours(retention.session.after)).toBe(30 * 24)
  expect(Duration.toMinutes(retention.setupLink.after)).toBe(30)
  expect(Duration.toHours(retention.webhookDelivery.after)).toBe(24)
  expect(Duration.toMinutes(retention.accessToken.after)).toBe(15)
  expect(Duration.toSeconds(retention.authorizationCode.after)).toBe(60)
})
