import { afterAll, describe, expect, test } from "bun:test"
import { Effect, FileSystem } from "effect"
import { version } from "../../src/Version.ts"
import { sectionScript, shellBlocks } from "../support/DocumentedBlocks.ts"
import { suite } from "../support/Effect.ts"
import { built, packaged } from "./support/BuiltPackage.ts"
import { DebianRoot, succeed } from "./support/DebianRoot.ts"

const programs = ["debootstrap", "dpkg-deb", "bwrap", "caddy", "nsenter", "openssl", "terraform"]
const missing = programs.filter((name) => Bun.which(name) === null)
const possible = missing.length === 0 && process.getuid?.() === 0
const tests = suite(DebianRoot.layer)
afterAll(tests.dispose)

const drill = (name: string) =>
  shellBlocks("operations/backup.md").find(({ mark }) => mark === `drill: ${name}`)?.script ?? "false"

/** The quickstart's commands on a machine with the package. */
const quickstart = shellBlocks("quickstart.md")
  .filter(({ mark, script }) => mark !== "start: checkout" && !script.startsWith("npm "))
  .map(({ script }) => script)
  .join("")

const readOutputs = `
export SVC_DATA_DIR=/var/lib/svc/data
TOKEN=$(svc admin create-token --subject you@example.com --name after-the-restore --scopes read --json | jq -r .token)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "https://svc.example.com/api/v1/$1"; }
WS=$(api workspaces | jq -r '.workspaces[0].id')
api "capsules/$(api "workspaces/$WS/capsules" | jq -r '.capsules[0].id')/outputs"
`

describe.skipIf(!possible)("A new Debian machine, set up only from the documentation", () => {
  tests.live(
    "the documentation leads from a new Debian machine to TLS, an applied Capsule, a backup, an upgrade, the way back from it, a restore on another machine, and the removal",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        yield* built
        const { machine } = yield* DebianRoot
        const [first, second] = [yield* machine, yield* machine]
        const name = (revision: number) => `svc_${version}-${revision}_amd64.deb`
        yield* files.copyFile(yield* packaged(1), `${first.root}/root/${name(1)}`)
        const next = yield* packaged(2)
        for (const { root } of [first, second]) yield* files.copyFile(next, `${root}/root/${name(2)}`)

        const atFirst = yield* first.boot
        const atSecond = yield* second.boot
        /** Runs a page's script on a machine. The script must succeed. */
        const step = Effect.fnUntraced(function* (run: typeof atFirst, page: string, script: string) {
          const { code, stderr, stdout } = yield* run(script)
          expect([page, code, code === 0 ? "" : `${stdout.slice(-3000)}\n${stderr.slice(-3000)}`]).toEqual([
            page,
            0,
            ""
          ])
          return stdout
        })

        yield* step(atFirst, "install", sectionScript("install.md", "Debian package"))
        yield* step(atFirst, "tls: svc", sectionScript("tls.md", "svc"))
        yield* step(atFirst, "tls: Caddy", sectionScript("tls.md", "Caddy"))
        expect(yield* step(atFirst, "tls: check", sectionScript("tls.md", "Check"))).toBe('{"status":"ok"}')
        expect(yield* step(atFirst, "journal", "journalctl --unit svc --no-pager")).toContain("/setup#svct_")
        const job = yield* step(atFirst, "quickstart", quickstart)
        expect(job).toContain("Apply complete! Resources: 2 added, 0 changed, 0 destroyed.")
        expect(job).toContain('"value":"Good morning, Ada!"')
        expect(yield* step(atFirst, "backup", drill("backup"))).toContain("svc.backup")
        const upgrade = yield* step(atFirst, "upgrade", sectionScript("upgrade.md", "Steps"))
        expect(upgrade).toContain("Stopping svc; a running apply saves its state first.")
        expect(upgrade).toMatch(/^ok +sandbox +bubblewrap/m)
        expect(upgrade).toMatch(/^ok +network/m)
        const unit = yield* step(
          atFirst,
          "unit",
          "dpkg-query -W -f '${Version}\n' svc; systemctl is-enabled svc; systemctl show svc -p User -p ActiveState -p NoNewPrivileges -p ProtectSystem"
        )
        expect(unit.trim().split("\n").toSorted()).toEqual([
          `${version}-2`,
          "ActiveState=active",
          "NoNewPrivileges=yes",
          "ProtectSystem=strict",
          "User=svc",
          "enabled"
        ])

        yield* step(atFirst, "go back", sectionScript("upgrade.md", "Go back"))
        const back = "dpkg-query -W -f '${Version} ' svc; curl -sS --retry 30 --retry-delay 1 --retry-all-errors"
        expect(yield* step(atFirst, "earlier version", `${back} --fail http://127.0.0.1:8787/readyz`)).toStartWith(
          `${version}-1 `
        )
        expect(yield* step(atFirst, "outputs after going back", readOutputs)).toContain('"value":"Good morning, Ada!"')

        yield* step(
          atSecond,
          "install on the other machine",
          sectionScript("install.md", "Debian package").replace(name(1), name(2))
        )
        for (const name of ["srv/backups", "srv/keys", "etc/svc"]) {
          yield* files.remove(`${second.root}/${name}`, { recursive: true, force: true })
          yield* succeed("cp", ["-a", `${first.root}/${name}`, `${second.root}/${name}`])
        }
        yield* step(atSecond, "restore: stop", drill("new machine"))
        yield* step(atSecond, "restore", drill("restore"))
        yield* step(atSecond, "restore: start", drill("start"))
        yield* step(atSecond, "tls: nginx", sectionScript("tls.md", "nginx"))
        expect(yield* step(atSecond, "tls: check", sectionScript("tls.md", "Check"))).toBe('{"status":"ok"}')
        expect(yield* step(atSecond, "outputs", `apt-get install --yes jq >/dev/null\n${readOutputs}`)).toContain(
          '"value":"Good morning, Ada!"'
        )

        const removal = yield* step(atFirst, "remove", sectionScript("install.md", "Remove the package"))
        expect(removal).toContain("remain in /var/lib/svc")
        const remains =
          "ls /var/lib/svc/data/master.key; test ! -e /etc/svc; test ! -e /usr/bin/svc; systemctl is-active svc || true"
        expect(yield* step(atFirst, "remains", remains)).toBe("/var/lib/svc/data/master.key\ninactive\n")
      }),
    1_800_000
  )
})

test.skipIf(possible)("the test of the documentation needs root, debootstrap, bubblewrap, Caddy and Terraform", () => {
  if (process.env["SVC_TEST_REQUIRE_ALL"] === "1") expect(missing).toEqual([])
})
