import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { keepHostSettings } from "../../../runner/sandbox/HostSettings.ts"
import { it } from "../../support/Effect.ts"

const stage = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "host-settings-"))
    const host = join(root, "etc")
    mkdirSync(join(host, "ssl/certs"), { recursive: true })
    mkdirSync(join(host, "ssl/private"))
    writeFileSync(join(host, "ssl/private/key.pem"), "a private key")
    writeFileSync(join(host, "shadow"), "hashes")
    writeFileSync(join(host, "hosts"), "127.0.0.1 localhost\n")
    writeFileSync(join(root, "zone"), "zone")
    symlinkSync(join(root, "zone"), join(host, "localtime"))
    return { host, kept: join(root, "kept", "etc"), root }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

describe("Host settings", () => {
  it.live("a sandbox contains only copies of the host's public files and mount points for public folders", () =>
    Effect.gen(function* () {
      const { host, kept } = yield* stage
      const settings = yield* keepHostSettings(kept, host)
      expect(yield* settings.current).toEqual({ folder: kept, overlaid: ["ssl/certs"] })
      expect(readdirSync(kept, { recursive: true }).map(String).sort()).toEqual([
        "hosts",
        "localtime",
        "ssl",
        "ssl/certs"
      ])
      expect(readFileSync(join(kept, "localtime"), "utf8")).toBe("zone")
    })
  )

  it.live("a sandbox's copies of host settings follow changes on the host", () =>
    Effect.gen(function* () {
      const { host, kept } = yield* stage
      const settings = yield* keepHostSettings(kept, host)
      yield* settings.current
      // Replaces the file with a file of the same length, as a resolver's daemon may do.
      writeFileSync(join(host, "hosts.new"), "127.0.0.2 localhost\n")
      renameSync(join(host, "hosts.new"), join(host, "hosts"))
      writeFileSync(join(host, "resolv.conf"), "nameserver 127.0.0.1\n")
      rmSync(join(host, "localtime"))
      mkdirSync(join(host, "alternatives"))
      expect((yield* settings.current)?.overlaid).toEqual(["alternatives", "ssl/certs"])
      expect(readFileSync(join(kept, "hosts"), "utf8")).toBe("127.0.0.2 localhost\n")
      expect(readFileSync(join(kept, "resolv.conf"), "utf8")).toBe("nameserver 127.0.0.1\n")
      expect(existsSync(join(kept, "localtime"))).toBe(false)
      expect(existsSync(join(kept, "alternatives"))).toBe(true)

      // A deleted copy is restored.
      rmSync(kept, { recursive: true })
      yield* settings.current
      expect(readdirSync(kept).sort()).toEqual(["alternatives", "hosts", "resolv.conf", "ssl"])
    })
  )

  it.live("host settings that cannot be copied are omitted rather than guessed", () =>
    Effect.gen(function* () {
      const { host, root } = yield* stage
      writeFileSync(join(root, "taken"), "")
      const settings = yield* keepHostSettings(join(root, "taken", "etc"), host)
      expect(yield* settings.current).toBeUndefined()
    })
  )
})
