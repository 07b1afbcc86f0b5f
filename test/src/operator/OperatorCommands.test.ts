import { describe, expect } from "bun:test"
import { Effect, FileSystem, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { PasswordSignIn } from "../../../actors/access/account/PasswordSignIn.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"

const password = "a long enough password"
const other = "another long password"

/** Starts a server on a separate data folder, and returns `svc admin` commands for the server. */
const running = Effect.gen(function* () {
  const dataDir = `${yield* folder}/data`
  const server = yield* serve(dataDir)
  const admin = (args: ReadonlyArray<string>, stdin = "") =>
    svc(["admin", ...args, "--data-dir", dataDir, "--json"], stdin)
  const audit = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<{ action: string; target_id: string; data: string; request_id: string | null }>`
        SELECT action, target_id, data, request_id FROM audit_events ORDER BY rowid`
  ).pipe(Effect.provide(server.services))
  return { ...server, dataDir, admin, audit }
})

const user = ["--email", "ada@example.com", "--password-stdin"]

describe("Operator commands", () => {
  live("an operator command rejects an out-of-range value with the same error, whether or not the server runs", () =>
    Effect.gen(function* () {
      const { admin } = yield* running
      const alone = `${yield* folder}/data`
      expect((yield* svc(["admin", "users", "list", "--data-dir", alone])).code).toBe(0)
      for (const [args, flag, expected] of [
        [["pool", "create", "p1", "--lease", "-5"], "--lease", "from 120 to 86400"],
        [["pool", "set", "p1", "--lease", "119"], "--lease", "from 120 to 86400"],
        [["pool", "set", "p1", "--lease", "86401"], "--lease", "from 120 to 86400"],
        [["agent", "token", "--pool", "p1", "--uses", "0"], "--uses", "from 1 to 10000"],
        [["agent", "token", "--pool", "p1", "--uses", "-1"], "--uses", "from 1 to 10000"],
        [["agent", "token", "--pool", "p1", "--uses", "10001"], "--uses", "from 1 to 10000"],
        [["agent", "token", "--pool", "p1", "--expires", "59s"], "--expires", "from 1m to 30d"],
        [["agent", "token", "--pool", "p1", "--expires", "31d"], "--expires", "from 1m to 30d"]
      ] as const) {
        const served = yield* admin([...args])
        const direct = yield* svc(["admin", ...args, "--data-dir", alone, "--json"])
        expect([served.code, direct.code]).toEqual([2, 2])
        expect(direct.error).toBe(served.error)
        expect(served.error).toContain(flag)
        expect(served.error).toContain(expected)
        expect([served.error.trim().includes("\n"), served.error.length < 300]).toEqual([false, true])
      }
    })
  )

  live("the running server executes an operator command at once, and records an event", () =>
    Effect.gen(function* () {
      const { admin, audit, logged, services, url } = yield* running
      const first = yield* admin(["setup-link"])
      expect(first.error).toBe("")
      expect(JSON.parse(first.out).setupLink).toStartWith(`${url}/setup#svct_`)
      const created = yield* admin(["create-user", ...user], `${password}\n`)
      expect(created.error).toBe("")
      const { subject } = JSON.parse(created.out)
      const signIn = (text: string) =>
        Effect.flatMap(PasswordSignIn, (sign) =>
          Effect.exit(sign.signIn({ email: "ada@example.com", password: Redacted.make(text) }))
        ).pipe(Effect.provide(services))
      expect((yield* signIn(password))._tag).toBe("Success")
      const found = yield* Effect.flatMap(Users, (users) => users.find(subject)).pipe(Effect.provide(services))
      expect(Option.getOrThrow(found).isOperator).toBe(true)

      expect((yield* admin(["reset-password", ...user], `${other}\n`)).code).toBe(0)
      expect([(yield* signIn(password))._tag, (yield* signIn(other))._tag]).toEqual(["Failure", "Success"])
      const link = yield* admin([
        "reset-password",
        "--email",
        "ada@example.com",
        "--base-url",
        "https://svc.example.com"
      ])
      expect(JSON.parse(link.out).setupLink).toStartWith("https://svc.example.com/setup#svct_")
      const token = yield* admin(["create-token", "--subject", subject, "--name", "ci", "--scopes", "read"])
      expect(JSON.parse(token.out).token).toStartWith("svcp_")
      const keys = yield* admin(["rotate-keys"])
      expect(JSON.parse(keys.out)).toMatchObject({ resumed: false, signingKeys: { rotated: false } })

      const ada = ["--email", "ada@example.com"]
      const moved = yield* admin(["address-link", ...ada, "--to", "ada@new.example"])
      expect(JSON.parse(moved.out).addressLink).toStartWith(`${url}/account/address#svce_`)
      const states = Effect.map(admin(["users", "list"]), ({ out }) =>
        JSON.parse(out).users.map(({ email, status }: { email: string; status: string }) => [email, status])
      )
      expect((yield* admin(["users", "lock", ...ada])).code).toBe(0)
      expect(yield* states).toEqual([["ada@example.com", "disabled"]])
      expect((yield* signIn(other))._tag).toBe("Failure")
      expect((yield* admin(["users", "unlock", ...ada])).code).toBe(0)
      expect((yield* signIn(other))._tag).toBe("Success")
      // Without --yes, the command only reports the consequences.
      const asked = yield* admin(["users", "delete", ...ada])
      expect([asked.code, asked.error]).toEqual([2, expect.stringContaining("--yes")])
      expect((yield* states).length).toBe(1)
      expect((yield* admin(["users", "delete", ...ada, "--yes"])).code).toBe(0)
      expect(yield* states).toEqual([])

      const events = yield* audit
      const commands = events.filter(({ action }) => action === "operator.command")
      expect(commands.map(({ data }) => JSON.parse(data).command)).toEqual([
        "admin setup-link",
        "admin create-user",
        "admin reset-password",
        "admin reset-password",
        "admin create-token",
        "admin rotate-keys",
        "admin address-link",
        "admin users lock",
        "admin users unlock",
        "admin users delete"
      ])
      const creation = events.find(({ action }) => action === "account.create")
      expect(creation).toMatchObject({ target_id: subject, request_id: commands[1]?.request_id ?? "none" })

      const lines = yield* logged
      expect(lines).toContain("svc admin create-user")
      for (const secret of [password, other, JSON.parse(token.out).token, JSON.parse(link.out).setupLink.split("#")[1]])
        expect(lines).not.toContain(secret)
    })
  )

  live("a refused operator command changes nothing", () =>
    Effect.gen(function* () {
      const { admin, audit } = yield* running
      expect((yield* admin(["create-user", ...user], `${password}\n`)).code).toBe(0)
      const before = yield* audit
      const refused = yield* Effect.all([
        admin(["create-user", ...user], `${password}\n`),
        admin(["create-user", "--email", "no address", "--password-stdin"], `${password}\n`),
        admin(["create-user", "--email", "eve@example.com", "--password-stdin"], "short\n"),
        admin(["setup-link"]),
        admin(["reset-password", "--email", "eve@example.com"]),
        admin(["create-token", "--subject", "usr_nobody", "--name", "ci", "--scopes", "read"])
      ])
      expect(refused.map(({ code, error, out }) => [code, JSON.parse(error).error.code, out])).toEqual([
        [6, "failed_precondition", ""],
        [1, "invalid_request", ""],
        [1, "invalid_request", ""],
        [6, "failed_precondition", ""],
        [5, "not_found", ""],
        [5, "not_found", ""]
      ])
      expect(yield* audit).toEqual(before)
    })
  )

  live("svc admin grants, revokes and lists operators, and each change takes effect on the next request", () =>
    Effect.gen(function* () {
      const { admin, audit, url } = yield* running
      const created = yield* admin(["create-user", ...user], `${password}\n`)
      const { subject } = JSON.parse(created.out)
      const eve = ["--email", "eve@example.com", "--password-stdin"]
      const { subject: second } = JSON.parse((yield* admin(["create-user", ...eve], `${password}\n`)).out)
      const token = yield* admin(["create-token", "--subject", second, "--name", "ops", "--scopes", "read"])
      const asked = Effect.promise(async () => {
        const headers = { authorization: `Bearer ${JSON.parse(token.out).token}` }
        return (await fetch(`${url}/internal/v1/operators`, { headers })).status
      })
      const listed = (text: string) =>
        JSON.parse(text).operators.map((operator: { subject: string }) => operator.subject)
      // The operator is the account that was created during setup.
      expect(listed((yield* admin(["operators", "list"])).out)).toEqual([subject])
      expect(yield* asked).toBe(403)
      expect(listed((yield* admin(["operators", "grant", "eve@example.com"])).out)).toEqual([subject, second])
      expect(yield* asked).toBe(200)
      expect(listed((yield* admin(["operators", "revoke", second])).out)).toEqual([subject])
      expect(yield* asked).toBe(403)
      const unknown = yield* admin(["operators", "grant", "nobody@example.com"])
      expect([unknown.code, JSON.parse(unknown.error).error.code]).toEqual([5, "not_found"])
      const commands = (yield* audit).filter(({ action }) => action === "operator.command").slice(-2)
      expect(commands.map(({ data, target_id }) => [JSON.parse(data).command, target_id])).toEqual([
        ["admin operators grant", second],
        ["admin operators revoke", second]
      ])
    })
  )

  live("operator commands keep the files of the data folder private", () =>
    Effect.gen(function* () {
      const { admin, dataDir } = yield* running
      const files = yield* FileSystem.FileSystem
      yield* admin(["setup-link"])
      const modes = Effect.forEach([".", "operator.sock"], (name) =>
        Effect.map(files.stat(`${dataDir}/${name}`), ({ mode, type }) => [type, mode & 0o777])
      )
      expect(yield* modes).toEqual([
        ["Directory", 0o700],
        ["Socket", 0o600]
      ])
    })
  )
})
