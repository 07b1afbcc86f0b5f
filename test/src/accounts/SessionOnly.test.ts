import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { accountRoutes } from "./support/AccountRoutes.ts"
import { as, newPerson, newWorkspace } from "../../support/Accounts.ts"
import { it } from "../../support/Effect.ts"
import { AccountServer, bearer, call, fromPage, openSession } from "./support/AccountServer.ts"

const fresh = Effect.provide(Layer.fresh(AccountServer.layerAt("http://localhost:8787")))

/** Routes for signing in or out, which work without a session. Add every new public route here. */
const open: ReadonlySet<string> = new Set([
  "GET /auth/offer",
  "GET /sign-in",
  "POST /sign-in",
  "GET /setup",
  "POST /setup",
  "POST /auth/setup",
  "POST /auth/setup/link",
  "POST /auth/setup/passkey-options",
  "POST /auth/setup/passkey",
  "POST /auth/invitations/sign-up",
  "POST /auth/invitations/passkey-options",
  "POST /auth/invitations/passkey",
  "POST /auth/sign-in",
  "POST /auth/sign-out",
  "POST /auth/passkeys/sign-in-options",
  "POST /auth/passkeys/sign-in",
  "GET /auth/upstream/start",
  "GET /auth/upstream/callback",
  "POST /auth/upstream/invitation"
])

const guarded = accountRoutes
  .map(([method, path]) => ({ method, path: path.replace(/:\w+/, "id_of_nothing"), name: `${method} ${path}` }))
  .filter(({ name }) => !open.has(name))

it.effect("every account route that is not public requires a session before it reads the body", () =>
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const sessions = yield* Sessions
    const users = yield* Users
    const { subject } = yield* newPerson("ann")
    const locked = yield* newPerson("locked")
    const workspace = yield* newWorkspace(subject, { handle: "acme" })
    const { secret } = yield* tokens.create(as(subject), subject, { name: "t", scopes: ["read", "write"] })
    const good = yield* openSession(subject)
    const ended = yield* openSession(subject)
    yield* sessions.revoke(subject, ended.session.id)
    const lockedOut = yield* openSession(locked.subject)
    yield* users.setStatus(serviceContext, locked.subject, "disabled")
    const callers = {
      nobody: [401, {}],
      "personal token": [401, bearer(secret)],
      "session as a bearer": [401, bearer(good.secret)],
      "ended session": [401, fromPage(ended.secret)],
      "locked account": [401, fromPage(lockedOut.secret)],
      "two sessions": [401, { ...fromPage(good.secret), "x-svc-account-session": "svcs_second" }],
      "another site": [403, { ...fromPage(good.secret), "sec-fetch-site": "cross-site" }],
      "confined session": [403, fromPage((yield* openSession(subject, workspace.id)).secret)]
    } as const
    for (const { method, name, path } of guarded) {
      for (const [caller, [status, headers]] of Object.entries(callers)) {
        // Two callers may read but not write: a page on another site, which cannot see the response, and a confined
        // credential, which may read the person's own details.
        const reads = method === "GET" && status === 403
        const body = method === "POST" ? { body: { bogus: 1 } } : {}
        const answer = yield* call(path, { method, headers, ...body })
        expect([name, caller, answer.status]).toEqual([name, caller, reads ? 200 : status])
        expect([name, answer.headers.get("cache-control")]).toEqual([name, "no-store"])
      }
    }
    expect(guarded.length).toBeGreaterThanOrEqual(11)
  }).pipe(fresh)
)
