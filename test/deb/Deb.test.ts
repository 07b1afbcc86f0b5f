import { afterAll, describe, expect, test } from "bun:test"
import { Effect, FileSystem } from "effect"
import { documentedCommands } from "../src/operator/support/DocumentedCommands.ts"
import { suite } from "../support/Effect.ts"
import { built, packaged } from "./support/BuiltPackage.ts"
import { collect, DebianRoot, succeed } from "./support/DebianRoot.ts"

const missing = ["debootstrap", "dpkg-deb", "bwrap", "systemd-analyze"].filter((name) => Bun.which(name) === null)
const possible = missing.length === 0 && process.getuid?.() === 0
const tests = suite(DebianRoot.layer)
afterAll(tests.dispose)

describe.skipIf(!possible)("Debian package", () => {
  tests.live(
    "building the Debian package twice produces identical bytes",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        yield* built
        const [one, other] = [yield* files.readFile(yield* packaged(1)), yield* files.readFile(yield* packaged(1))]
        expect(Bun.hash(one)).toBe(Bun.hash(other))
      }),
    300_000
  )

  tests.live(
    "the Debian package serves, backs up, upgrades and restores, and keeps the data when it is removed",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        yield* built
        const [first, next] = [yield* packaged(1), yield* packaged(2)]
        const { machine } = yield* DebianRoot
        const { asRoot, install, root, start } = yield* machine
        const installed = yield* install(first)
        expect([installed.code, installed.code === 0 ? "" : installed.stderr]).toEqual([0, ""])
        const folder = yield* asRoot(
          "stat -c '%U %G %a' /var/lib/svc; id -un svc; svc version; ls /usr/share/man/man1/svc-plan.1.gz"
        )
        expect(folder.stdout.split("\n").slice(0, 2)).toEqual(["svc svc 700", "svc"])
        expect([folder.code, folder.stdout]).toEqual([0, expect.stringContaining("svc-plan.1.gz")])
        for (const page of yield* files.readDirectory(`${root}/usr/share/man/man1`)) {
          if (!page.startsWith("svc")) continue
          const warnings = yield* collect("man", ["--warnings", "-l", `${root}/usr/share/man/man1/${page}`])
          expect([page, warnings.stderr]).toEqual([page, ""])
        }
        const unit = `${root}/usr/lib/systemd/system/svc.service`
        const verdict = yield* collect("systemd-analyze", ["verify", "--man=no", unit])
        // This machine has neither the unit's program nor the unit's user.
        const complaints = verdict.stderr
          .split("\n")
          .filter((line) => line.includes("svc.service") && !line.includes("/usr/bin/svc"))
        expect(complaints).toEqual([])

        const command = "runuser -u svc --"
        yield* Effect.scoped(
          Effect.gen(function* () {
            const url = yield* start
            expect((yield* Effect.promise(() => fetch(`${url}/readyz`))).status).toBe(200)
            const account = yield* asRoot(
              `echo 'a long enough password' | ${command} svc admin create-user --email ada@example.com --password-stdin --data-dir /var/lib/svc/data --json`
            )
            expect([account.code, account.stderr]).toEqual([0, ""])
            const doctor = yield* asRoot(`${command} svc doctor --data-dir /var/lib/svc/data`)
            expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringMatching(/^ok +sandbox +bubblewrap/m)])
            const backup = yield* asRoot(yield* documentedCommands("drill: backup"))
            expect([backup.code, backup.stderr]).toEqual([0, ""])
          })
        )

        yield* asRoot("echo SVC_NAME=kept >> /etc/svc/environment")
        const upgraded = yield* install(next)
        expect([upgraded.code, upgraded.code === 0 ? "" : upgraded.stderr]).toEqual([0, ""])
        const kept = yield* asRoot(
          "dpkg-query -W -f '${Version}' svc; tail -n 1 /etc/svc/environment; stat -c %U /var/lib/svc/data"
        )
        expect(kept.stdout).toMatch(/^\d+\.\d+\.\d+-2SVC_NAME=kept\nsvc\n$/)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const url = yield* start
            expect((yield* Effect.promise(() => fetch(`${url}/readyz`))).status).toBe(200)
          })
        )

        const another = yield* machine
        expect((yield* another.install(next)).code).toBe(0)
        for (const name of ["backups", "keys"]) {
          yield* succeed("cp", ["-a", `${root}/srv/${name}`, `${another.root}/srv/${name}`])
        }
        const restored = yield* another.asRoot(yield* documentedCommands("drill: restore"))
        expect([restored.code, restored.stderr]).toEqual([0, ""])
        const people = yield* another.asRoot(`${command} svc admin users list --data-dir /var/lib/svc/data`)
        expect([people.code, people.stderr, people.stdout]).toEqual([0, "", expect.stringContaining("ada@example.com")])

        expect((yield* asRoot("apt-get purge -y -qq svc")).stdout).toContain("remain in /var/lib/svc")
        const rest = yield* asRoot("ls /var/lib/svc/data/master.key; test ! -e /etc/svc; test ! -e /usr/bin/svc")
        expect([rest.code, rest.stdout]).toEqual([0, "/var/lib/svc/data/master.key\n"])
      }),
    600_000
  )
})

test.skipIf(possible)("the test of the Debian package needs root, debootstrap, bubblewrap and systemd", () => {
  if (process.env["SVC_TEST_REQUIRE_ALL"] === "1") expect(missing).toEqual([])
})
