import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer, Option, Path, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

/** The machine could not be prepared. */
class StepFailed extends Schema.TaggedError<StepFailed>()("StepFailed", { message: Schema.String }) {}

export const collect = Effect.fnUntraced(function* (command: string, args: ReadonlyArray<string>, cwd?: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make(command, args, { ...(cwd === undefined ? {} : { cwd }), extendEnv: true, stdin: "ignore" })
  )
  const text = (stream: typeof handle.stdout) => Stream.mkString(Stream.decodeText(stream))
  const [stdout, stderr, code] = yield* Effect.all([text(handle.stdout), text(handle.stderr), handle.exitCode], {
    concurrency: 3
  })
  return { stdout, stderr, code: Number(code) }
}, Effect.scoped)

/** Runs a command that must succeed, and returns its standard output. */
export const succeed = Effect.fnUntraced(function* (command: string, args: ReadonlyArray<string>, cwd?: string) {
  const { code, stderr, stdout } = yield* collect(command, args, cwd)
  if (code !== 0) return yield* new StepFailed({ message: `${command} ended with ${code}: ${stderr}${stdout}` })
  return stdout
})

/** Arguments of `unshare` that run the following command with a folder as its root. */
export const insideRoot = (root: string): ReadonlyArray<string> => {
  // Enters a mount namespace whose root is the folder. A simple `chroot` forbids user namespaces, which the sandbox of Runs
  // needs.
  const enter = [
    `mount --bind ${root} ${root} && mount --rbind /dev ${root}/dev && mount -t proc proc ${root}/proc`,
    `mount -t tmpfs -o mode=1777 tmpfs ${root}/tmp && mount -t tmpfs tmpfs ${root}/run && mkdir -p ${root}/run/host`,
    `cd ${root} && pivot_root . run/host && cd / && { umount -l /run/host 2>/dev/null || true; } && exec "$@"`
  ].join(" && ")
  return ["--mount", "--propagation", "private", "sh", "-c", enter, "sh"]
}

const bootScript = fileURLToPath(new URL("boot.sh", import.meta.url))

const asService = "setpriv --reuid svc --regid svc --init-groups --inh-caps=-all --bounding-set=-all env -i".split(" ")
const home = ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/var/lib/svc"]

/** Returns the values of a directive in the unit, one per line. */
const directives = (unit: string, name: string) =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value.replace(/^"(.*)"$/, "$1"))

const make = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-debian-" })
  const base = path.join(folder, "base")
  const release = (yield* succeed("sh", ["-c", ". /etc/os-release; echo $VERSION_CODENAME"])).trim()
  // This machine's package mirror.
  const mirror = (yield* succeed("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Codename: ".concat(release)]))
    .split("\n")
    .find((line) => line !== "")
  if (mirror === undefined) return yield* new StepFailed({ message: "apt knows no mirror of this Debian." })
  const included = "--include=ca-certificates,dbus,systemd,systemd-sysv"
  yield* succeed("debootstrap", ["--variant=minbase", included, release, base, mirror])
  for (const name of ["/etc/apt/sources.list", "/etc/apt/sources.list.d", "/usr/share/keyrings", "/etc/resolv.conf"]) {
    if (yield* files.exists(name)) yield* succeed("cp", ["-aL", name, path.join(base, path.dirname(name))])
  }
  // The disk need not survive a power failure, so dpkg need not sync files.
  yield* files.writeFileString(path.join(base, "etc/dpkg/dpkg.cfg.d/unsafe-io"), "force-unsafe-io\n")
  // A booted machine has no network, so the packages that it will install are downloaded beforehand.
  const download = "apt-get install -y -qq --download-only"
  const dependencies = "bubblewrap git iproute2 passt"
  const downloads = `apt-get update -qq; ${download} ${dependencies}; ${download} caddy nginx certbot curl jq`
  yield* succeed("chroot", [base, "sh", "-ec", downloads])

  /** Creates a machine with a minimal Debian and the tool. */
  const machine = Effect.gen(function* () {
    const root = path.join(yield* files.makeTempDirectoryScoped({ prefix: "machine-", directory: folder }), "root")
    yield* succeed("cp", ["-a", base, root])
    const tool = Bun.which("tofu") ?? Bun.which("terraform")
    if (tool !== null)
      yield* files.copyFile(yield* files.realPath(tool), path.join(root, "usr/local/bin", path.basename(tool)))
    const inside = insideRoot(root)
    /** Runs a shell command as root. */
    const asRoot = (script: string) => collect("unshare", [...inside, "sh", "-ec", script])
    /** Installs a package with its dependencies. */
    const install = Effect.fnUntraced(function* (deb: string) {
      yield* files.copyFile(deb, path.join(root, "svc.deb"))
      const update = "test -e /var/lib/apt/lists/lock || apt-get update -qq"
      const options = "DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends"
      return yield* asRoot(`${update}; ${options} /svc.deb`)
    })
    /** Runs the ExecStart of the package's unit with the unit's user and settings; the listeners use free ports. */
    const start = Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const unit = yield* files.readFileString(path.join(root, "usr/lib/systemd/system/svc.service"))
      const [program = ""] = directives(unit, "ExecStart")
      const environment = yield* files.readFileString(path.join(root, "etc/svc/environment"))
      const own = environment.split("\n").filter((line) => /^[A-Z_]+=/.test(line))
      const settings = [
        ...directives(unit, "Environment"),
        ...own,
        "SVC_LISTEN=127.0.0.1:0",
        "SVC_OPERATOR_LISTEN=127.0.0.1:0"
      ]
      const server = yield* spawner.spawn(
        ChildProcess.make(
          "unshare",
          [
            ...inside,
            ...asService,
            `--chdir=${directives(unit, "WorkingDirectory")[0]}`,
            ...home,
            ...settings,
            ...program.split(" "),
            "--json"
          ],
          { extendEnv: true, stdin: "ignore" }
        )
      )
      const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
      const ready: { readonly url: string } = JSON.parse(Option.getOrThrow(line))
      return ready.url
    })
    /** Boots systemd in the folder, with the network described in boot.sh. Returns a function that runs commands as root. */
    const boot = Effect.gen(function* () {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const network = yield* files.makeTempDirectoryScoped({ prefix: "network-", directory: folder })
      const outer = ["--mount", "--net", "sh", bootScript, root, network]
      const init = yield* spawner.spawn(ChildProcess.make("unshare", outer, { extendEnv: true, stdin: "ignore" }))
      const line = yield* Stream.decodeText(init.stdout).pipe(Stream.splitLines, Stream.runHead)
      const pid = Option.getOrThrow(line)
      const login = [
        "env",
        "-i",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME=/root",
        "sh",
        "-euc"
      ]
      return (script: string) =>
        collect("nsenter", ["--target", pid, "--all", "--root", "--wd", ...login, `cd\n${script}`])
    })
    return { root, asRoot, boot, install, start }
  })
  return { machine }
})

/** Creates empty Debian machines: folders in which commands run as if in a separate root file system. */
export class DebianRoot extends Context.Service<DebianRoot, Effect.Success<typeof make>>()("svc/deb/DebianRoot") {
  static readonly layer = Layer.effect(DebianRoot, make).pipe(Layer.provideMerge(NodeServices.layer))
}
