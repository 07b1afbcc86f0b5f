import { Effect, FileSystem, Path, Runtime, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { createHash } from "node:crypto"
import { version } from "../../src/Version.ts"
import { debArchitectures, type DebOptions } from "./DebPackage.ts"
import { sbomFile } from "../Sbom.ts"

/** The error when an image cannot be assembled. */
export class ImageFailed extends Schema.TaggedError<ImageFailed>()("ImageFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

export interface ImageOptions extends Omit<DebOptions, "revision"> {
  /** Debian release of the base image, such as `bookworm`. */
  readonly suite: string
  /** Debian mirror. If absent, the default mirror is used. */
  readonly mirror: string | undefined
  /**
   * The archive of OpenTofu, and the SHA-256 of the archive in hexadecimal. If there is no archive, the image contains no
   * tool. The image never contains Terraform.
   */
  readonly tofu: { readonly archive: string; readonly sha256: string } | undefined
}

/**
 * Debian packages in the image. git makes syncs faster; bubblewrap, passt, iproute2 and util-linux provide the sandbox and
 * its network for Runs.
 */
const packages = ["bubblewrap", "ca-certificates", "git", "iproute2", "passt", "passwd", "util-linux"]

const user = { name: "svc", id: 10001, home: "/var/lib/svc" }

/** Folder for backups, apart from the data. A new named volume takes its owner and mode from here. */
const backups = "/srv/backups"

const environment = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  SVC_DATA_DIR: `${user.home}/data`,
  // Listen on all addresses inside the container's network. Publish the port only to networks whose users should reach it.
  SVC_LISTEN: "0.0.0.0:8787",
  SVC_RUNNER_ISOLATION: "required",
  SVC_LOG_FORMAT: "json"
}

const run = Effect.fn("image.run")(function* (
  command: string,
  args: ReadonlyArray<string>,
  env: Record<string, string> = {}
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const options = { env, extendEnv: true, stdin: "ignore", stdout: "inherit", stderr: "inherit" } as const
  const code = Number(yield* spawner.exitCode(ChildProcess.make(command, args, options)))
  if (code !== 0) return yield* new ImageFailed({ message: `${command} ended with ${code}.` })
})

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** Builds the base image: a minimal Debian with the packages that svc requires, its user, and the user's folder for backups. */
const writeBase = Effect.fn("image.writeBase")(function* (
  { mirror, suite, target }: ImageOptions,
  file: string,
  seconds: string
) {
  const account = `useradd --user-group --uid ${user.id} --home-dir ${user.home} --create-home --shell /usr/sbin/nologin ${user.name}`
  const unread = ["/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*"].map(
    (one) => `--dpkgopt=path-exclude=${one}`
  )
  yield* run(
    "mmdebstrap",
    [
      "--quiet",
      "--variant=essential",
      `--include=${packages.join(",")}`,
      `--architectures=${debArchitectures[target]}`,
      ...unread,
      "--dpkgopt=path-include=/usr/share/doc/*/copyright",
      `--customize-hook=chroot "$1" ${account}`,
      `--customize-hook=chroot "$1" install -d -m 0700 -o ${user.name} -g ${user.name} ${backups}`,
      suite,
      file,
      ...(mirror === undefined ? [] : [mirror])
    ],
    { SOURCE_DATE_EPOCH: seconds }
  )
})

const checkTofu = Effect.fn("image.checkTofu")(function* ({
  archive,
  sha256: expected
}: NonNullable<ImageOptions["tofu"]>) {
  const files = yield* FileSystem.FileSystem
  const actual = sha256(yield* files.readFile(archive))
  if (actual !== expected.toLowerCase()) {
    return yield* new ImageFailed({
      message: `${archive} has the SHA-256 ${actual}, and ${expected} was expected. Nothing was built.`
    })
  }
})

/**
 * Assembles an OCI image without a container engine, and returns the path of the image archive, which `podman load`, `skopeo
 * copy oci-archive:` and registry tools can read. Requires `mmdebstrap` and `tar`.
 */
export const ociImage = Effect.fn("ociImage")(function* (options: ImageOptions) {
  const { binary, out, root, target, tofu } = options
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  if (!(yield* files.exists(binary))) {
    return yield* new ImageFailed({
      message: `${binary} does not exist. Build it first: npm run build -- --target ${target}`
    })
  }
  if (tofu !== undefined) yield* checkTofu(tofu)
  const commit = yield* spawner.string(ChildProcess.make("git", ["log", "-1", "--format=%ct %H"], { cwd: root }))
  const [seconds = "", revision = ""] = commit.trim().split(" ")
  const created = new Date(Number(seconds) * 1000).toISOString()
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-image-" })
  const blobs = path.join(folder, "image/blobs/sha256")
  yield* files.makeDirectory(blobs, { recursive: true })

  const base = path.join(folder, "base.tar")
  yield* writeBase(options, base, seconds)
  const tree = path.join(folder, "tree")
  for (const name of ["usr/bin", "usr/local/bin", "usr/share/doc/svc"]) {
    yield* files.makeDirectory(path.join(tree, name), { recursive: true })
  }
  yield* files.copyFile(binary, path.join(tree, "usr/bin/svc"))
  yield* files.chmod(path.join(tree, "usr/bin/svc"), 0o755)
  for (const name of ["LICENSE", "NOTICE", "THIRD-PARTY-LICENSES.txt", sbomFile]) {
    yield* files.copyFile(path.join(path.dirname(binary), name), path.join(tree, "usr/share/doc/svc", name))
  }
  if (tofu !== undefined) {
    const folder = path.join(tree, "usr/local/bin")
    yield* run("tar", ["--extract", "--file", tofu.archive, "--directory", folder, "tofu"])
    yield* files.chmod(path.join(folder, "tofu"), 0o755)
  }
  const program = path.join(folder, "program.tar")
  const plain = ["--sort=name", `--mtime=@${seconds}`, "--owner=0", "--group=0", "--numeric-owner"]
  yield* run("tar", ["--create", ...plain, "--directory", tree, "--file", program, "usr"])

  const blob = Effect.fnUntraced(function* (mediaType: string, bytes: Uint8Array) {
    const digest = sha256(bytes)
    yield* files.writeFile(path.join(blobs, digest), bytes)
    return { mediaType, digest: `sha256:${digest}`, size: bytes.byteLength }
  })
  const json = (mediaType: string, value: unknown) => blob(mediaType, new TextEncoder().encode(JSON.stringify(value)))
  const layer = Effect.fnUntraced(function* (file: string) {
    const bytes = yield* files.readFile(file)
    const packed = Bun.gzipSync(new Uint8Array(bytes), { level: 6 })
    return { diff: `sha256:${sha256(bytes)}`, blob: yield* blob("application/vnd.oci.image.layer.v1.tar+gzip", packed) }
  })
  const layers = [yield* layer(base), yield* layer(program)]
  const labels = {
    "org.opencontainers.image.title": "svc",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": revision,
    "org.opencontainers.image.licenses": "Apache-2.0"
  }
  const config = yield* json("application/vnd.oci.image.config.v1+json", {
    created,
    architecture: debArchitectures[target],
    os: "linux",
    config: {
      User: user.name,
      ExposedPorts: { "8787/tcp": {} },
      Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      Entrypoint: ["/usr/bin/svc"],
      Cmd: ["serve"],
      Volumes: { [user.home]: {} },
      WorkingDir: user.home,
      Labels: labels,
      StopSignal: "SIGTERM"
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diff }) => diff) },
    history: [
      { created, created_by: `mmdebstrap ${options.suite}` },
      { created, created_by: `svc ${version}` }
    ]
  })
  const manifest = yield* json("application/vnd.oci.image.manifest.v1+json", {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config,
    layers: layers.map((one) => one.blob),
    annotations: labels
  })
  const index = {
    schemaVersion: 2,
    manifests: [{ ...manifest, annotations: { "org.opencontainers.image.ref.name": version } }]
  }
  const image = path.join(folder, "image")
  yield* files.writeFileString(path.join(image, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}')
  yield* files.writeFileString(path.join(image, "index.json"), JSON.stringify(index))
  yield* files.makeDirectory(out, { recursive: true })
  const result = path.join(out, `svc-${version}-${debArchitectures[target]}.oci.tar`)
  yield* run("tar", ["--create", ...plain, "--directory", image, "--file", result, "oci-layout", "index.json", "blobs"])
  return result
}, Effect.scoped)
