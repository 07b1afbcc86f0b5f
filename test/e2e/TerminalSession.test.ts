import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Redacted } from "effect"
import { it } from "../support/Effect.ts"
import { hostedServer, personPassword } from "./support/HostedServer.ts"
import { services } from "./support/NetworkShell.ts"
import { atTerminal, shellOf } from "./support/Shell.ts"

setDefaultTimeout(120_000)

const isUnfit = Bun.which("bash") === null && process.env["SVC_TEST_REQUIRE_ALL"] !== "1"

/** Starts an otherwise empty server, and creates a shell with a person's token. */
const person = Effect.gen(function* () {
  const server = yield* hostedServer({ "main.tf": "" })
  const shell = yield* shellOf({ SVC_URL: server.url, SVC_TOKEN: Redacted.value(server.token) })
  return { server, shell }
})

describe.skipIf(isUnfit)("Session-only actions", () => {
  it.live("an action that needs a session prompts for the password without echo, and leaves no session behind", () =>
    Effect.gen(function* () {
      const { server, shell } = yield* person
      const sessions = Effect.map(server.browse("/auth/sessions"), ({ text }) => JSON.parse(text).sessions.length)
      const before = yield* sessions
      const asked = yield* atTerminal(shell, "svc token create ci")
      yield* asked.shows("Password of ada@example.test")
      yield* asked.type(`${personPassword}\r`)
      expect(yield* asked.code).toBe(0)
      expect(asked.screen()).not.toContain(personPassword)
      expect(asked.screen()).toContain("svcp_")
      expect(yield* sessions).toBe(before)
    }).pipe(Effect.provide(services))
  )

  it.live("an action that needs a session fails with a wrong password or without a password", () =>
    Effect.gen(function* () {
      const { shell } = yield* person
      const wrong = yield* shell.run("echo not the password | svc token list --password-stdin --json")
      expect([wrong.code, JSON.parse(wrong.error).error.code]).toEqual([4, "sign_in_refused"])
      const none = yield* shell.run("svc token list < /dev/null")
      expect([none.code, none.error]).toEqual([
        2,
        expect.stringContaining("There is no terminal to ask for the password")
      ])
    }).pipe(Effect.provide(services))
  )

  it.live("svc revokes a new token if it cannot write the token to its output, because nobody has seen the token", () =>
    Effect.gen(function* () {
      const { shell } = yield* person
      const unread = yield* shell.run(`echo '${personPassword}' | svc token create ci --password-stdin > /dev/full`)
      expect([unread.code, unread.error]).toEqual([1, expect.stringContaining("so it was withdrawn")])
      const listed = yield* shell.run(`echo '${personPassword}' | svc token list --password-stdin --json`)
      const { tokens } = JSON.parse(listed.out)
      const ci = tokens.find(({ name }: { readonly name: string }) => name === "ci")
      expect(ci.revoked_at).toEqual(expect.any(String))
    }).pipe(Effect.provide(services))
  )
})
