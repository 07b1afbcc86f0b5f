import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import type { Role } from "../../../schema/records/Workspace.ts"
import { joinWorkspace, newPerson, newWorkspace } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, call, fromPage, openSession } from "../accounts/support/AccountServer.ts"

/**
 * Rules beyond a route's required role: "the last owner cannot be removed or lowered; only owners change roles; owners and
 * admins add". Each line contains a change, the response if an owner requests it, and the response if an admin requests it,
 * in a Workspace with an owner, an admin and a member.
 */
const table = `
change                          owner admin
POST   /members  owner           201   403
POST   /members  admin           201   201
POST   /members  member          201   201
PATCH  member    role=viewer     200   403
PATCH  member    role=owner      200   403
PATCH  member    status          200   200
PATCH  owner     role=member     409   403
PATCH  owner     status          409   403
PATCH  admin     role=owner      200   403
PATCH  admin     role=viewer     200   403
DELETE member    -               204   204
DELETE owner     -               409   403
DELETE admin     -               204   204
POST   ownership member          200   403
POST   ownership newcomer        409   403
`

const rows = table
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.trim().split(/\s+/))

const workspaceWith = Effect.gen(function* () {
  const owner = yield* newPerson("owner")
  const newcomer = yield* newPerson("newcomer")
  const workspace = yield* newWorkspace(owner.subject, { handle: "acme" })
  const add = Effect.fnUntraced(function* (role: Role) {
    const { subject } = yield* newPerson(role === "admin" ? "admin" : "member")
    yield* joinWorkspace(owner.subject, workspace.id, subject, role)
    return subject
  })
  return { id: workspace.id, owner: owner.subject, admin: yield* add("admin"), member: yield* add("member"), newcomer }
})

for (const [method = "", target = "", wanted = "", ...expected] of rows) {
  for (const [at, acting] of (["owner", "admin"] as const).entries()) {
    it.effect(`an ${acting} gets ${expected[at]} for ${method} ${target} ${wanted}`, () =>
      Effect.gen(function* () {
        const workspace = yield* workspaceWith
        const { secret } = yield* openSession(workspace[acting])
        const subjects: Readonly<Record<string, string>> = { ...workspace, newcomer: workspace.newcomer.subject }
        const [field, value] = wanted.split("=")
        const body =
          method === "DELETE"
            ? {}
            : target === "/members"
              ? { body: { subject: workspace.newcomer.subject, role: wanted } }
              : target === "ownership"
                ? { body: { subject: subjects[wanted] } }
                : { body: field === "role" ? { role: value } : { status: "suspended" } }
        const path = { "/members": "members", ownership: "ownership" }[target] ?? `members/${subjects[target]}`
        const answer = yield* call(`/api/v1/workspaces/${workspace.id}/${path}`, {
          method,
          headers: fromPage(secret),
          ...body
        })
        expect(answer.status).toBe(Number(expected[at]))
      }).pipe(Effect.provide(Layer.fresh(AccountServer.layer)))
    )
  }
}
