import { describe, expect, setDefaultTimeout } from "bun:test"
import { ConfigProvider, Effect, FileSystem, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { commandHelps, type CommandHelp } from "../../../scripts/CommandReference.ts"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import { clientCommandNames } from "../../../src/cli/ClientCommandNames.ts"
import { exitCodes } from "../../../src/cli/ExitCodes.ts"
import { of } from "../../actors/upkeep/retention/support/RetainedWorld.ts"
import { svcProgram } from "../../support/SvcProgram.ts"
import { serve } from "../operator/support/Server.ts"
import { representativeRows } from "../database/support/RepresentativeRows.ts"
import { type Ended, folder, live, svc } from "./support/CommandLine.ts"

setDefaultTimeout(120_000)

/** Commands that can run without a subcommand. */
const runnable = Effect.map(commandHelps, (all) =>
  all.filter(({ help, path }) => (help.subcommands ?? []).length === 0 || path.join(" ") === "token")
)

/** Returns true for client commands that store data on this machine, or that use a server other than the login's server. */
const isLocal = ({ path }: CommandHelp) =>
  ["login", "logout", "context", "completion"].includes(path[0] ?? "") || path.join(" ") === "invite accept"

const remote = Effect.map(runnable, (all) =>
  all.filter((one) => clientCommandNames.has(one.path[0] ?? "") && !isLocal(one))
)

/** Commands that require one of several optional flags. */
const optional: Readonly<Record<string, (file: string) => ReadonlyArray<string>>> = {
  "connection rotate": (file) => ["--values", file]
}

/** Builds a command line with a valid value for every required flag and argument. */
const lineOf = ({ help, path }: CommandHelp, file: string): ReadonlyArray<string> => {
  const valueOf = (name: string, description: string, type: string) => {
    if ((path[0] !== "api" && /file|path/i.test(name)) || /^(?:File|The state|Backup)/.test(description)) return file
    if (name === "method") return "GET"
    if (path[0] === "api") return "workspaces"
    if (name === "email") return "nobody@example.test"
    if (name === "role") return "member"
    if (name === "reason" && path.join(" ") === "capsule release") return "infrastructure_gone"
    // 0 is never the number of a pull request.
    if (path[0] === "pr") return "0"
    if (name === "url") return "https://git.example.test/a.git"
    return type === "integer" ? "1" : "nothing"
  }
  const text = (description: Option.Option<string>) => Option.getOrElse(description, () => "")
  const flags = help.flags
    .filter(({ required }) => required)
    .flatMap(({ description, name, type }) => [`--${name}`, valueOf(name, text(description), type)])
  const args = (help.args ?? [])
    .filter(({ required }) => required)
    .map(({ description, name, type }) => valueOf(name, text(description), type))
  const yes = help.flags.some(({ name }) => name === "yes") ? ["--yes"] : []
  return [...path, ...flags, ...yes, ...args, ...(optional[path.join(" ")]?.(file) ?? [])]
}

const environment = (variables: Readonly<Record<string, string>>) =>
  Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(variables)))

const walked = <R>(
  commands: ReadonlyArray<CommandHelp>,
  codeOf: (one: CommandHelp) => Effect.Effect<Ended, never, R>
) =>
  Effect.forEach(
    commands,
    (one) => Effect.map(codeOf(one), ({ code, error }) => ({ command: one.path.join(" "), code, error })),
    { concurrency: "unbounded" }
  )

const expectAll = (
  ended: ReadonlyArray<{ readonly command: string; readonly code: number; readonly error: string }>,
  code: number
) => {
  expect(ended.length).toBeGreaterThan(0)
  expect(ended.filter((one) => one.code !== code)).toEqual([])
}

/** Returns true if the command's arguments identify a record that must exist. */
const namesRecord = ({ help }: CommandHelp) =>
  (help.args ?? []).some(
    ({ name, required }) =>
      required && ["capsule", "run", "plan", "source", "connection", "workspace", "member", "invitation"].includes(name)
  )

/** Excludes `svc token`, which prints the stored token without contacting the server. */
const asksServer = ({ path }: CommandHelp) => path.join(" ") !== "token"

/** Starts a server with one person in one Workspace, and that person's token. */
const served = Effect.gen(function* () {
  const { services, url } = yield* serve(`${yield* folder}/data`)
  const issued = yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const [table, values] of representativeRows) {
      if (!["users", "workspaces", "memberships", "projects"].includes(table)) continue
      yield* sql`INSERT INTO ${sql(table)} ${sql.insert(values)} ON CONFLICT DO NOTHING`
    }
    const subject = Subject.make(of("usr", "a"))
    return yield* (yield* AccessTokens).create(serviceContext, subject, { name: "t", scopes: ["read", "write"] })
  }).pipe(Effect.provide(services))
  return { url, token: Redacted.value(issued.secret) }
})

const aFile = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const file = `${yield* folder}/given.json`
  yield* files.writeFileString(file, '{ "A": "b" }')
  return file
})

describe("every command", () => {
  live("every command exits with 0 after printing its help, and with 2 for an unknown or missing flag", () =>
    Effect.gen(function* () {
      const all = yield* runnable
      const ended = (line: ReadonlyArray<string>) => svc(line)
      expectAll(yield* walked(all, ({ path }) => ended([...path, "--help"])), exitCodes.done)
      expectAll(yield* walked(all, ({ path }) => ended([...path, "--no-such-flag"])), exitCodes.usage)
      const needing = all.filter(({ help }) => [...help.flags, ...(help.args ?? [])].some(({ required }) => required))
      expectAll(yield* walked(needing, ({ path }) => ended(path)), exitCodes.usage)
    })
  )

  live("a command that needs a server exits with 4 without a login, and with 7 if the server is unreachable", () =>
    Effect.gen(function* () {
      const file = yield* aFile
      const all = yield* remote
      const nobody = { HOME: "/nonexistent", SVC_URL: "http://127.0.0.1:1" }
      const ended = (variables: Readonly<Record<string, string>>) => (one: CommandHelp) =>
        svc([...lineOf(one, file), ...(/--password-stdin/.test(JSON.stringify(one.help.flags)) ? [] : [])], "{}").pipe(
          environment(variables)
        )
      expectAll(yield* walked(all, ended(nobody)), exitCodes.forbidden)
      const asking = all.filter(asksServer)
      expectAll(yield* walked(asking, ended({ ...nobody, SVC_TOKEN: "svcp_nobody" })), exitCodes.unreachable)
    })
  )

  live("a command exits with 4 if the server refuses the token, and with 5 if the server has no such record", () =>
    Effect.gen(function* () {
      const file = yield* aFile
      const { token, url } = yield* served
      const all = yield* remote
      const ended = (given: string) => (one: CommandHelp) =>
        svc(lineOf(one, file), "{}").pipe(
          environment({ HOME: "/nonexistent", SVC_URL: url, SVC_TOKEN: given, SVC_WORKSPACE: "alpha" })
        )
      const asking = all.filter(asksServer)
      expectAll(yield* walked(asking, ended("svcp_nobody")), exitCodes.forbidden)
      expectAll(yield* walked(asking.filter(namesRecord), ended(token)), exitCodes.notFound)
    })
  )
})

live("a command that is ended by a signal exits with 130 or 143", () =>
  Effect.gen(function* () {
    // Accepts connections and never responds.
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } })
    yield* Effect.addFinalizer(() => Effect.sync(() => silent.stop(true)))
    const program = yield* Effect.promise(svcProgram)
    for (const [signal, code] of [
      ["SIGINT", exitCodes.interrupted],
      ["SIGTERM", exitCodes.terminated]
    ] as const) {
      const asked = Promise.withResolvers<void>()
      silent.reload({ socket: { open: () => asked.resolve(), data: () => undefined } })
      const child = Bun.spawn([program, "whoami"], {
        stdio: ["ignore", "ignore", "ignore"],
        env: { HOME: "/nonexistent", SVC_URL: `http://127.0.0.1:${silent.port}`, SVC_TOKEN: "svcp_nobody" }
      })
      yield* Effect.promise(() => asked.promise)
      child.kill(signal)
      expect([signal, yield* Effect.promise(() => child.exited)]).toEqual([signal, code])
    }
  })
)
