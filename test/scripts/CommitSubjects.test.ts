import { expect, test } from "bun:test"
import { subjectFaults } from "../../scripts/CommitSubjects.ts"

test.each(["Refuse applies from a revoked share", "Pass the key to the runner", "Read states before the transaction"])(
  "the commit check accepts the subject %j",
  (subject) => expect(subjectFaults(subject)).toEqual([])
)

test.each([
  "Refused applies from a revoked share",
  "Adds a check of subjects",
  "Fixing leaked servers",
  "What a revoked share gave to a plan is no longer applied",
  "The sync holds where it asks for objects",
  "52: exit codes"
])("the commit check reports the subject %j, which is not imperative", (subject) =>
  expect(subjectFaults(subject)).toEqual(["does not begin with an imperative"])
)

test("the commit check reports a subject of 61 characters, and accepts a subject of 60 characters", () => {
  expect(subjectFaults(`Add ${"x".repeat(56)}`)).toEqual([])
  expect(subjectFaults(`Add ${"x".repeat(57)}`)).toEqual(["61 characters instead of at most 60"])
})
