import { expect, test } from "bun:test"
import { mentionable, mentionsIn, openMention, suggested } from "../../src/dashboard/screens/run/Mentions.ts"

const person = (subject: string, displayName?: string, email?: string) => ({
  subject,
  kind: "person" as const,
  status: "active" as const,
  ...(displayName === undefined ? {} : { displayName }),
  ...(email === undefined ? {} : { email })
})

const ada = person("usr_a", "Ada", "ada@example.com")
const adaByron = person("usr_b", "Ada Byron")
const twin = person("usr_c", "Kim")
const otherTwin = person("usr_d", "Kim")
const people = [ada, adaByron, twin, otherTwin, person("usr_e", undefined, "guest@example.com")]

test("typing an @ at the start of a word opens a mention, which ends at a line break", () => {
  expect(openMention("Ask @A", 6)).toEqual({ at: 4, typed: "A" })
  expect(openMention("@", 1)).toEqual({ at: 0, typed: "" })
  expect(openMention("(@Ada", 5)).toEqual({ at: 1, typed: "Ada" })
  expect(openMention("ada@example", 11)).toBeUndefined()
  expect(openMention("@Ada\nthen", 9)).toBeUndefined()
  expect(openMention("none", 4)).toBeUndefined()
  expect(openMention("@Ada later", 2)).toEqual({ at: 0, typed: "A" })
})

test("a mention suggests people whose name or address contains the typed text", () => {
  expect(suggested(people, "ada", 9)).toEqual([ada, adaByron])
  expect(suggested(people, "EXAMPLE", 9).map(({ subject }) => subject)).toEqual(["usr_a", "usr_e"])
  expect(suggested(people, "", 2)).toEqual([ada, adaByron])
})

test("mentioned people are found in a text, the longest name first", () => {
  const found = (text: string, ...chosen: ReadonlyArray<string>) => mentionsIn(text, people, new Set(chosen))
  expect(found("@Ada, look")).toEqual(["usr_a"])
  expect(found("@Ada Byron, look")).toEqual(["usr_b"])
  expect(found("@Ada and @Ada Byron")).toEqual(["usr_a", "usr_b"])
  expect(found("@Adam")).toEqual([])
  expect(found("@guest@example.com")).toEqual(["usr_e"])
  expect(found("@Kim")).toEqual([])
  expect(found("@Kim", "usr_d")).toEqual(["usr_d"])
  expect(found("nobody", "usr_d")).toEqual([])
})

test("only active people can be mentioned", () => {
  const invited = { ...ada, status: "invited" as const }
  const automation = { ...ada, kind: "automation" as const }
  expect(mentionable([ada, invited, automation])).toEqual([ada])
})
