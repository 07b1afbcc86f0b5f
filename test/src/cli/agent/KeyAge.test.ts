import { expect, test } from "bun:test"
import { Duration } from "effect"
import { keyAge } from "../../../../src/cli/agent/KeyAge.ts"

const now = Date.parse("2026-03-31T12:00:00.000Z")

test.each<[madeAt: string | undefined, message: string, isOverdue: boolean]>([
  [undefined, "The age of its keys is not known: it counts from the next start.", false],
  ["2026-03-31T11:00:00.000Z", "Its keys are less than a day old.", false],
  // The key appears to be from the future because the clock was set back.
  ["2026-04-02T00:00:00.000Z", "Its keys are less than a day old.", false],
  ["2026-03-30T11:00:00.000Z", "Its keys are 1 day old.", false],
  ["2026-03-01T11:00:00.000Z", "Its keys are 30 days old.", false],
  ["2026-02-28T11:00:00.000Z", "Its keys are 31 days old. They should have been replaced after 30 days.", true]
])("the agent's doctor reports about keys made at %p: %s", (madeAt, message, isOverdue) => {
  const found = keyAge(madeAt, Duration.days(30), now)
  expect(found).toMatchObject({ message, isOverdue })
  expect(found.remedy !== undefined).toBe(isOverdue)
})
