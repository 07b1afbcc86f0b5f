import { expect } from "bun:test"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { AccountHome } from "../../../src/cli/login/PrivateFile.ts"
import { run } from "../../../src/cli/Run.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { it } from "../../support/Effect.ts"
import { httpServer } from "../../support/HttpServer.ts"

/** Starts a server with the device flow, which answers polls with the items of `polls`, in order. */
const deviceServer = Effect.fn("deviceServer")(function* (polls: ReadonlyArray<object>) {
  const state = { polls: [...polls], forms: [] as Array<string>, expiresIn: 900, origin: "" }
  const { origin, requests } = yield* httpServer((request, response) => {
    const json = (status: number, value: object) => {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(value))
    }
    let form = ""
    request.on("data", (chunk) => (form += String(chunk)))
    request.on("end", () => {
      if (form !== "") state.forms.push(`${request.url} ${form}`)
      switch (request.url) {
        case "/.well-known/openid-configuration":
          return json(200, {
            issuer: state.origin,
            token_endpoint: `${state.origin}/oauth/token`,
            revocation_endpoint: `${state.origin}/oauth/revoke`,
            device_authorization_endpoint: `${state.origin}/oauth/device_authorization`
          })
        case "/oauth/device_authorization":
          return json(200, {
            device_code: "device-code-secret",
            user_code: "WDJB-MJHT",
            verification_uri: `${state.origin}/oauth/device`,
            expires_in: 600,
            interval: 0.02
          })
        case "/oauth/revoke":
          return json(200, {})
        default: {
          const error = state.polls.shift()
          if (error !== undefined) return json(400, error)
          const n = state.forms.filter((sent) => sent.startsWith("/oauth/token")).length
          return json(200, {
            access_token: `access-${n}`,
            refresh_token: `refresh-${n}`,
            token_type: "Bearer",
            expires_in: state.expiresIn
          })
        }
      }
    })
  })
  state.origin = origin
  return { state, origin, requests }
})

/** Runs the program with these variables. */
const terminalWith = (variables: Readonly<Record<string, string>>) => {
  const environment = ConfigProvider.layer(ConfigProvider.fromEnvRecord(variables))
  const svc = Effect.fn("svc")(function* (...args: ReadonlyArray<string>) {
    return yield* Effect.gen(function* () {
      const exit = yield* Effect.exit(run(args))
      return {
        done: exit._tag === "Success",
        out: (yield* TestConsole.logLines).join("\n"),
        error: (yield* TestConsole.errorLines).join("\n")
      }
    }).pipe(Effect.provide(Layer.mergeAll(environment, TestConsole.layer)))
  })
  return svc
}

/** Runs the program with a temporary home folder. */
const terminal = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const home = yield* files.makeTempDirectoryScoped({ prefix: "svc-login-" })
  return { svc: terminalWith({ HOME: home }), files, file: `${home}/.config/svc/logins.json` }
})

it.live("login waits for the browser, keeps the tokens private, and renews them", () =>
  Effect.gen(function* () {
    const { origin, state } = yield* deviceServer([
      { error: "authorization_pending" },
      { error: "authorization_pending" }
    ])
    const { file, files, svc } = yield* terminal
    state.expiresIn = 10
    const login = yield* svc("login", origin)
    expect(login).toMatchObject({ done: true, out: `Logged in at ${origin}.` })
    expect(login.error).toContain(`Open ${origin}/oauth/device`)
    expect(login.error).toContain("WDJB-MJHT")
    expect(login.error + login.out).not.toContain("device-code-secret")
    expect(state.forms[0]).toContain("client_id=svc-cli")
    expect((yield* files.stat(file)).mode & 0o777).toBe(0o600)
    expect((yield* files.stat(file.replace("/logins.json", ""))).mode & 0o777).toBe(0o700)
    // A token that expires in ten seconds is too short-lived to use, so svc fetches one new token.
    state.expiresIn = 900
    const token = yield* svc("token")
    expect(token.out).toBe("access-4")
    expect(state.forms.at(-1)).toContain("grant_type=refresh_token")
    expect(state.forms.at(-1)).toContain("refresh-3")
    expect((yield* svc("token", "--server", origin, "--json")).out).toBe(
      JSON.stringify({ server: origin, token: "access-4" })
    )
    const mistyped = yield* svc("token", "lisst")
    expect([mistyped.done, mistyped.out]).toEqual([false, ""])
    // svc refuses the file because other users can read it.
    yield* files.chmod(file, 0o644)
    expect((yield* svc("token")).error).toContain("Others on this machine")
    yield* files.chmod(file, 0o600)
    const logout = yield* svc("logout")
    expect(logout.done).toBe(true)
    expect(state.forms.at(-1)).toContain("/oauth/revoke token=refresh-4")
    expect(yield* files.readFileString(file)).toBe('{"version":1,"servers":{}}')
    expect((yield* svc("token")).error).toContain("There is no login")
  }).pipe(Effect.provide(platform))
)

it.live("login without a usable HOME stores the login in the account's home, never in the current folder", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const home = yield* files.makeTempDirectoryScoped({ prefix: "svc-login-" })
    const stored = `${home}/.config/svc/logins.json`
    for (const variables of [{}, { HOME: "" }, { HOME: "relative" }, { HOME: home, XDG_CONFIG_HOME: "relative" }]) {
      const { origin } = yield* deviceServer([])
      const login = yield* Effect.provideService(terminalWith(variables)("login", origin), AccountHome, home)
      expect([login.done, yield* files.exists(stored)]).toEqual([true, true])
      expect([yield* files.exists(".config"), yield* files.exists("relative")]).toEqual([false, false])
      yield* files.remove(stored)
    }
    const { origin, requests } = yield* deviceServer([])
    const refused = yield* Effect.provideService(terminalWith({})("login", origin), AccountHome, undefined)
    expect(requests).toEqual([])
    expect([refused.done, refused.error]).toEqual([
      false,
      expect.stringContaining("Set HOME to the account's home folder.")
    ])
  }).pipe(Effect.provide(platform))
)

it.live("a refused or expired login stores nothing", () =>
  Effect.gen(function* () {
    const { file, files, svc } = yield* terminal
    const words = { access_denied: "was refused in the browser", expired_token: "was not confirmed in time" }
    for (const [error, reason] of Object.entries(words)) {
      const { origin } = yield* deviceServer([{ error: "authorization_pending" }, { error }])
      const login = yield* svc("login", origin)
      expect(login.done).toBe(false)
      expect([login.error, login.error.includes(error)]).toEqual([expect.stringContaining(reason), false])
      expect(yield* files.exists(file)).toBe(false)
    }
  }).pipe(Effect.provide(platform))
)

it.live("logout deletes the login and reports the deletion, even when the server is down", () =>
  Effect.gen(function* () {
    const { file, files, svc } = yield* terminal
    const origin = yield* Effect.scoped(
      Effect.gen(function* () {
        const { origin } = yield* deviceServer([])
        expect((yield* svc("login", origin)).done).toBe(true)
        return origin
      })
    )
    const logout = yield* svc("logout", origin)
    expect(logout.done).toBe(false)
    expect(logout.error).toContain(origin)
    expect(yield* files.readFileString(file)).not.toContain("refresh-")
  }).pipe(Effect.provide(platform))
)

it.live("svc sends tokens only over https or to this machine", () =>
  Effect.gen(function* () {
    const { svc } = yield* terminal
    for (const server of [
      "http://svc.example.com",
      "ftp://127.0.0.1",
      "https://a:b@svc.example.com",
      "https://x/path"
    ]) {
      expect((yield* svc("login", server)).error).toContain("Give its origin")
    }
  }).pipe(Effect.provide(platform))
)
