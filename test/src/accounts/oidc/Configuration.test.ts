import { afterAll, describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, FileSystem, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { IdentityCleanup } from "../../../../actors/access/issuer/IdentityCleanup.ts"
import { IssuerSettings } from "../../../../actors/access/issuer/IssuerSettings.ts"
import { OAuthAuthority } from "../../../../actors/access/issuer/OAuthAuthority.ts"
import { Grants } from "../../../../actors/access/issuer/Grants.ts"
import type { StaticClientConfig } from "../../../../actors/access/issuer/StaticClientConfig.ts"
import { StaticClients } from "../../../../actors/access/issuer/StaticClients.ts"
import { AttemptLimits } from "../../../../src/accounts/AttemptLimits.ts"
import { mountedOidcRoutes, oidcIssuer } from "../../../../src/accounts/oidc/IssuerRoutes.ts"
import { readStaticClients } from "../../../../src/accounts/oidc/StaticClientFile.ts"
import { newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { it, suite } from "../../../support/Effect.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import { someone } from "./support/Someone.ts"
import { authorization, bodyText, json, query, refresh, send, signInTo, userInfo, visit } from "./support/Browser.ts"
import { setMembership, withoutTable } from "./support/CapsuleFixture.ts"
import {
  clientDocument,
  defaultIssuer,
  issuerLayer,
  issuerSettings,
  mounted,
  secret,
  TestIssuer
} from "./support/IssuerFixture.ts"
import { TestTime, testTime } from "./support/TestTime.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

const good: StaticClientConfig = {
  client_id: "app",
  client_name: "App",
  redirect_uris: ["https://app.example.com/cb"]
}

const settings = (issuer: string) => Layer.succeed(IssuerSettings, { issuer, refreshReuseGrace: Duration.zero })

const registered = (config: StaticClientConfig) =>
  Effect.map(StaticClients, ({ clients }) => clients.get(config.client_id)).pipe(
    Effect.provide(
      StaticClients.layer({ clients: [config] }).pipe(
        Layer.provide(settings(defaultIssuer)),
        Layer.provideMerge(Logger.layer([]))
      )
    )
  )

describe("static clients", () => {
  it.effect("the issuer stores only the digest of a client secret", () =>
    Effect.gen(function* () {
      const client = yield* registered({ ...good, client_secret: Redacted.make(secret) })
      expect(JSON.stringify(client)).not.toContain(secret)
      expect(Redacted.value(client?.secretHash ?? Redacted.make(""))).toMatch(/^[0-9a-f]{64}$/)
    })
  )

  for (const [name, change] of [
    ["a redirect over http", { redirect_uris: ["http://app.example.com/cb"] }],
    ["a redirect with a fragment", { redirect_uris: ["https://app.example.com/cb#x"] }],
    ["a wildcard", { redirect_uris: ["https://*.example.com/cb"] }],
    ["a redirect with a user name", { redirect_uris: ["https://user@app.example.com/cb"] }],
    ["a script as a redirect", { application_type: "native", redirect_uris: ["javascript://x/%0aalert(1)"] }],
    ["a scheme of its own in a web client", { redirect_uris: ["com.example.app:/cb"] }],
    ["no redirect at all", { redirect_uris: [] }],
    ["optional PKCE without a secret", { pkce: "optional" }],
    ["a resource that no server has", { resources: ["https://api.example.com"] }],
    ["a guard without a secret", { guards: ["https://api.example.com"] }],
    ["the name of the command line", { client_id: "svc-cli" }],
    ["a name of Capsules", { client_id: "oidc_abc" }]
  ] satisfies ReadonlyArray<readonly [string, Partial<StaticClientConfig>]>) {
    it.effect(`refuse ${name}`, () =>
      Effect.gen(function* () {
        const refused = yield* Effect.flip(registered({ ...good, ...change }))
        expect(refused._tag).toBe("StaticClientsRefused")
      })
    )
  }

  it.effect("a client with a localhost address triggers a warning if the issuer is not on localhost", () =>
    Effect.gen(function* () {
      const warned = (issuer: string, uri: string) => {
        const logged: Array<string> = []
        const logger = Logger.make(({ message }) => void logged.push(String(message)))
        return Layer.build(StaticClients.layer({ clients: [{ ...good, redirect_uris: [uri] }] })).pipe(
          Effect.as(logged),
          Effect.provide(Layer.merge(settings(issuer), Logger.layer([logger])))
        )
      }
      for (const uri of ["http://localhost/cb", "http://localhost:3000/cb"]) {
        const [warning, ...more] = yield* warned(defaultIssuer, uri)
        expect(warning).toContain(`OpenID client app has the redirect address ${uri}`)
        expect(more).toEqual([])
        expect(yield* warned("http://127.0.0.1:8080", uri)).toEqual([])
        expect(yield* warned("http://localhost:8080", uri)).toEqual([])
      }
      expect(yield* warned(defaultIssuer, "http://127.0.0.1/cb")).toEqual([])
    })
  )

  it.live("static clients are read from a file, and errors about the file never contain its values", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const file = `${yield* temporaryFolder}/clients.json`
      const read = readStaticClients(file)
      yield* files.writeFileString(file, JSON.stringify({ clients: [{ ...good, client_secret: secret }] }))
      const [client] = (yield* read).clients
      expect(String(client?.client_secret)).not.toContain(secret)
      yield* files.writeFileString(file, JSON.stringify({ clients: [{ ...good, client_secret: "tooshort-canary" }] }))
      const short = yield* Effect.flip(read)
      expect(short.message).toContain("clients.0.client_secret")
      expect(short.message).not.toContain("canary")
      yield* files.writeFileString(file, JSON.stringify({ clients: [{ ...good, colour: "red" }] }))
      expect((yield* Effect.flip(read)).message).toContain("clients.0.colour")
      yield* files.writeFileString(file, "{")
      expect((yield* Effect.flip(read)).message).toContain("the document")
      expect((yield* readStaticClients(undefined)).clients).toEqual([])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("OAuth tokens at the API", () => {
  tests.live("an OAuth token acts for a person at the API, limited to the granted scopes and Workspace", () =>
    Effect.gen(function* () {
      const authority = yield* OAuthAuthority
      const { cookie, subject } = yield* someone
      const { id: workspace_id } = yield* newWorkspace(subject, { handle: "oauth-api" })
      const tokens = yield* signInTo({ scope: "openid read", workspace_id }, cookie)
      const present = authority.authenticate(Redacted.make(tokens.access_token))
      expect(yield* present).toMatchObject({
        credential: "oauth",
        subject,
        scopes: ["openid", "read"],
        boundWorkspaceId: workspace_id
      })
      expect((yield* withoutTable("memberships", Effect.flip(present))).code).toBe("verification_unavailable")
      yield* setMembership(workspace_id, subject, { status: "suspended" })
      expect((yield* Effect.flip(present)).code).toBe("invalid_token")
    })
  )

  tests.live("OAuth tokens are revoked together with all other grants of a person", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const { cookie, subject } = yield* someone
      const tokens = yield* signInTo({ scope: "openid offline_access" }, cookie)
      yield* grants.revokeSubject(subject)
      expect((yield* userInfo(tokens.access_token)).status).toBe(401)
      expect((yield* refresh(tokens.refresh_token ?? "")).status).toBe(400)
    })
  )
})

describe("cleanup", () => {
  tests.live("issuer cleanup deletes records that expired 30 days ago, and keeps active records", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const time = yield* TestTime
      const cleanup = yield* IdentityCleanup
      const { cookie, subject } = yield* someone
      yield* signInTo({}, cookie)
      const kept = yield* signInTo({ scope: "openid offline_access" }, cookie)
      yield* time.advance("29 days")
      const renewed = yield* json(yield* refresh(kept.refresh_token ?? ""))
      yield* time.advance("2 days")
      yield* cleanup.purge
      const rows = yield* sql`SELECT id FROM oidc_grants WHERE subject = ${subject}`
      expect(rows.length).toBe(1)
      expect((yield* refresh(String(renewed["refresh_token"]))).status).toBe(200)
    })
  )

  tests.live("issuer cleanup rotates the signing keys after 90 days", () =>
    Effect.gen(function* () {
      const time = yield* TestTime
      const cleanup = yield* IdentityCleanup
      const kids = Effect.map(json(yield* send("/oauth/jwks")), ({ keys }) => JSON.stringify(keys))
      const before = yield* kids
      yield* cleanup.rotateIfDue
      yield* time.advance("90 days")
      yield* cleanup.rotateIfDue
      const after = yield* Effect.map(json(yield* send("/oauth/jwks")), ({ keys }) => JSON.stringify(keys))
      expect(after).not.toBe(before)
    })
  )
})

describe("mounting", () => {
  it.live("the issuer is one layer on top of accounts, and serves nothing unless that layer is added", () =>
    Effect.gen(function* () {
      const { handle } = yield* TestIssuer
      const response = yield* Effect.promise(() =>
        handle(new Request(`${defaultIssuer}/.well-known/openid-configuration`))
      )
      expect(response.status).toBe(200)
    }).pipe(
      Effect.provide(
        mounted(defaultIssuer, mountedOidcRoutes).pipe(
          Layer.provideMerge(oidcIssuer({ issuer: defaultIssuer })),
          Layer.provideMerge(issuerSettings(defaultIssuer, clientDocument())),
          Layer.provideMerge(testAccounts),
          Layer.provideMerge(testTime)
        )
      )
    )
  )

  it.live("startup fails if the client advertised in discovery does not exist", () =>
    Effect.gen(function* () {
      const started = (advertisedClientId: string) =>
        Layer.build(
          oidcIssuer({ issuer: defaultIssuer, advertisedClientId }).pipe(
            Layer.provideMerge(testAccounts),
            Layer.provideMerge(testTime)
          )
        ).pipe(Effect.scoped)
      yield* started("svc-cli")
      const refused = yield* Effect.flip(started("unknown"))
      expect([refused._tag, refused.message]).toEqual([
        "StaticClientsRefused",
        expect.stringContaining("SVC_OIDC_CLIENT_ID names unknown")
      ])
    })
  )

  it.live("the issuer refuses a flood of authorization requests and returns a time to retry", () =>
    Effect.gen(function* () {
      const { cookie } = yield* someone
      const time = yield* TestTime
      // The clock is stopped, because rate limits would refill during a slow test.
      yield* time.stop
      const statuses: Array<number> = []
      let last: Response | undefined
      for (let attempt = 0; attempt < 61; attempt++) {
        last = yield* visit(`/oauth/authorize?${query(authorization())}`, cookie)
        statuses.push(last.status)
      }
      expect(statuses.slice(0, 60)).not.toContain(429)
      expect(last?.status).toBe(429)
      expect(last === undefined ? "" : yield* bodyText(last)).toContain("Too many attempts")
      yield* time.advance("1 second")
      const after = yield* Effect.all([
        visit(`/oauth/authorize?${query(authorization())}`, cookie),
        visit("/oauth/jwks")
      ])
      expect(after.map(({ status }) => status)).toEqual([200, 200])
      expect((yield* visit(`/oauth/authorize?${query(authorization())}`, cookie)).status).toBe(429)
    }).pipe(Effect.provide(Layer.fresh(issuerLayer({ limits: AttemptLimits.layer }))))
  )
})
