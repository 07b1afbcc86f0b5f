import { newestKnown } from "../../../src/database/Migrations.ts"
import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { Command } from "effect/cli"
import { TestConsole } from "effect/testing"
import { commandLine } from "../../../src/cli/CommandLine.ts"
import { jsonFlag } from "../../../src/cli/Output.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

describe("svc", () => {
  live("svc prints its version and commands, and exits with 2 for an unknown command", () =>
    Effect.gen(function* () {
      const [version, help, unknown, flag] = yield* Effect.all([
        svc(["version", "--json"]),
        svc(["serve", "--help"]),
        svc(["nonsense"]),
        svc(["version", "--nonsense"])
      ])
      expect(JSON.parse(version.out)).toMatchObject({
        name: "svc",
        platform: `${process.platform}-${process.arch}`,
        // Two builds of the same version may define different tables.
        tables: newestKnown
      })
      expect(help.code).toBe(0)
      for (const text of ["--data-dir", "SVC_RUN_CONCURRENCY", "default 127.0.0.1:8787", "--config"]) {
        expect(help.out).toContain(text)
      }
      expect(help.out).not.toContain("--master-key ")
      expect([unknown.code, flag.code, unknown.out, flag.out]).toEqual([2, 2, "", ""])
      expect(unknown.error).toContain("nonsense")
      expect(flag.error).toContain("See `svc version --help`.")
    })
  )

  live("svc reports usage and settings errors on standard error, as JSON if requested", () =>
    Effect.gen(function* () {
      const [flag, value, missing, terminal] = yield* Effect.all([
        svc(["doctor", "--nonsense", "--json"]),
        svc(["serve", "--listen", "nonsense", "--json"]),
        svc(["admin", "create-user", "--json"]),
        svc(["admin", "create-user", "--email", "ada@example.com", "--data-dir", "/nowhere", "--json"])
      ])
      const told = [flag, value, missing, terminal].map(({ code, error, out }) => [
        code,
        JSON.parse(error).error.code,
        out
      ])
      expect(told).toEqual([
        [2, "usage", ""],
        [2, "invalid_settings", ""],
        [2, "usage", ""],
        [2, "usage", ""]
      ])
      expect(missing.error).toContain("--email")
      expect(terminal.error).toContain("--password-stdin")
    })
  )

  live("svc reports a full disk in one line, whenever the disk becomes full", () =>
    Effect.gen(function* () {
      const full = Object.assign(new Error("database or disk is full"), { errcode: 13 })
      for (const failing of [Effect.die(new Error("write", { cause: full })), Effect.fail(full)]) {
        const run = commandLine(Command.make("svc", { json: jsonFlag }, () => failing))
        yield* Effect.exit(run(["--json"]))
        yield* Effect.exit(run([]))
        const [json = "", text = ""] = (yield* TestConsole.errorLines).slice(-2).map(String)
        expect(JSON.parse(json).error.code).toBe("storage_full")
        expect([text.split("\n").length, text.startsWith("svc: The disk is full")]).toEqual([1, true])
      }
    }).pipe(Effect.provide(TestConsole.layer))
  )

  live("svc has help, --json and completions for every command", () =>
    Effect.gen(function* () {
      const commands = [
        "serve",
        "demo",
        "doctor",
        "version",
        "licenses",
        "backup",
        "restore",
        "scan",
        ...["create-user", "create-token", "setup-link", "reset-password", "rotate-keys"].map((name) => `admin ${name}`)
      ]
      const [top, admin] = yield* Effect.all([svc(["--help"]), svc(["admin", "--help"])])
      for (const command of commands) {
        const help = yield* svc([...command.split(" "), "--help"])
        expect({ command, code: help.code }).toEqual({ command, code: 0 })
        expect(help.out).toContain("--json")
        expect(top.out + admin.out).toContain(command.split(" ").at(-1) ?? "")
      }
      for (const shell of ["bash", "zsh", "fish"]) {
        const completion = yield* svc(["completion", shell])
        expect([completion.code, completion.out]).toEqual([0, expect.stringContaining("__complete")])
      }
      expect((yield* svc(["__complete", "--", "admin", "reset"])).out).toStartWith("reset-password\t")
    })
  )

  live("svc validates documents and links offline, and exits with 1 if they are invalid or unreadable", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* folder
      yield* files.writeFileString(
        `${at}/good.json`,
        JSON.stringify({
          apiVersion: "svc.com/v2.1",
          kind: "Repository",
          install: { modules: { ".": { inputs: [] } } }
        })
      )
      yield* files.writeFileString(`${at}/bad.json`, JSON.stringify({ apiVersion: "svc.com/v2.1", secret: "hunter2" }))
      const link = "https://svc.example.com/install?git=https%3A%2F%2Fgit.example.com%2Fa.git"
      yield* files.writeFileString(`${at}/large.json`, `"${"x".repeat(131_071)}"`)
      const back = "&product=app&return_uri="
      const [large, elsewhere, home] = yield* Effect.all([
        svc(["manifest", "check", `${at}/large.json`, "--json"]),
        svc(["link", "check", `${link}${back}https://app.example.com/back`, "--json"]),
        svc(["link", "check", `${link}${back}https://svc.example.com/back`, "--json"])
      ])
      // Offline checks return the same results as the service: both reject a file over the limit and a return address on the
      // service itself.
      expect(JSON.parse(large.out).diagnostics.map(({ code }: { code: string }) => code)).toEqual(["json_too_large"])
      expect([large.code, elsewhere.code, home.code]).toEqual([1, 0, 1])
      expect(home.out).toContain("invalid_return_uri")
      const [good, bad, missing, accepted, refused] = yield* Effect.all([
        svc(["manifest", "check", `${at}/good.json`, "--json"]),
        svc(["manifest", "check", `${at}/bad.json`, "--json"]),
        svc(["options", "check", `${at}/none.json`]),
        svc(["link", "check", link, "--json"]),
        svc(["link", "check", `${link}&var.x=1`, "--json"])
      ])
      expect([good.code, JSON.parse(good.out).status]).toEqual([0, "valid"])
      expect([bad.code, JSON.parse(bad.out).status, bad.error]).toEqual([1, "invalid", ""])
      expect(bad.out).not.toContain("hunter2")
      expect([missing.code, missing.out]).toEqual([2, ""])
      expect([accepted.code, refused.code]).toEqual([0, 1])
    })
  )

  live("svc scans a folder, and exits with 1 if a module is unsupported", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* folder
      yield* files.makeDirectory(`${at}/good`)
      yield* files.makeDirectory(`${at}/remote`)
      yield* files.writeFileString(
        `${at}/good/main.tf`,
        'variable "name" { type = string }\noutput "o" { value = 1 }\n'
      )
      yield* files.writeFileString(`${at}/remote/main.tf`, 'module "m" { source = "git::https://example.com/m.git" }\n')
      const good = yield* svc(["scan", `${at}/good`, "--json"])
      expect(good.code).toBe(0)
      expect(JSON.parse(good.out).modules).toMatchObject([{ path: ".", variables: [{ name: "name", required: true }] }])
      const all = yield* svc(["scan", at, "--json"])
      expect(all.code).toBe(1)
      expect(JSON.parse(all.out).modules).toHaveLength(2)
      expect((yield* svc(["scan", at, "--module", "good"])).code).toBe(0)
      expect((yield* svc(["scan", at, "--module", "nowhere"])).code).toBe(1)
    })
  )

  live("svc admin manages accounts, keys and data without a browser", () =>
    Effect.gen(function* () {
      const dataDir = `${yield* folder}/data`
      const admin = (args: ReadonlyArray<string>, stdin = "") =>
        svc(["admin", ...args, "--data-dir", dataDir, "--json"], stdin)
      const link = JSON.parse((yield* admin(["setup-link", "--base-url", "https://svc.example.com"])).out)
      expect(link.setupLink).toStartWith("https://svc.example.com/setup#svct_")
      const password = "a long enough password"
      const created = yield* admin(["create-user", "--email", "ada@example.com", "--password-stdin"], `${password}\n`)
      expect(created.error + created.out).not.toContain(password)
      const { subject } = JSON.parse(created.out)
      const taken = yield* admin(["create-user", "--email", "ada@example.com", "--password-stdin"], `${password}\n`)
      expect([taken.code, JSON.parse(taken.error).error.code]).toEqual([6, "failed_precondition"])
      expect((yield* admin(["setup-link"])).code).toBe(6)
      const byAddress = yield* admin([
        "create-token",
        "--subject",
        "ada@example.com",
        "--name",
        "ci",
        "--scopes",
        "read"
      ])
      expect(JSON.parse(byAddress.out).token_record.subject).toBe(subject)
      const token = yield* admin(["create-token", "--subject", subject, "--name", "ci", "--scopes", "read,write"])
      expect(JSON.parse(token.out).token).toMatch(/^svcp_[0-9A-Za-z]{36}$/)
      const invited = yield* admin(["invite", "--email", "eve@example.com", "--base-url", "https://svc.example.com"])
      expect(JSON.parse(invited.out).invitationLink).toStartWith("https://svc.example.com/join#svci_")
      const nowhere = yield* admin(["invite", "--workspace", "ws_aaaaaaaaaaaaaaaaaaaaaaaa"])
      expect([nowhere.code, JSON.parse(nowhere.error).error.code]).toEqual([5, "not_found"])
      expect((yield* admin(["invite", "--workspace", "acme"])).code).toBe(2)
      const rotated = yield* admin(["rotate-keys"])
      expect(rotated.code).toBe(0)
      const reset = yield* admin(["reset-password", "--email", "ada@example.com"])
      expect(JSON.parse(reset.out).setupLink).toContain("/setup#")

      const backup = `${dataDir}-backup.sqlite`
      expect((yield* svc(["backup", "--data-dir", dataDir, backup])).code).toBe(0)
      expect((yield* svc(["backup", "--data-dir", dataDir, backup])).code).toBe(1)
      // The file cannot be checked without the key that authenticates it, so the check fails.
      const keyless = yield* svc(["restore", "--data-dir", `${dataDir}-2`, backup])
      expect([keyless.code, keyless.error.includes("authenticated with the master key")]).toEqual([1, true])
      const withKey = ["--master-key-file", `${dataDir}/master.key`]
      const restored = yield* svc(["restore", "--data-dir", `${dataDir}-2`, ...withKey, "--json", backup])
      expect([restored.code, JSON.parse(restored.out)]).toMatchObject([
        0,
        { authenticated: true, ended: { tokens: 2, links: 2 }, review: [] }
      ])
      expect((yield* svc(["restore", "--data-dir", dataDir, backup])).code).toBe(1)
      // The restored copy needs the first folder's master key, so svc reports the missing key instead of creating a new key.
      const locked = yield* svc(["admin", "rotate-keys", "--data-dir", `${dataDir}-2`])
      expect([locked.code, locked.error.includes("master key")]).toEqual([1, true])
      const healthy = JSON.parse((yield* svc(["doctor", "--data-dir", dataDir, "--json"])).out)
      expect(healthy.findings.map(({ check }: { check: string }) => check)).toEqual([
        "tool",
        "sandbox",
        "limits",
        "network",
        "settings",
        "transport",
        "queue",
        "key",
        "folder",
        "files",
        "disk",
        "clock",
        "server",
        "database",
        "migrations",
        "installation",
        "sealed",
        "archives",
        "vault"
      ])
    })
  )
})
