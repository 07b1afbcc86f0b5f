import { describe, expect } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { PasswordSignIn } from "../../../actors/account/PasswordSignIn.ts"
import { SigningKeys } from "../../../actors/identity/SigningKeys.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"

const password = "a long enough password"
const claims = { sub: "somebody" }

const statusOf = (text: string, check: string): string | undefined =>
  JSON.parse(text).findings.find((finding: { readonly check: string }) => finding.check === check)?.status

const signs = Effect.flatMap(SigningKeys, (keys) => keys.sign("ES256", "JWT", claims))
const keysStored = Effect.flatMap(SigningKeys, (keys) => keys.keySet)
const verifies = (jwt: string) => Effect.flatMap(SigningKeys, (keys) => keys.verify(jwt))

describe("the restore drill of docs/operations.md", () => {
  live("backs up beside a running server under writes, loses the folder, and continues with the copy and the key", () =>
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
          // Those of a new installation are created while it already answers; the copy must contain them.
          yield* Effect.provide(keysStored, services)
          const admin = (args: ReadonlyArray<string>) => svc(["admin", ...args, "--data-dir", lost, "--json"], password)
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
      // The key alone does not count as a new installation.
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
        // Sealed values can be decrypted, and are unchanged.
        expect(yield* verifies(before.jwt)).toMatchObject({ claims })
        expect(yield* verifies(yield* signs)).toMatchObject({ claims })
      }).pipe(Effect.provide(services))
    })
  )
})
