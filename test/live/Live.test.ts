import { describe, expect } from "bun:test"
import { Deferred, Effect, Random, Redacted, Schema } from "effect"
import { WebSocket } from "ws"
import { platform } from "../../src/composition/Platform.ts"
import type { Kill } from "../crash/CrashHost.ts"
import { canaries } from "../crash/CrashWorld.ts"
import { it } from "../support/Effect.ts"
import { livePlane } from "./LivePlane.ts"
import { readToTheEnd, type Sequence, type Transport } from "./LiveReader.ts"

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

const readers: ReadonlyArray<{ readonly transport: Transport; readonly sequence: Sequence }> = [
  { transport: "websocket", sequence: "logs" },
  { transport: "websocket", sequence: "events" },
  { transport: "sse", sequence: "logs" },
  { transport: "sse", sequence: "events" },
  { transport: "websocket", sequence: "logs" },
  { transport: "sse", sequence: "logs" }
]

// Kills the server while the plan is running, and again while readers are catching up.
const kills: ReadonlyArray<Kill> = [
  { _tag: "at", at: { point: "plan.executed", passing: 1 } },
  { _tag: "at", at: { point: "plan.settled", passing: 1 } }
]

/** Runs one operator command on a data folder without a server, and returns the command's JSON output. */
const operate = <S extends Schema.Top>(program: string, schema: S, stdin: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const child = Bun.spawn([program, "admin", ...args, "--json"], {
      stdin: new TextEncoder().encode(stdin),
      stdout: "pipe",
      stderr: "inherit"
    })
    return (await new Response(child.stdout).text()).trim()
  }).pipe(Effect.flatMap((text) => Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text)))

/** Creates a second person with a token. */
const secondPerson = Effect.fnUntraced(function* (program: string, dataDir: string) {
  const at = ["--data-dir", dataDir]
  const person = Schema.Struct({ subject: Schema.String })
  const { subject } = yield* operate(
    program,
    person,
    "a password of the second\n",
    "create-user",
    ...at,
    "--email",
    "eve@example.com",
    "--password-stdin"
  )
  const created = Schema.Struct({ token: Schema.String })
  const { token } = yield* operate(
    program,
    created,
    "",
    "create-token",
    ...at,
    "--subject",
    subject,
    "--name",
    "eve",
    "--scopes",
    "read"
  )
  return { subject, token: Redacted.make(token) }
})

/**
 * Opens a socket, waits for its first frame, and returns the code with which the socket closes, or the status if the upgrade
 * is refused.
 */
const watch = Effect.fnUntraced(function* (url: string, headers: Readonly<Record<string, string>>) {
  const opened = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<number>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const socket = new WebSocket(url.replace(/^http/, "ws"), { headers })
      socket.on("message", () => Deferred.doneUnsafe(opened, Effect.void))
      socket.on("unexpected-response", (_, response) => {
        Deferred.doneUnsafe(opened, Effect.void)
        Deferred.doneUnsafe(closed, Effect.succeed(response.statusCode ?? 0))
      })
      socket.on("error", () => {})
      socket.on("close", (code) => Deferred.doneUnsafe(closed, Effect.succeed(code)))
      return socket
    }),
    (socket) => Effect.sync(() => socket.terminate())
  )
  yield* Deferred.await(opened)
  return Deferred.await(closed)
})

const bearer = (token: Redacted.Redacted) => ({ authorization: `Bearer ${Redacted.value(token)}` })

describe("Live sequences", () => {
  it.live(
    "live streams deliver every event once to clients that drop, stall and reconnect, even across two crashes",
    () =>
      Effect.gen(function* () {
        const { client, host, planRunId, world } = yield* livePlane({ lines: 1500, kills, prepare: () => Effect.void })
        const read = (reader: (typeof readers)[number]) =>
          readToTheEnd({ ...reader, server: host.current, token: world.token, runId: planRunId })
        const logs = readers.filter(({ sequence }) => sequence === "logs")
        const events = readers.filter(({ sequence }) => sequence === "events")
        // A plan's events continue until a person decides on it, so the test cancels the plan once its log is complete.
        const [ofLogs, ofEvents] = yield* Effect.all(
          [
            Effect.forEach(logs, read, { concurrency: "unbounded" }).pipe(
              Effect.tap(() => client.settled(planRunId)),
              Effect.tap(() => client.call(({ runs }) => runs.cancel({ params: { runId: planRunId }, payload: {} })))
            ),
            Effect.forEach(events, read, { concurrency: "unbounded" })
          ],
          { concurrency: 2 }
        ).pipe(Random.withSeed("live"))

        expect(host.kills()).toBe(2)
        const kinds: Array<string> = []
        for (let after = 0; ; ) {
          const page = yield* client.call(({ runs }) =>
            runs.events({ params: { runId: planRunId }, query: { after, limit: 100 } })
          )
          kinds.push(...page.events.map(({ kind }) => kind))
          after = page.nextAfter
          if (page.done) break
        }
        for (const { received } of ofEvents) expect(received).toEqual(upTo(kinds.length))
        const lines = ofLogs[0]?.received.length ?? 0
        // The provider's output from both attempts. The first attempt may lack at most one batch of lines, which was not
        // stored before the kill.
        expect(lines).toBeGreaterThan(2500)
        for (const { connections, received } of ofLogs) {
          expect(received).toEqual(upTo(lines))
          expect(connections).toBeGreaterThan(2)
        }
        expect(yield* host.stop).toBe(0)
      }).pipe(Effect.provide(platform)),
    300_000
  )

  it.live(
    "live streams end when the token is revoked or the member suspended, and reject pages from another origin",
    () =>
      Effect.gen(function* () {
        const plane = yield* livePlane({ lines: 1, kills: [], prepare: secondPerson })
        const { client, host, planRunId, prepared: eve, world } = plane
        yield* client.settled(planRunId)
        const { url } = yield* host.current
        const events = `${url}/api/v1/runs/${planRunId}/events`
        const { link, member } = yield* client.call(({ workspaces }) =>
          workspaces.addMember({
            params: { workspaceId: world.workspaceId },
            payload: { email: "eve@example.com", role: "viewer" }
          })
        )
        expect([member.status, String(member.subject) === eve.subject]).toEqual(["invited", false])
        const post = (path: string, body: Schema.Json, cookie?: string) =>
          Effect.promise(() =>
            fetch(`${url}${path}`, {
              method: "POST",
              headers: { "content-type": "application/json", origin: url, ...(cookie === undefined ? {} : { cookie }) },
              body: JSON.stringify(body)
            })
          )
        const signIn = (email: string, password: string) =>
          Effect.map(post("/auth/sign-in", { email, password }), ({ headers }) =>
            headers
              .getSetCookie()
              .map((one) => one.split(";")[0])
              .join("; ")
          )
        const secret = new URL(link ?? "").hash.slice(1)
        const eves = yield* signIn("eve@example.com", "a password of the second")
        expect((yield* post("/api/v1/invitations/accept", { secret }, eves)).status).toBe(200)
        const ofEve = yield* watch(events, bearer(eve.token))
        const ofOwner = yield* watch(events, bearer(world.token))

        yield* client.call(({ workspaces }) =>
          workspaces.updateMember({
            params: { workspaceId: world.workspaceId, subject: eve.subject },
            payload: { status: "suspended" }
          })
        )
        expect(yield* ofEve).toBe(4403)
        expect(yield* Effect.flatten(watch(events, bearer(eve.token)))).toBe(403)

        const cookie = yield* signIn("demo@example.com", canaries.password)
        expect(cookie).toContain("svc_session=")
        expect(yield* Effect.flatten(watch(events, { cookie, origin: "https://evil.example.test" }))).toBe(403)
        expect(yield* Effect.flatten(watch(events, { cookie }))).toBe(403)
        const ofPage = yield* watch(events, { cookie, origin: url })

        const listed = yield* Effect.promise(() => fetch(`${url}/api/v1/account/tokens`, { headers: { cookie } })).pipe(
          Effect.flatMap((response) => Effect.promise(() => response.text())),
          Effect.flatMap(
            Schema.decodeUnknownEffect(
              Schema.fromJsonString(Schema.Struct({ tokens: Schema.Array(Schema.Struct({ token_id: Schema.String })) }))
            )
          )
        )
        yield* post(`/api/v1/account/tokens/${listed.tokens[0]?.token_id}/revoke`, {}, cookie)
        expect(yield* ofOwner).toBe(4401)
        expect(yield* Effect.flatten(watch(events, bearer(world.token)))).toBe(401)

        yield* post("/auth/sign-out", {}, cookie)
        expect(yield* ofPage).toBe(4401)
      }).pipe(Effect.provide(platform)),
    300_000
  )
})
