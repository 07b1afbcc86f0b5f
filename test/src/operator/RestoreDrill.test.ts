import { describe, expect } from "bun:test"
import { Effect, FileSystem, Option, Redacted } from "effect"
import { PasswordSignIn } from "../../../actors/access/account/PasswordSignIn.ts"
import { SigningKeys } from "../../../actors/access/issuer/SigningKeys.ts"
import { shellBlocks } from "../../support/DocumentedBlocks.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { documentedCommands, programs, runDocumented } from "./support/DocumentedCommands.ts"
import { serve } from "./support/Server.ts"

const password = "a long enough password"
const claims = { sub: "somebody" }

const statusOf = (text: string, check: string): string | undefined =>
  JSON.parse(text).findings.find((finding: { readonly check: string }) => finding.check === check)?.status

const signs = Effect.flatMap(SigningKeys, (keys) => keys.sign("ES256", "JWT", claims))
const keysStored = Effect.flatMap(SigningKeys, (keys) => keys.keySet)
const verifies = (jwt: string) => Effect.flatMap(SigningKeys, (keys) => keys.verify(jwt))

describe("Restore drill", () => {
  live(
    "in the restore drill, a running server is backed up, loses its folder, and continues with the backup and the key",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const root = yield* folder
        const lost = `${root}/lost`
        const found = `${root}/found`
        const copies = `${root}/copies`
        yield* files.makeDirectory(copies)
        const file = `${copies}/svc.sqlite`

        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            const { services } = yield* serve(lost)
            // Waits until the new installation has created its keys, because it starts to respond before the keys exist.
            yield* Effect.provide(keysStored, services)
            const admin = (args: ReadonlyArray<string>) =>
              svc(["admin", ...args, "--data-dir", lost, "--json"], password)
            const created = yield* admin(["create-user", "--email", "ada@example.com", "--password-stdin"])
            const { subject } = JSON.parse(created.out)
            const writes = Effect.forEach(
              Array.from({ length: 20 }, (_, index) => `token ${index}`),
              (name) => admin(["create-token", "--subject", subject, "--name", name, "--scopes", "read"])
            )
            const [backup, written] = yield* Effect.all([svc(["backup", file, "--data-dir", lost, "--json"]), writes], {
              concurrency: 2
            })
            expect([backup.code, backup.error]).toEqual([0, ""])
            expect(written.every(({ code }) => code === 0)).toBe(true)
            const occupied = yield* svc(["restore", file, "--data-dir", lost, "--json"])
            expect([occupied.code, JSON.parse(occupied.error).error.message]).toEqual([
              1,
              expect.stringMatching(/process \d+\) already uses the data folder .* Stop it/)
            ])
            return { jwt: yield* signs.pipe(Effect.provide(services)) }
          })
        )
        yield* files.copyFile(`${lost}/master.key`, `${copies}/master.key`)
        yield* files.remove(lost, { recursive: true })

        const keyless = yield* svc(["restore", file, "--data-dir", found, "--json"])
        expect([keyless.code, JSON.parse(keyless.error).error.message]).toEqual([
          1,
          expect.stringContaining("put the key there first")
        ])
        yield* files.copyFile(`${copies}/master.key`, `${found}/master.key`)
        yield* files.chmod(`${found}/master.key`, 0o600)
        // svc does not treat a folder that contains only the key as a new installation.
        const early = yield* Effect.flip(Effect.scoped(serve(found)))
        expect(String(early)).toContain("holds master.key, but no database")
        const restored = yield* svc(["restore", file, "--data-dir", found, "--json"])
        expect([restored.code, restored.error]).toEqual([0, ""])
        expect(JSON.parse(restored.out)).toMatchObject({ authenticated: true, review: [] })
        const whole = yield* svc(["doctor", "--data-dir", found, "--json"])
        expect([whole.code, statusOf(whole.out, "vault"), statusOf(whole.out, "sealed")]).toEqual([0, "ok", "ok"])

        const { services } = yield* serve(found)
        yield* Effect.gen(function* () {
          const signIn = yield* PasswordSignIn
          yield* signIn.signIn({ email: "ada@example.com", password: Redacted.make(password) })
          // Sealed values are unchanged and can still be decrypted.
          expect(yield* verifies(before.jwt)).toMatchObject({ claims })
          expect(yield* verifies(yield* signs)).toMatchObject({ claims })
        }).pipe(Effect.provide(services))
      })
  )

  live("the restore drill works as documented, but with a different folder and user", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      // The user of the restored folder must be able to enter its parent folder.
      yield* files.chmod(root, 0o755)
      const first = { root: `${root}/first`, programs: `${root}/bin`, isForeign: false }
      const second = { root: `${root}/second`, programs: `${root}/bin`, isForeign: true }
      yield* programs(`${root}/bin`)
      for (const machine of [first, second])
        yield* files.makeDirectory(`${machine.root}/var/lib/svc`, { recursive: true })
      for (const machine of [first, second]) yield* files.makeDirectory(`${machine.root}/srv`)

      yield* Effect.scoped(
        Effect.gen(function* () {
          const { services } = yield* serve(`${first.root}/var/lib/svc/data`)
          yield* Effect.provide(keysStored, services)
          const created = yield* svc(
            ["admin", "create-user", "--email", "ada@example.com", "--password-stdin"].concat([
              "--data-dir",
              `${first.root}/var/lib/svc/data`
            ]),
            password
          )
          expect(created.code).toBe(0)
          const backup = yield* runDocumented(yield* documentedCommands("drill: backup"), first)
          expect([backup.code, backup.text]).toEqual([0, expect.stringContaining("is good: it was restored and read.")])
        })
      )
      // The files to copy to the other machine.
      yield* files.copy(`${first.root}/srv/backups`, `${second.root}/srv/backups`)
      yield* files.copy(`${first.root}/srv/keys`, `${second.root}/srv/keys`)
      yield* files.remove(`${first.root}/var`, { recursive: true })

      const restored = yield* runDocumented(yield* documentedCommands("drill: restore"), second)
      expect([restored.code, restored.text]).toEqual([
        0,
        expect.stringContaining("Every sealed value opens in its place.")
      ])
      const dataDir = `${second.root}/var/lib/svc/data`
      const owner = yield* files.stat(`${dataDir}/svc.sqlite`)
      expect(owner.mode & 0o777).toBe(0o600)
      expect(owner.uid).toEqual((yield* files.stat(dataDir)).uid)
      if (process.getuid?.() === 0) expect(owner.uid).not.toEqual(Option.some(0))

      const { services } = yield* serve(dataDir)
      yield* Effect.gen(function* () {
        const signIn = yield* PasswordSignIn
        yield* signIn.signIn({ email: "ada@example.com", password: Redacted.make(password) })
        expect(yield* verifies(yield* signs)).toMatchObject({ claims })
      }).pipe(Effect.provide(services))
    })
  )

  live("going back after an upgrade works as documented, but with a different folder and user", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      const machine = { root, programs: `${root}/bin`, isForeign: false }
      yield* programs(machine.programs)
      yield* files.makeDirectory(`${root}/srv`)
      const dataDir = `${root}/var/lib/svc/data`
      yield* files.makeDirectory(`${root}/var/lib/svc`, { recursive: true })
      const pages = shellBlocks("upgrade.md")
      const follow = Effect.fnUntraced(function* (script: string | undefined) {
        const { code, text } = yield* runDocumented(script ?? "false", machine)
        expect([code, code === 0 ? "" : text]).toEqual([0, ""])
      })
      const create = Effect.fnUntraced(function* (email: string) {
        const args = ["admin", "create-user", "--email", email, "--password-stdin", "--data-dir", dataDir]
        expect((yield* svc(args, password)).code).toBe(0)
      })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { services } = yield* serve(dataDir)
          yield* Effect.provide(keysStored, services)
          yield* create("ada@example.com")
          yield* follow(pages.find(({ script }) => script.includes("svc backup"))?.script)
          yield* create("later@example.com")
        })
      )
      yield* follow(pages.find(({ mark }) => mark === "go back: data")?.script)
      const people = yield* svc(["admin", "users", "list", "--data-dir", dataDir])
      expect(people.out).toContain("ada@example.com")
      expect(people.out).not.toContain("later@example.com")
      expect(yield* files.exists(`${dataDir}.upgraded/svc.sqlite`)).toBe(true)
    })
  )
})
