import { Effect, FileSystem, Path } from "effect"
import { createMessage, generateKey, readKey, readPrivateKey, sign } from "openpgp"
import { create } from "tar"
import { currentPlatform } from "../../../runner/toolchain/ManagedTools.ts"
import { fetchServer } from "../../support/FetchServer.ts"

export const platform = currentPlatform(process.platform, process.arch)?.name ?? "unsupported"

/** Returns a script that responds like a tool, and appends a line to `calls` at each start. */
export const toolScript = (title: "OpenTofu" | "Terraform", version: string, calls = "/dev/null") => `#!/bin/sh
echo started >> '${calls}'
if [ "$2" = "-json" ]; then
  echo '{"terraform_version":"${version}","platform":"${platform}","provider_selections":{}}'
else
  echo '${title} v${version}'
  echo 'on ${platform}'
fi
`

export const signingKey = Effect.fnUntraced(function* (name: string) {
  const pair = yield* Effect.promise(() => generateKey({ type: "curve25519", userIDs: [{ name }], format: "armored" }))
  const fingerprint = yield* Effect.promise(() => readKey({ armoredKey: pair.publicKey })).pipe(
    Effect.map((key) => key.getFingerprint().toUpperCase())
  )
  return { trusted: pair.publicKey, secret: pair.privateKey, fingerprint }
})

const detached = Effect.fnUntraced(function* (content: Uint8Array, secret: string) {
  return yield* Effect.promise(async () =>
    sign({
      message: await createMessage({ binary: content }),
      signingKeys: await readPrivateKey({ armoredKey: secret }),
      detached: true,
      format: "binary"
    })
  )
})

export interface Release {
  readonly version: string
  readonly archive: Uint8Array
  readonly sha256: string
  readonly sums: Uint8Array
  readonly signature: Uint8Array
}

/** Creates the files of a release, as the project publishes them. `prepare` may replace the contents of the archive. */
export const release = Effect.fnUntraced(function* (
  version: string,
  secret: string,
  options: { readonly contains?: string; readonly link?: string } = {}
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fileSystem.makeTempDirectoryScoped({ prefix: "release-" })
  const executable = path.join(folder, "tofu")
  if (options.link === undefined) {
    yield* fileSystem.writeFileString(executable, toolScript("OpenTofu", options.contains ?? version), { mode: 0o755 })
  } else {
    yield* fileSystem.symlink(options.link, executable)
  }
  yield* fileSystem.writeFileString(path.join(folder, "LICENSE"), "a license\n")
  const file = path.join(folder, "archive.tar.gz")
  yield* Effect.promise(() => create({ gzip: true, cwd: folder, file }, ["LICENSE", "tofu"]))
  const archive = yield* fileSystem.readFile(file)
  const sha256 = new Bun.CryptoHasher("sha256").update(archive).digest("hex")
  const other = "0".repeat(64)
  const sums = new TextEncoder().encode(
    `${other}  tofu_${version}_plan9_mips.tar.gz\n${sha256}  tofu_${version}_${platform}.tar.gz\n`
  )
  return { version, archive, sha256, sums, signature: yield* detached(sums, secret) } satisfies Release
})

/** Starts a mirror on loopback that serves the files given to `publish`, and counts requests. */
export const releaseMirror = Effect.gen(function* () {
  const files = new Map<string, Uint8Array>()
  let requests = 0
  const origin = yield* fetchServer((request) => {
    requests++
    const content = files.get(new URL(request.url).pathname)
    return content === undefined ? new Response("none", { status: 404 }) : new Response(Buffer.from(content))
  })
  const publish = (under: string, { archive, sums, signature }: Omit<Release, "version" | "sha256">) => {
    const name = `/mirror/v${under}/tofu_${under}`
    files.set(`${name}_SHA256SUMS`, sums)
    files.set(`${name}_SHA256SUMS.gpgsig`, signature)
    files.set(`${name}_${platform}.tar.gz`, archive)
  }
  const publishKey = (armored: string) => files.set("/mirror/opentofu.asc", new TextEncoder().encode(armored))
  return { publishKey, url: new URL(`${origin}/mirror`), publish, requests: () => requests }
})
