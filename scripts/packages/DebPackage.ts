import { Effect, FileSystem, Path, Runtime, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { gzipSync } from "node:zlib"
import { version } from "../../src/Version.ts"
import { packagedPages } from "./DebPages.ts"
import { sbomFile } from "../Sbom.ts"
import { commitSeconds, completionScript, datedManPages } from "./CommandTexts.ts"

/** The error when a Debian package cannot be assembled. */
export class DebFailed extends Schema.TaggedError<DebFailed>()("DebFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

export const debArchitectures = { "linux-x64": "amd64", "linux-arm64": "arm64" } as const

export interface DebOptions {
  /** Root of the repository. */
  readonly root: string
  /** Path of the compiled program. The folder of the program also contains the notices that the build wrote. */
  readonly binary: string
  readonly target: keyof typeof debArchitectures
  /** Number after the version, which distinguishes packages of the same release. */
  readonly revision: number
  /** Output folder. */
  readonly out: string
}

const standardOutput = Effect.fn("deb.standardOutput")(function* (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly env?: Record<string, string> } = {}
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const process = ChildProcess.make(command, args, { ...options, extendEnv: true, stdin: "ignore", stderr: "inherit" })
  return yield* spawner.string(process)
}, Effect.scoped)

const control = (architecture: string, revision: number, kibibytes: number) => `Package: svc
Version: ${version}-${revision}
Architecture: ${architecture}
Maintainer: The maintainers of svc <maintainers@svc.invalid>
Section: admin
Priority: optional
Installed-Size: ${kibibytes}
Depends: libc6 (>= 2.17), bubblewrap, ca-certificates, iproute2, passt, passwd, util-linux
Recommends: git
Description: Git-driven control plane for OpenTofu and Terraform modules
 svc pins a commit of your repository, plans a module, waits for a review, and
 applies exactly the reviewed plan. State, outputs, logs and audit stay with it.
 One process with an SQLite database and a dashboard.
`

/** Assembles the package in a temporary folder and returns its path. The same binary and commit produce the same bytes. */
export const debPackage = Effect.fn("debPackage")(function* ({ binary, out, revision, root, target }: DebOptions) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* files.exists(binary))) {
    return yield* new DebFailed({
      message: `${binary} does not exist. Build it first: npm run build -- --target ${target}`
    })
  }
  const tree = yield* files.makeTempDirectoryScoped({ prefix: "svc-deb-" })
  const seconds = String(yield* commitSeconds(root))
  const place = (name: string) => path.join(tree, name)
  const write = Effect.fnUntraced(function* (name: string, content: string | Uint8Array, mode = 0o644) {
    yield* files.makeDirectory(path.dirname(place(name)), { recursive: true, mode: 0o755 })
    yield* files.writeFile(place(name), typeof content === "string" ? new TextEncoder().encode(content) : content)
    yield* files.chmod(place(name), mode)
  })
  const source = (name: string) => files.readFileString(path.join(root, name))
  const maintained = (name: string) => source(`scripts/packages/debian/${name}`)

  yield* write("usr/bin/svc", yield* files.readFile(binary), 0o755)
  const unit = yield* source("docs/operations/svc.service")
  yield* write(
    "usr/lib/systemd/system/svc.service",
    // Remove the first comments, which are for a manual installation.
    unit.replace(/^(?:#.*\n)+\n/, "").replaceAll("/usr/local/bin/svc", "/usr/bin/svc")
  )
  yield* write("etc/svc/environment", yield* maintained("environment"), 0o640)
  for (const [name, text] of yield* packagedPages(root)) yield* write(`usr/share/doc/svc/${name}`, text)
  yield* write("usr/share/doc/svc/NOTICE", yield* source("NOTICE"))
  yield* write("usr/share/doc/svc/copyright", yield* source("LICENSE"))
  const notices = path.join(path.dirname(binary), "THIRD-PARTY-LICENSES.txt")
  const gzip = (text: string | Uint8Array) => gzipSync(text, { level: 9 })
  yield* write("usr/share/doc/svc/THIRD-PARTY-LICENSES.txt.gz", gzip(yield* files.readFile(notices)))
  yield* write(`usr/share/doc/svc/${sbomFile}`, yield* files.readFile(path.join(path.dirname(binary), sbomFile)))
  yield* write("usr/share/doc/svc/changelog.gz", gzip(yield* source("CHANGELOG.md")))
  for (const page of yield* datedManPages(root)) yield* write(`usr/share/man/man1/${page.name}.gz`, gzip(page.text))
  const completions = {
    bash: "bash-completion/completions/svc",
    zsh: "zsh/vendor-completions/_svc",
    fish: "fish/vendor_completions.d/svc.fish"
  }
  for (const [shell, name] of Object.entries(completions)) {
    yield* write(`usr/share/${name}`, yield* completionScript(root, shell))
  }

  // Counted like Debian's own tools. `du` would count blocks of the disk, which differ from build to build.
  const entries = yield* files.readDirectory(tree, { recursive: true })
  const sizes = yield* Effect.forEach(entries, (name) =>
    Effect.map(files.stat(place(name)), ({ size, type }) => (type === "File" ? Math.ceil(Number(size) / 1024) : 1))
  )
  const size = sizes.reduce((sum, one) => sum + one, 0)
  yield* write("DEBIAN/control", control(debArchitectures[target], revision, size))
  yield* write("DEBIAN/conffiles", "/etc/svc/environment\n")
  for (const name of ["postinst", "prerm", "postrm"]) yield* write(`DEBIAN/${name}`, yield* maintained(name), 0o755)

  yield* files.makeDirectory(out, { recursive: true })
  const result = path.join(out, `svc_${version}-${revision}_${debArchitectures[target]}.deb`)
  yield* standardOutput("find", [tree, "-exec", "touch", "--no-dereference", "--date", `@${seconds}`, "{}", "+"])
  yield* standardOutput("dpkg-deb", ["--root-owner-group", "-Zzstd", "--build", tree, result], {
    env: { SOURCE_DATE_EPOCH: seconds }
  })
  return result
}, Effect.scoped)
