import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { DueWork } from "../../../../actors/base/DueWork.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { ForgeKind } from "../../../../schema/records/Forge.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { everyPermission, onForge, planeOnForge, robot } from "../../support/ForgeWorld.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { branched, looked, readOf } from "../../support/PullRequestWorld.ts"

setDefaultTimeout(120_000)

/** The permissions that let a token comment and set statuses. */
const lost: Readonly<Record<ForgeKind, Readonly<Record<"comments" | "statuses", string>>>> = {
  github: { comments: "pull_requests=write", statuses: "statuses=write" },
  gitlab: { comments: "notes", statuses: "statuses" },
  forgejo: { comments: "issue", statuses: "write access" }
}

describe.each(["github", "gitlab", "forgejo"] as const)("Reports that %s refuses", (kind) => {
  const tests = suite(planeOnForge(kind))
  afterAll(tests.dispose)

  tests.live(
    `${kind}: a report shows which permission its token has lost or that the repository is gone, changes no Run, and follows once it may`,
    () =>
      Effect.gen(function* () {
        const { base, headRefAt, opens, repository, secret, source, sql, state, statusOf, token } = yield* onForge(
          "refused",
          greeting("one")
        )
        const work = yield* DueWork
        const opened = yield* opens(1, greeting("two"))
        const own = () => opened.comments.filter(({ author }) => author.id === robot.id)
        yield* looked(source.id, secret)
        yield* statusOf(opened.headCommit, (text) => text.includes("planned"))
        const comment = own()[0]?.id

        /** Moves the head, which needs a new report. */
        const pushed = Effect.fnUntraced(function* (text: string) {
          opened.headCommit = yield* branched(base, opened.headRef, greeting(text))
          yield* headRefAt(1, opened.headCommit)
          yield* looked(source.id, secret)
          return opened.headCommit
        })
        const reported = (holds: (error: { readonly code: string; readonly message: string } | undefined) => boolean) =>
          eventually(
            sql`UPDATE pull_request_reports SET next_at = NULL`.pipe(
              Effect.andThen(work.wake),
              Effect.andThen(readOf(source.id, 1)),
              Effect.map(({ report }) => report?.error)
            ),
            holds
          )
        const grant = (without?: string) =>
          state.tokens.set(token, {
            account: robot,
            permissions: new Set(everyPermission[kind].filter((permission) => permission !== without))
          })

        const refusals: ReadonlyArray<
          readonly [what: string, code: string, named: string, lose: () => void, restore: () => void]
        > = [
          ["comments", "forbidden", lost[kind].comments, () => grant(lost[kind].comments), () => grant()],
          [
            "statuses",
            "forbidden",
            lost[kind].statuses,
            () => (kind === "forgejo" ? repository.collaborators.set(robot.login, "read") : grant(lost[kind].statuses)),
            () => (kind === "forgejo" ? repository.collaborators.set(robot.login, "write") : grant())
          ],
          [
            "the repository, which was transferred",
            "missing",
            "",
            () => {
              repository.hidden = true
            },
            () => {
              repository.hidden = false
            }
          ]
        ]
        for (const [index, [what, code, named, lose, restore]] of refusals.entries()) {
          lose()
          const head = yield* pushed(`without ${index}`)
          const error = yield* reported((found) => found?.code === code)
          // Only GitHub names the permission.
          if (kind === "github") expect([what, error?.message]).toEqual([what, expect.stringContaining(named)])
          expect([what, error?.message.includes(token)]).toEqual([what, false])
          const seen = yield* readOf(source.id, 1)
          expect(seen).toMatchObject({ state: "open" })
          // The status does not need the permission to comment.
          if (what === "comments") yield* statusOf(head, (text) => text.includes("planned"))
          restore()
          yield* looked(source.id, secret)
          yield* reported((found) => found === undefined)
          yield* statusOf(head, (text) => text.includes("planned"))
          const { capsules } = yield* readOf(source.id, 1)
          const runId = capsules?.[0]?.run?.id
          const run = runId === undefined ? undefined : yield* (yield* Runs).read(runId)
          expect([what, run?.status, run?.resolvedCommit]).toEqual([what, "succeeded", head])
          expect([what, own().map(({ id }) => id)]).toEqual([what, [comment ?? 0]])
          expect(own()[0]?.body).toContain(head.slice(0, 7))
        }
      })
  )
})
