import { NodeServices } from "@effect/platform-node"
import { afterAll, describe, expect, test } from "bun:test"
import { Effect, FileSystem, Option, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { suite } from "../support/Effect.ts"
import { insideRoot, succeed } from "./support/DebianRoot.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))
const tests = suite(NodeServices.layer)
afterAll(tests.dispose)
const missing = ["mmdebstrap", "tar"].filter((name) => Bun.which(name) === null)
const possible = missing.length === 0 && process.getuid?.() === 0

interface Descriptor {
  readonly digest: string
}

interface Manifest {
  readonly config: Descriptor
  readonly layers: ReadonlyArray<Descriptor>
}

interface ImageConfig {
  readonly rootfs: { readonly diff_ids: ReadonlyArray<string> }
  readonly config: {
    readonly User: string
    readonly Env: ReadonlyArray<string>
    readonly Entrypoint: ReadonlyArray<string>
    readonly Cmd: ReadonlyArray<string>
    readonly WorkingDir: string
  }
}

describe.skipIf(!possible)("OCI image", () => {
  tests.live(
    "the OCI image starts the service as an unprivileged user with a working sandbox, contains the given OpenTofu, and its layers match their digests",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
        const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-image-test-" })
        const mirrors = yield* succeed("apt-get", ["indextargets", "--format", "$(REPO_URI)"])
        const release = (yield* succeed("sh", ["-c", ". /etc/os-release; echo $VERSION_CODENAME"])).trim()
        const [mirror = ""] = mirrors.split("\n")
        const source = ["--suite", release, "--mirror", mirror]
        yield* succeed(process.execPath, ["scripts/build.ts", "--out", `${folder}/built`], repository)
        // Stands for the archive of OpenTofu, which the builder downloads. It has further files, as the real one has.
        const tofu = `${folder}/tofu_1.99.0_linux_amd64.tar.gz`
        yield* files.makeDirectory(`${folder}/tofu`)
        yield* files.writeFileString(`${folder}/tofu/tofu`, "#!/bin/sh\necho OpenTofu v1.99.0 $1\n")
        yield* files.writeFileString(`${folder}/tofu/README.md`, "not for the image")
        yield* succeed("tar", [
          "--create",
          "--gzip",
          "--file",
          tofu,
          "--directory",
          `${folder}/tofu`,
          "README.md",
          "tofu"
        ])
        const [digest = ""] = (yield* succeed("sha256sum", [tofu])).split(" ")
        const given = ["--tofu", tofu, "--tofu-sha256", digest.toUpperCase()]
        const args = ["scripts/image.ts", "--binary", `${folder}/built/svc`, "--out", folder, ...source, ...given]
        yield* succeed(process.execPath, args, repository)
        const names = yield* files.readDirectory(folder)
        const archive = names.find((name) => name.endsWith(".oci.tar")) ?? ""
        const image = `${folder}/image`
        yield* files.makeDirectory(`${image}/root`, { recursive: true })
        yield* succeed("tar", ["--extract", "--file", `${folder}/${archive}`, "--directory", image])
        const blob = (descriptor: Descriptor | undefined) => {
          const digest = descriptor?.digest.replace("sha256:", "") ?? ""
          return `${image}/blobs/sha256/${digest}`
        }
        const index: { readonly manifests: ReadonlyArray<Descriptor> } = JSON.parse(
          yield* files.readFileString(`${image}/index.json`)
        )
        const manifest: Manifest = JSON.parse(yield* files.readFileString(blob(index.manifests[0])))
        const { config, rootfs }: ImageConfig = JSON.parse(yield* files.readFileString(blob(manifest.config)))
        for (const [at, layer] of manifest.layers.entries()) {
          expect(yield* succeed("sh", ["-c", `sha256sum < ${blob(layer)}`])).toStartWith(layer.digest.slice(7))
          const plain = yield* succeed("sh", ["-c", `gzip -dc ${blob(layer)} | sha256sum`])
          expect(plain).toStartWith(rootfs.diff_ids[at]?.slice(7) ?? "no digest")
          yield* succeed("sh", [
            "-c",
            `gzip -dc ${blob(layer)} | tar --extract --numeric-owner --directory ${image}/root`
          ])
        }
        const tools = `${image}/root/usr/local/bin`
        expect(yield* files.readDirectory(tools)).toEqual(["tofu"])
        expect((yield* succeed("stat", ["--format", "%u:%g %a", `${tools}/tofu`])).trim()).toBe("0:0 755")
        const backups = yield* succeed("stat", ["--format", "%u:%g %a", `${image}/root/srv/backups`])
        expect(backups.trim()).toBe("10001:10001 700")

        const user = `setpriv --reuid ${config.User} --regid ${config.User} --init-groups --inh-caps=-all --bounding-set=-all`
        // The settings that docs/install.md lists for a port published on loopback only.
        const settings = [...config.Env, "SVC_BASE_URL=http://127.0.0.1:8787", "SVC_PLAIN_HTTP=anywhere"]
        const started = [...user.split(" "), "env", "-i", `--chdir=${config.WorkingDir}`, ...settings]
        const program = (args: ReadonlyArray<string>) =>
          ChildProcess.make("unshare", [...insideRoot(`${image}/root`), ...started, ...config.Entrypoint, ...args], {
            extendEnv: true,
            stdin: "ignore"
          })
        const inside = [...insideRoot(`${image}/root`), ...started]
        const version = yield* spawner.string(
          ChildProcess.make("unshare", [...inside, "tofu", "version"], { extendEnv: true, stdin: "ignore" })
        )
        expect(version.trim()).toBe("OpenTofu v1.99.0 version")
        const doctor = yield* spawner.string(program(["doctor", "--data-dir", "/var/lib/svc/data"]))
        expect(doctor).toMatch(/^ok +sandbox +bubblewrap/m)
        const server = yield* spawner.spawn(program([...config.Cmd, "--json", "--listen", "127.0.0.1:0"]))
        const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
        const { url }: { readonly url: string } = JSON.parse(Option.getOrThrow(line))
        expect((yield* Effect.promise(() => fetch(`${url}/readyz`))).status).toBe(200)
      }),
    600_000
  )

  tests.live("building the OCI image fails if OpenTofu's archive has a wrong digest", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-image-test-" })
      yield* files.writeFileString(`${folder}/tofu.tar.gz`, "something else")
      yield* files.writeFileString(`${folder}/svc`, "")
      const tofu = ["--tofu", `${folder}/tofu.tar.gz`, "--tofu-sha256", "0".repeat(64)]
      const args = ["scripts/image.ts", "--binary", `${folder}/svc`, "--out", folder, ...tofu]
      const refused = yield* Effect.flip(succeed(process.execPath, args, repository))
      expect(String(refused)).toContain("Nothing was built")
    })
  )
})

test.skipIf(possible)("the test of the OCI image needs root, mmdebstrap and tar", () => {
  if (process.env["SVC_TEST_REQUIRE_ALL"] === "1") expect(missing).toEqual([])
})
