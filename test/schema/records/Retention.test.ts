import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Duration } from "effect"
import { periodOfKind, retention, retentionTable } from "../../../schema/records/Retention.ts"

const root = join(import.meta.dir, "../../..")

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
