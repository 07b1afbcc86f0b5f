import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { suite } from "../../../support/Effect.ts"
import { newMember, TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

describe("The Source's rule for pull requests", () => {
  tests.live(
    "pull requests get a static review until an admin changes the rule, and the history records the change",
    () =>
      Effect.gen(function* () {
        const { context, url, workspaceId } = yield* TestPlane
        const commands = yield* SourceCommands
        const sources = yield* Sources
        const { source } = yield* sources.create(context, { workspaceId, name: "app", url })
        expect(source.pullRequests).toBe("static")

        const member = yield* newMember(workspaceId, context, "member")
        const request = { pullRequests: "own_branches" } as const
        const refused = yield* Effect.flip(commands.Update(source.id, { context: member, request }))
        expect(refused).toMatchObject({ code: "permission_denied", message: expect.stringContaining("pullRequests") })
        expect((yield* sources.read(source.id)).pullRequests).toBe("static")

        const admin = yield* newMember(workspaceId, context, "admin")
        expect((yield* commands.Update(source.id, { context: admin, request })).pullRequests).toBe("own_branches")
        const { items } = yield* (yield* Audit).list(
          workspaceId,
          context.actor.subject ?? "",
          { action: "source.update" },
          { limit: 10 }
        )
        expect(items.map(({ data }) => data)).toEqual([{ fields: ["pullRequests"], pullRequests: "own_branches" }])
      })
  )
})
