import { describe, expect } from "bun:test"
import { ConfigProvider, Effect, FileSystem, Layer, Option, Redacted } from "effect"
import { StoredContexts } from "../../../../src/cli/context/StoredContexts.ts"
import { onServer, Remote } from "../../../../src/cli/remote/Remote.ts"
import { StoredLogins } from "../../../../src/cli/login/StoredLogins.ts"
import { live, svc } from "../support/CommandLine.ts"

const [flagged, fromEnvironment, ofContext, ofLogin] = ["flag", "environment", "context", "login"].map(
  (name) => `https://${name}.example.com`
)

/** Returns the server and Workspace that a command with this home folder uses. */
const chosen = Effect.fnUntraced(function* (
  home: string,
  environment: Readonly<Record<string, string>>,
  named: { readonly server?: string; readonly context?: string } = {}
) {
  const config = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ HOME: home, SVC_TOKEN: "given", ...environment }))
  const given = {
    server: Option.fromUndefinedOr(named.server),
    context: Option.fromUndefinedOr(named.context),
    quiet: false
  }
  return yield* Effect.gen(function* () {
    const { origin, token, workspace } = yield* Remote
    return [origin, Option.getOrUndefined(workspace), Redacted.value(token)]
  }).pipe(onServer(given), Effect.provide(config))
})

const home = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-remote-" })
  const config = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ HOME: folder }))
  return { files, folder, config }
})

describe("Server selection", () => {
  live("a command's server comes from the flag, then the environment, then the context, then the only login", () =>
    Effect.gen(function* () {
      const { config, folder } = yield* home
      const stored = Layer.provide(Layer.merge(StoredLogins.layer, StoredContexts.layer), config)
      yield* Effect.gen(function* () {
        const login = { accessToken: Redacted.make("of the login"), expiresAt: 4_102_444_800_000 }
        yield* (yield* StoredLogins).store(ofLogin ?? "", login)
      }).pipe(Effect.provide(stored))
      expect(yield* chosen(folder, {})).toEqual([ofLogin, undefined, "given"])
      yield* Effect.gen(function* () {
        const contexts = {
          one: { server: ofContext ?? "", workspace: "acme" },
          two: { server: ofLogin ?? "", workspace: "beta" }
        }
        yield* (yield* StoredContexts).store({ current: "one", contexts })
      }).pipe(Effect.provide(stored))
      expect(yield* chosen(folder, {})).toEqual([ofContext, "acme", "given"])
      expect(yield* chosen(folder, { SVC_CONTEXT: "two" })).toEqual([ofLogin, "beta", "given"])
      expect(yield* chosen(folder, { SVC_CONTEXT: "two" }, { context: "one" })).toEqual([ofContext, "acme", "given"])
      // A Workspace that was selected for the previous server is not used with a different server.
      expect(yield* chosen(folder, { SVC_URL: fromEnvironment ?? "" })).toEqual([fromEnvironment, undefined, "given"])
      const both = { SVC_URL: fromEnvironment ?? "", SVC_WORKSPACE: "gamma" }
      expect(yield* chosen(folder, both, { server: flagged ?? "" })).toEqual([flagged, "gamma", "given"])
      const unknown = yield* Effect.flip(chosen(folder, {}, { context: "three" }))
      expect(unknown.message).toContain("There is no context three")
    })
  )

  live("a command never sends a token in clear text", () =>
    Effect.gen(function* () {
      const { folder } = yield* home
      const refused = yield* Effect.flip(chosen(folder, {}, { server: "http://svc.example.com" }))
      expect(refused.message).toContain("The server is not named well")
    })
  )

  live("svc sends the environment's token without its newline, and no other token", () =>
    Effect.gen(function* () {
      const { folder } = yield* home
      const at = { server: flagged ?? "" }
      expect(yield* chosen(folder, { SVC_TOKEN: "given\n" }, at)).toEqual([flagged, undefined, "given"])
      const refused = yield* Effect.flip(chosen(folder, { SVC_TOKEN: "given\nanother-canary" }, at))
      expect(refused.message).toContain("SVC_TOKEN contains no token")
      expect(refused.message).not.toContain("canary")
    })
  )

  live("`svc api` sends the token only to the server of the command", () =>
    Effect.gen(function* () {
      for (const path of ["//elsewhere.example.com/api/v1/workspaces", "/\\elsewhere.example.com/x"]) {
        const args = ["api", "GET", path, "--server", flagged ?? ""]
        const refused = yield* svc(args).pipe(
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({ HOME: "/nowhere", SVC_TOKEN: "given" })))
        )
        expect([path, refused.code, refused.error]).toEqual([path, 2, expect.stringContaining("is no path of")])
      }
    })
  )

  live("a long-running command sends the login's current token, even after another command renewed it", () =>
    Effect.gen(function* () {
      const { config, folder } = yield* home
      const sent: Array<string | null> = []
      const server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: (request) => {
          sent.push(request.headers.get("authorization"))
          return Response.json({})
        }
      })
      yield* Effect.addFinalizer(() => Effect.promise(() => server.stop(true)))
      const origin = server.url.origin
      const stored = Effect.provide(StoredLogins, Layer.provide(StoredLogins.layer, config))
      const storing = (token: string) =>
        Effect.flatMap(stored, (logins) =>
          logins.store(origin, { accessToken: Redacted.make(token), expiresAt: 4_102_444_800_000 })
        )
      yield* storing("first")
      const named = { server: Option.some(origin), context: Option.none<string>(), quiet: true }
      yield* Effect.gen(function* () {
        const { client } = yield* Remote
        yield* client.get(`${origin}/a`)
        // Another command renews the login while this command runs.
        yield* storing("second")
        yield* client.get(`${origin}/b`)
      }).pipe(onServer(named), Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({ HOME: folder }))))
      expect(sent).toEqual(["Bearer first", "Bearer second"])
    })
  )

  live("contexts are stored in a file that only their owner can read", () =>
    Effect.gen(function* () {
      const { config, files, folder } = yield* home
      const run = (...args: ReadonlyArray<string>) => svc(args).pipe(Effect.provide(config))
      expect((yield* run("context", "set", "work")).error).toContain("--server")
      expect((yield* run("context", "set", "work", "--server", flagged ?? "", "--workspace", "acme")).code).toBe(0)
      expect((yield* run("context", "set", "home", "--server", ofLogin ?? "")).code).toBe(0)
      const file = `${folder}/.config/svc/config.json`
      expect((yield* files.stat(file)).mode & 0o777).toBe(0o600)
      expect((yield* run("context", "use", "home")).code).toBe(0)
      const { contexts } = JSON.parse((yield* run("context", "list", "--json")).out)
      expect(contexts).toEqual([
        { name: "home", server: ofLogin, current: true },
        { name: "work", server: flagged, workspace: "acme", current: false }
      ])
      // A Workspace belongs to one server, so another server's context starts without a Workspace.
      yield* run("context", "set", "work", "--server", ofContext ?? "")
      expect(JSON.parse(yield* files.readFileString(file)).contexts.work).toEqual({ server: ofContext })
      expect((yield* run("context", "remove", "home")).code).toBe(0)
      expect((yield* run("context", "use", "home")).code).toBe(5)
      yield* files.chmod(file, 0o644)
      expect((yield* run("context", "list")).error).toContain("chmod 600")
    })
  )
})
