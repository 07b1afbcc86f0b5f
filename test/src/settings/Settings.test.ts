import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Effect, FileSystem, Option, Redacted } from "effect"
import type { SettingDefinition } from "../../../src/settings/SettingDefinition.ts"
import { agentEnv } from "../../../src/settings/AgentVariables.ts"
import { clientEnv } from "../../../src/settings/ClientSettings.ts"
import { settingDefinitions, settingsFileEnv } from "../../../src/settings/SettingDefinitions.ts"
import {
  isPlainBeyondLoopback,
  loadSettings,
  mailServer,
  masterKeySource,
  upstreamProvider
} from "../../../src/settings/Settings.ts"
import { it } from "../../support/Effect.ts"

const load = Effect.fn("load")(function* (
  flags: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
  file?: string
) {
  const fileSystem = yield* FileSystem.FileSystem
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "svc-settings-" })
  const path = `${folder}/settings.json`
  if (file !== undefined) yield* fileSystem.writeFileString(path, file)
  const config = file === undefined ? Option.none<string>() : Option.some(path)
  return yield* loadSettings(new Map(Object.entries(flags)), config).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
  )
}, Effect.provide(NodeServices.layer))

const refusal = (...args: Parameters<typeof load>) => Effect.map(Effect.flip(load(...args)), ({ message }) => message)

describe("settings", () => {
  it.effect("each setting has its documented default", () =>
    Effect.gen(function* () {
      expect<unknown>(yield* load({})).toEqual({
        dataDir: "./svc-data",
        listen: { host: "127.0.0.1", port: 8787 },
        name: "svc",
        plainHttp: "loopback",
        trustedProxies: [],
        corsOrigins: [],
        familiesOff: [],
        passwordSignIn: "on",
        upstreamOidcTrust: "email_verified",
        upstreamOidcScopes: "openid email profile",
        upstreamOidcGroupsClaim: "groups",
        mailLanguage: "en",
        oidcRefreshGrace: 0,
        gitAllowOrigins: [],
        gitNative: "auto",
        noticeAllowOrigins: [],
        tool: "auto",
        toolDownload: "on",
        providerMirrorRequired: false,
        runnerIsolation: "auto",
        runnerNetwork: "auto",
        runnerForbiddenRanges: ["169.254.0.0/16", "100.100.100.200/32", "fd00:ec2::254/128"],
        runMemory: "auto",
        runProcesses: 4096,
        runTmp: 1024 ** 3,
        runShm: 64 * 1024 ** 2,
        runFolder: 8 * 1024 ** 3,
        runFreeDisk: 512 * 1024 ** 2,
        runConcurrency: 4,
        buildConcurrency: 3,
        workspaceQueue: 1000,
        keepLogs: 90,
        keepEvents: 180,
        keepRuns: 365,
        keepStates: 365,
        keepSnapshots: 180,
        keepPlans: 180,
        keepAgentFiles: 30,
        forgetAgents: 7,
        keepCapsuleBackups: 365,
        backupSnapshots: true,
        backupInterval: 24,
        backupKeep: 7,
        drainDelay: 0,
        log: "info",
        logFormat: "pretty"
      })
    })
  )

  it.effect("settings come from flags, then the environment, then the file, then the defaults", () =>
    Effect.gen(function* () {
      const file = JSON.stringify({ runConcurrency: 7, name: "from file", gitAllowOrigins: ["http://127.0.0.1:1"] })
      const environment = { SVC_RUN_CONCURRENCY: "6", SVC_LOG: "debug" }
      const all = yield* load({ runConcurrency: "5" }, environment, file)
      expect([all.runConcurrency, all.log, all.name, all.gitNative]).toEqual([5, "debug", "from file", "auto"])
      expect(all.gitAllowOrigins).toEqual(["http://127.0.0.1:1"])
      expect((yield* load({}, environment, file)).runConcurrency).toBe(6)
      expect((yield* load({}, {}, file)).runConcurrency).toBe(7)
    })
  )

  it.effect("settings accept sizes with units, and address ranges that the kernel supports", () =>
    Effect.gen(function* () {
      const all = yield* load({
        runMemory: "512MiB",
        runFolder: "20GiB",
        runnerForbiddenRanges: "10.0.0.0/8, fd00::/8"
      })
      expect<ReadonlyArray<unknown>>([all.runMemory, all.runFolder]).toEqual([512 * 1024 ** 2, 20 * 1024 ** 3])
      expect(all.runnerForbiddenRanges).toEqual(["10.0.0.0/8", "fd00::/8"])
      expect((yield* load({ runnerForbiddenRanges: "none" })).runnerForbiddenRanges).toEqual([])
      for (const given of [{ runMemory: "4096" }, { runTmp: "0MiB" }, { runnerForbiddenRanges: "10.0.0.0/33" }]) {
        expect(yield* refusal(given)).toContain("settings are not valid")
      }
    })
  )

  it.effect("settings accept a complete mail server without a password in its address", () =>
    Effect.gen(function* () {
      const mail = { SVC_SMTP_URL: "smtps://mail.example.com:465", SVC_SMTP_FROM: "svc@example.com" }
      expect(mailServer(yield* load({}))).toBeUndefined()
      expect(mailServer(yield* load({}, mail))?.from).toEqual({ name: "svc", address: "svc@example.com" })
      const login = { ...mail, SVC_SMTP_USER: "svc" }
      const { password } = mailServer(yield* load({}, { ...login, SVC_SMTP_PASSWORD: "s3cret" })) ?? {}
      expect(String(password)).not.toContain("s3cret")
      expect(yield* refusal({}, { SVC_SMTP_FROM: "svc@example.com" })).toContain("SVC_SMTP_URL")
      expect(yield* refusal({}, { SVC_SMTP_URL: mail.SVC_SMTP_URL })).toContain("SVC_SMTP_FROM")
      expect(yield* refusal({}, login)).toContain("SVC_SMTP_PASSWORD")
      expect(yield* refusal({}, { ...mail, SVC_SMTP_PASSWORD: "s3cret" })).toContain("SVC_SMTP_USER")
      const both = { ...login, SVC_SMTP_PASSWORD: "s3cret", SVC_SMTP_PASSWORD_FILE: "/run/password" }
      expect(yield* refusal({}, both)).toContain("Give one of")
      for (const url of ["smtp://u:s3cret@mail.example.com", "https://mail.example.com", "smtp://mail.example.com/x"]) {
        const refused = yield* refusal({}, { ...mail, SVC_SMTP_URL: url })
        expect(refused).toContain("SVC_SMTP_URL")
        expect(refused).not.toContain("s3cret")
      }
    })
  )

  it.effect("settings require a sign-in method, and accept an upstream provider only if it is complete", () =>
    Effect.gen(function* () {
      const upstream = {
        SVC_UPSTREAM_OIDC_ISSUER: "https://login.example.com",
        SVC_UPSTREAM_OIDC_CLIENT_ID: "svc",
        SVC_UPSTREAM_OIDC_CLIENT_SECRET: "s3cret-of-upstream"
      }
      expect(yield* refusal({}, { SVC_PASSWORD_SIGN_IN: "off" })).toContain("nobody could sign in")
      expect((yield* load({}, { ...upstream, SVC_PASSWORD_SIGN_IN: "off" })).passwordSignIn).toBe("off")
      const provider = (environment: Readonly<Record<string, string>>) =>
        Effect.map(load({}, environment), (settings) => upstreamProvider(settings)?.name)
      expect(yield* provider(upstream)).toBe("login.example.com")
      const tenant = { ...upstream, SVC_UPSTREAM_OIDC_TRUST: "single_tenant" }
      expect(yield* provider(tenant)).toBe("login.example.com")
      for (const shared of [
        "https://accounts.google.com",
        "https://login.microsoftonline.com/common/v2.0",
        "https://login.microsoftonline.com/organizations/v2.0",
        "https://login.microsoftonline.com./common/v2.0",
        "https://login.microsoftonline.us/COMMON/v2.0",
        "https://sts.windows.net/common",
        "https://accounts.google.com."
      ]) {
        expect(yield* refusal({}, { ...tenant, SVC_UPSTREAM_OIDC_ISSUER: shared })).toContain(
          "people of every organisation"
        )
      }
      const ownTenant = "https://login.microsoftonline.com/5a7c1c0e-0000-4000-8000-000000000001/v2.0"
      expect(yield* provider({ ...tenant, SVC_UPSTREAM_OIDC_ISSUER: ownTenant })).toBe("login.microsoftonline.com")
      for (const scopes of ["email profile", "openid  email", " openid"]) {
        expect(yield* refusal({}, { ...upstream, SVC_UPSTREAM_OIDC_SCOPES: scopes })).toContain(
          "SVC_UPSTREAM_OIDC_SCOPES"
        )
      }
      expect(yield* provider({ ...upstream, SVC_UPSTREAM_OIDC_NAME: "Acme ID" })).toBe("Acme ID")
      expect(yield* refusal({}, { ...upstream, SVC_UPSTREAM_OIDC_NAME: "x".repeat(41) })).toContain(
        "SVC_UPSTREAM_OIDC_NAME"
      )
      for (const missing of Object.keys(upstream)) {
        const message = yield* refusal({}, { ...upstream, [missing]: "" })
        expect(message).toContain("together")
        expect(message).not.toContain("s3cret")
      }
      for (const issuer of ["http://login.example.com", "https://login.example.com?x=1", "login.example.com"]) {
        expect(yield* refusal({}, { ...upstream, SVC_UPSTREAM_OIDC_ISSUER: issuer })).toContain("https URL")
      }
    })
  )

  it.effect("settings reject unknown keys and broken files", () =>
    Effect.gen(function* () {
      expect(yield* refusal({}, {}, '{"runConcurency":1}')).toContain("runConcurency")
      expect(yield* refusal({}, {}, '{"log":"info","log":"debug"}')).toContain("same key twice")
      expect(yield* refusal({}, {}, "{")).toContain("not JSON")
      expect(yield* refusal({}, {}, "[]")).toContain("not an object")
      expect(yield* refusal({}, { SVC_CONFIG: "/nonexistent/settings.json" })).toContain("cannot be read")
    })
  )

  it.effect("settings report all invalid values at once, each with the name of its setting and variable", () =>
    Effect.gen(function* () {
      const message = yield* refusal(
        {},
        { SVC_LISTEN: "everywhere", SVC_RUN_CONCURRENCY: "0", SVC_GIT_NATIVE: "maybe" }
      )
      for (const name of ["SVC_LISTEN", "SVC_RUN_CONCURRENCY", "SVC_GIT_NATIVE"]) expect(message).toContain(name)
      for (const origin of ["https://svc.example.com/", "ftp://x", "svc.example.com", "https://a@b"]) {
        expect(yield* refusal({ baseUrl: origin })).toContain("SVC_BASE_URL")
      }
      for (const origin of ["*", "null", "https://app.example.com/", "https://*.example.com", "app.example.com"]) {
        expect(yield* refusal({ corsOrigins: `https://ok.example.com,${origin}` })).toContain("SVC_CORS_ORIGINS")
      }
      for (const origin of [
        "http://a/",
        "http://a/b",
        "HTTP://a",
        "http://A",
        "https://a:443",
        "ftp://a",
        "a",
        "http://u@a"
      ]) {
        expect(yield* refusal({ gitAllowOrigins: origin })).toContain("SVC_GIT_ALLOW_ORIGINS")
      }
      const origins = ["http://127.0.0.1:3000", "https://git.internal", "http://[::1]:3000"]
      expect((yield* load({ gitAllowOrigins: origins.join(",") })).gitAllowOrigins).toEqual(origins)
      expect(yield* refusal({ familiesOff: "exports,teams" })).toContain("SVC_FAMILIES_OFF")
      expect((yield* load({ familiesOff: "exports, state-uploads" })).familiesOff).toEqual(["exports", "state-uploads"])
      expect(yield* refusal({ trustedProxies: "10.0.0.0/8,proxy.local" })).toContain("SVC_TRUSTED_PROXIES")
      for (const listen of ["[::1]:0", "localhost:80", "127.8.9.1:65535"]) yield* load({ listen })
    })
  )

  it.effect("settings reject unencrypted http on addresses beyond loopback unless the operator allows it", () =>
    Effect.gen(function* () {
      for (const listen of ["0.0.0.0:80", "[::]:0", "192.0.2.1:8787", "svc.internal:80", "127.0.0.1.example:80"]) {
        for (const base of [{}, { baseUrl: "http://127.0.0.1:8787" }]) {
          expect(yield* refusal({ listen, ...base })).toContain("SVC_PLAIN_HTTP")
          const allowed = yield* load({ listen, ...base, plainHttp: "anywhere" })
          expect(isPlainBeyondLoopback(allowed)).toBe(true)
        }
        expect(isPlainBeyondLoopback(yield* load({ listen, baseUrl: "https://svc.example.com" }))).toBe(false)
      }
      expect(isPlainBeyondLoopback(yield* load({}))).toBe(false)
    })
  )

  it.effect("settings keep the master key secret", () =>
    Effect.gen(function* () {
      const settings = yield* load({}, { SVC_MASTER_KEY: "canary-key" })
      expect(JSON.stringify(settings)).not.toContain("canary-key")
      expect(String(settings.masterKey)).not.toContain("canary-key")
      const source = masterKeySource(settings, "/data/master.key")
      expect(source.kind === "value" && Redacted.value(source.value)).toBe("canary-key")
      expect(yield* refusal({}, { SVC_MASTER_KEY: "canary-key", SVC_LOG: "loud" })).not.toContain("canary-key")
      expect(masterKeySource(yield* load({}), "/data/master.key")).toEqual({
        kind: "file",
        file: "/data/master.key",
        create: true
      })
      expect("flag" in settingDefinitions.masterKey).toBe(false)
    })
  )
})

describe("Settings table", () => {
  const documented = Effect.promise(() =>
    Bun.file(new URL("../../../docs/operations/settings.md", import.meta.url)).text()
  ).pipe(
    Effect.map((text) => {
      const table = text.slice(text.indexOf("# Settings"), text.indexOf("## The tool"))
      const rows = table.split("\n").filter((line) => line.startsWith("| `SVC_"))
      return rows.map((row) => {
        const [names = "", fallback = ""] = row.split("|").slice(1)
        return { names: [...names.matchAll(/`(SVC_[A-Z0-9_]+)`/g)].map(([, name = ""]) => name), fallback }
      })
    })
  )

  it.effect("the settings table on the operations page lists every setting that the program reads, exactly once", () =>
    Effect.gen(function* () {
      const known = [...Object.values(settingDefinitions).map(({ env }) => env), settingsFileEnv]
      const names = (yield* documented).flatMap((row) => row.names)
      expect(names.toSorted()).toEqual(known.toSorted())
    })
  )

  it.effect("the settings table shows the same defaults as the program", () =>
    Effect.gen(function* () {
      const defaults = new Map<string, string | undefined>(
        Object.values<SettingDefinition>(settingDefinitions).map((setting) => [setting.env, setting.default])
      )
      for (const { fallback, names } of yield* documented) {
        for (const name of names) {
          const value = defaults.get(name)
          if (value !== undefined && value !== "" && !fallback.includes("--help")) {
            expect([name, fallback]).toEqual([name, expect.stringContaining(value === "false" ? "none" : value)])
          }
        }
      }
    })
  )

  it.effect("the settings table is complete, because the product reads no other variable", () =>
    Effect.gen(function* () {
      const known = new Set([
        ...Object.values(settingDefinitions).map(({ env }) => env),
        ...Object.values(clientEnv),
        ...Object.values(agentEnv),
        settingsFileEnv
      ])
      const root = new URL("../../../", import.meta.url).pathname
      const read = new Set<string>()
      for (const file of new Bun.Glob("{src,actors,runner}/**/*.ts").scanSync(root)) {
        if (file.startsWith("src/dashboard/")) continue
        const text = yield* Effect.promise(() => Bun.file(`${root}${file}`).text())
        for (const [, name = ""] of text.matchAll(/["'`.](SVC_[A-Z0-9_]+)["'`]/g)) read.add(name)
      }
      expect([...read].filter((name) => !known.has(name))).toEqual([])
    })
  )
})
