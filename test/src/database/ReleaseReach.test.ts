import { expect, test } from "bun:test"
import { isWithinReach } from "../../../src/database/ReleaseReach.ts"

test("a release works with the tables of its own minor release and the next one, and with no other tables", () => {
  const within = ["1.2.0", "1.2.9", "1.3.0", "1.3.4-rc.1"]
  const beyond = ["1.4.0", "1.12.0", "1.1.9", "2.0.0", "2.2.0", "2.3.0", "0.3.0", "", "next"]
  expect(within.filter((last) => !isWithinReach("1.2.3", last))).toEqual([])
  expect(beyond.filter((last) => isWithinReach("1.2.3", last))).toEqual([])
})
