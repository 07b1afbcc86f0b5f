import { expect, test } from "bun:test"
import {
  changedSecrets,
  changeProblem,
  removalProblem,
  runsToStop,
  tokenProblem
} from "../../../../actors/inputs/connection/ConnectionChangeProblem.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { OAuthHelperId } from "../../../../schema/records/OAuthHelper.ts"

test.each([
  ["pending", undefined],
  ["verified", undefined],
  ["expired", undefined],
  ["error", undefined],
  ["revoked", "is revoked"],
  ["unconfirmed", "is unconfirmed"]
] as const)("a Connection that is %s can be changed unless it is revoked or unconfirmed", (status, words) => {
  const problem = changeProblem({ status })
  if (words === undefined) expect(problem).toBeUndefined()
  else expect([problem?.code, problem?.message]).toEqual(["failed_precondition", expect.stringContaining(words)])
})

const ends = "2026-01-02T00:00:00.000Z"
const oauth = { helperId: OAuthHelperId.make("cloud"), refreshable: false, accessTokenExpiresAt: ends }
const later = "2026-01-03T00:00:00.000Z"

test("only the helper of a Connection can set its values", () => {
  expect(tokenProblem(undefined, { values: {}, expiresAt: later })).toBeUndefined()
  expect(tokenProblem(oauth, {})).toBeUndefined()
  expect(tokenProblem(oauth, { values: {} })?.code).toBe("failed_precondition")
  expect(tokenProblem(oauth, { files: [] })?.code).toBe("failed_precondition")
})

test("a Connection cannot outlive a token that cannot be renewed", () => {
  expect(tokenProblem(oauth, { expiresAt: ends })).toBeUndefined()
  expect(tokenProblem(oauth, { expiresAt: "2026-01-01T00:00:00.000Z" })).toBeUndefined()
  expect(tokenProblem(oauth, { expiresAt: later })?.code).toBe("invalid_request")
  expect(tokenProblem(oauth, { expiresAt: null })?.code).toBe("invalid_request")
  expect(tokenProblem({ ...oauth, refreshable: true }, { expiresAt: later })).toBeUndefined()
  expect(tokenProblem({ helperId: oauth.helperId, refreshable: false }, { expiresAt: null })).toBeUndefined()
})

test("fields omitted from a change keep their values, including the variable name of a replaced file", () => {
  const present = { values: { KEY: "old" }, files: [{ name: "a", content: "old", envName: "A_FILE" }] }
  expect(changedSecrets({}, present)).toEqual(present)
  expect(changedSecrets({ values: { KEY: "new" } }, present)).toEqual({ ...present, values: { KEY: "new" } })
  const files = [
    { name: "a", content: "new" },
    { name: "b", content: "b" },
    { name: "c", content: "c", envName: "C_FILE" }
  ]
  expect(changedSecrets({ files }, present)).toEqual({
    values: { KEY: "old" },
    files: [{ name: "a", content: "new", envName: "A_FILE" }, ...files.slice(1)]
  })
  expect(changedSecrets({ files: [{ name: "a", content: "x", envName: "OWN" }] }, present).files[0]?.envName).toBe(
    "OWN"
  )
  expect(changedSecrets({ values: { KEY: "new" } }, undefined)).toEqual({ values: { KEY: "new" }, files: [] })
})

test("a Connection in use cannot be removed", () => {
  expect(removalProblem([])).toBeUndefined()
  expect(removalProblem(["Capsule a", "Source b"])?.message).toContain("used by Capsule a, Source b")
})

test("revoking a Connection stops read-only Runs at once, but lets applies continue", () => {
  const run = (last: string, type: "plan" | "apply" | "destroy_apply" | "source_sync", cancelled = false) => ({
    id: RunId.make(`run_${last.padStart(26, "0")}`),
    type,
    cancel_requested_at: cancelled ? ends : null
  })
  const plan = run("a", "plan")
  const asked = run("b", "source_sync", true)
  const apply = run("c", "apply")
  const destroy = run("d", "destroy_apply")
  expect(runsToStop([plan, asked, apply, destroy])).toEqual({
    toCancel: [plan],
    cancelledRunIds: [plan.id, asked.id],
    runningApplyIds: [apply.id, destroy.id]
  })
})
