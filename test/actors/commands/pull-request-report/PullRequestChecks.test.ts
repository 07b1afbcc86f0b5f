import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { suite } from "../../../support/Effect.ts"
import { ada, onGitHub, planeOfApp } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, looked, readOf } from "../../support/PullRequestWorld.ts"
import { admin, ruled } from "../../support/ApprovalSteps.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(120_000)

const tests = suite(planeOfApp)
afterAll(tests.dispose)

describe("GitHub App checks", () => {
  tests.live("a GitHub App check shows the same verdict and text as the comment, and no values, logs or actions", () =>
    Effect.gen(function* () {
      const { base, checkOf, opens, secret, source, state } = yield* onGitHub("checks", greeting("one"))
      state.accounts.set("acme-svc[bot]", { id: 21, login: "acme-svc[bot]" })
      yield* ruled({ approvers: 1, planAuthorCounts: false })
      const opened = yield* opens(1, greeting("secret-looking-value"))
      yield* looked(source.id, secret)
      const planned = yield* checkOf(opened.headCommit, (title) => title.includes("planned"))
      expect(planned).toMatchObject({ state: "success", title: "1 Capsule: 1 planned." })
      const comment = opened.comments.find(({ author }) => author.id !== ada.id)?.body
      expect(planned?.summary).toBe(comment ?? "")
      expect(planned?.fields).not.toContain("actions")
      expect(state.statuses).toEqual([])

      const id = (yield* readOf(source.id, 1)).capsules?.[0]?.run?.id
      const run = id === undefined ? yield* Effect.die("no Run") : yield* (yield* Runs).read(id)
      yield* (yield* RunCommands).ApproveChange(run.id, {
        context: yield* admin,
        planDigest: run.planDigest ?? "",
        changeDigest: run.changeDigest ?? ""
      })
      yield* checkOf(opened.headCommit, (title) => title.includes("approved"))
      // The commit has only one check for the Workspace, however often the check's state changes.
      expect(state.checks.filter(({ commit }) => commit === opened.headCommit)).toHaveLength(1)

      // The queue's commit changes another value. The commit's check lists the differing lines without values.
      const queued = yield* branched(base, `gh-readonly-queue/checks/pr-1-${base}`, greeting("another-value"))
      yield* looked(source.id, secret)
      const failed = yield* checkOf(queued, (title) => title.includes("Not the change"))
      expect(failed?.state).toBe("failure")
      expect(failed?.summary).toContain("Differs from the approved change:\n\n- `")
      expect(JSON.stringify(state.checks)).not.toMatch(/secret-looking-value|another-value/)
      expect(opened.comments.map(({ body }) => body).join()).not.toMatch(/secret-looking-value|another-value/)
    })
  )
})
