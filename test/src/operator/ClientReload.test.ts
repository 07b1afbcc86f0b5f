import { expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  authorization,
  authorize,
  basicAuth,
  codeOf,
  errorOf,
  exchange,
  refresh,
  tokensOf,
  userInfo
} from "../accounts/oidc/support/Browser.ts"
import { signedInPerson, TestIssuer } from "../accounts/oidc/support/IssuerFixture.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"

setDefaultTimeout(60_000)

const secret = "a-client-secret-of-at-least-32-characters"
const kept = "https://app.example.com/kept"
const gone = "https://app.example.com/gone"
const client = (id: string, redirects: ReadonlyArray<string>) => ({
  client_id: id,
  client_name: id,
  client_secret: secret,
  redirect_uris: redirects,
  scope: "openid offline_access"
})
const before = [client("app", [kept, gone]), client("bystander", [gone]), client("retired", [gone])]

/** Starts a server with a policy file and a client file, and returns commands to edit and reload these files. */
const server = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const at = yield* folder
  const [policyFile, clientsFile, dataDir] = [`${at}/policy.json`, `${at}/clients.json`, `${at}/data`]
  const register = (clients: ReadonlyArray<object>) => files.writeFileString(clientsFile, JSON.stringify({ clients }))
  const decide = (policy: object) => files.writeFileString(policyFile, JSON.stringify(policy))
  yield* register(before)
  yield* decide({})
  const { services, url } = yield* serve(
    dataDir,
    new Map([
      ["policyFile", policyFile],
      ["oidcClientsFile", clientsFile]
    ])
  )
  const reload = svc(["admin", "reload", "--data-dir", dataDir])
  const browsing = Layer.succeed(TestIssuer, { issuer: url, handle: (request) => fetch(request) })
  return { decide, files, clientsFile, register, reload, here: Layer.merge(Layer.succeedContext(services), browsing) }
})

live(
  "svc admin reload removes clients that are no longer listed, with their codes and refresh families, and keeps other clients",
  () =>
    Effect.gen(function* () {
      const { here, register, reload } = yield* server
      yield* Effect.gen(function* () {
        const { cookie } = yield* signedInPerson("ann")
        const request = (client_id: string, redirect_uri: string) =>
          authorization({ client_id, redirect_uri, scope: "openid offline_access" })
        const code = (id: string, uri: string) => codeOf(request(id, uri), cookie)
        const spend = (id: string, uri: string, given: string) =>
          exchange(given, { redirect_uri: uri }, basicAuth(id, secret))
        const signIn = Effect.fnUntraced(function* (id: string, uri: string) {
          return yield* tokensOf(yield* spend(id, uri, yield* code(id, uri)))
        })
        const staying = yield* signIn("app", kept)
        const ending = yield* signIn("app", gone)
        const bystander = yield* signIn("bystander", gone)
        const retired = yield* signIn("retired", gone)
        const pending = yield* code("app", gone)

        yield* register([client("app", [kept]), client("bystander", [gone]), client("newcomer", [kept])])
        // Only the reload registers the clients.
        expect((yield* userInfo(ending.access_token)).status).toBe(200)
        const { code: exit, out } = yield* reload
        expect(exit).toBe(0)
        expect(out).toContain("OpenID clients in force: app, newcomer, retired changed. 3 grants ended")

        const renew = (id: string, tokens: typeof staying) =>
          refresh(tokens.refresh_token ?? "", {}, basicAuth(id, secret))
        yield* tokensOf(yield* renew("app", staying))
        yield* tokensOf(yield* renew("bystander", bystander))
        expect(yield* errorOf(yield* renew("app", ending))).toBe("invalid_grant")
        expect(yield* errorOf(yield* spend("app", gone, pending))).toBe("invalid_grant")
        expect(yield* errorOf(yield* renew("retired", retired))).toBe("invalid_client")
        expect((yield* userInfo(ending.access_token)).status).toBe(401)
        expect((yield* authorize(request("app", gone), cookie)).response.status).toBe(400)
        yield* signIn("newcomer", kept)

        // Revoked grants stay revoked, even if the client is registered again.
        yield* register(before)
        expect((yield* reload).code).toBe(0)
        expect(yield* errorOf(yield* renew("app", ending))).toBe("invalid_grant")
        expect(yield* errorOf(yield* renew("retired", retired))).toBe("invalid_grant")
        yield* signIn("app", gone)

        const sql = yield* SqlClient.SqlClient
        const events =
          yield* sql`SELECT data FROM audit_events WHERE action = 'operator.command' ORDER BY created_at, id`
        expect(JSON.stringify(events)).toContain("endedGrants")
        expect(JSON.stringify(events)).not.toContain(secret)
      }).pipe(Effect.provide(here))
    })
)

live("a reload with one invalid file applies neither file, and the error explains the fix", () =>
  Effect.gen(function* () {
    const { clientsFile, decide, files, here, register, reload } = yield* server
    yield* Effect.gen(function* () {
      const { cookie } = yield* signedInPerson("ann")
      const fields = authorization({ client_id: "app", redirect_uri: kept, scope: "openid" })
      const serves = Effect.flatMap(codeOf(fields, cookie), (code) =>
        exchange(code, { redirect_uri: kept }, basicAuth("app", secret))
      )
      const sql = yield* SqlClient.SqlClient
      const commands = sql`SELECT id FROM audit_events WHERE action = 'operator.command'`
      for (const [broken, advice] of [
        [() => register([client("app", ["http://app.example.com/cb"])]), "use https, or http://localhost"],
        [() => register([{ ...client("app", [kept]), colour: "red" }]), "clients.0.colour"],
        [() => files.writeFileString(clientsFile, "{"), "the document"],
        [() => files.remove(clientsFile), "cannot be read"],
        [() => Effect.andThen(register([]), decide({ nonsense: true })), "nonsense"]
      ] as const) {
        yield* broken()
        const { code, error } = yield* reload
        expect([code, error]).toEqual([6, expect.stringContaining(advice)])
        expect(error).toContain("Nothing was changed.")
        expect(error).not.toContain(secret)
        expect((yield* serves).status).toBe(200)
      }
      expect(yield* commands).toEqual([])
    }).pipe(Effect.provide(here))
  })
)
