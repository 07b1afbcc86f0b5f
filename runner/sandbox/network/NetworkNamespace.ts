import { Effect, Fiber, Option, Ref, Schema, type Scope, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import ipaddr from "ipaddr.js"
import type { CommandLine } from "../CommandLine.ts"
import { systemPath } from "../SandboxView.ts"
import { type HostResolver, resolverInside } from "./HostResolver.ts"

/** A private network for a Run could not be created. */
export class NetworkFailed extends Schema.TaggedError<NetworkFailed>()("NetworkFailed", { message: Schema.String }) {}

/** A network in which svc can start programs. */
export interface NetworkEntry {
  /** The prefix that is added to a program's command line. */
  readonly enter: ReadonlyArray<string>
  /** The file to mount as /etc/resolv.conf; undefined for the host's own file. */
  readonly resolvConf: string | undefined
}

/** The host's network. */
export const hostNetwork: NetworkEntry = { enter: [], resolvConf: undefined }

/** Returns the command line that runs a program in a network, or the unchanged command line if there is no network. */
export const within = (network: NetworkEntry | undefined, argv: ReadonlyArray<string>): CommandLine => {
  const [program = "", ...args] = [...(network?.enter ?? []), ...argv]
  return { program, args }
}

const device = "svc0"

// All processes of a network are in one process namespace, and the kernel kills them when its first process, the shell below,
// exits. The shell exits with `unshare`, which exits with the server, so no process remains even if the setup is interrupted. The
// server may exit before `setpriv` can request the signal, so the shell also exits at the end of its input. pasta must not be
// started as root, because it would switch to `nobody` and then wait forever. In its own user namespace, pasta has no
// privileges to drop. pasta returns once its network is up. The namespace that pasta joins must have no rights that pasta
// lacks, so the shell that holds the namespace drops all its rights before it reports its process id. The reported id is
// valid on the host, because the host's /proc is still mounted.
const holding = `read -r id rest < /proc/self/stat; echo $id; exec cat <&3 > /dev/null`

const inside = `
ip -4 -batch - <<END >&2 || exit 1
$1
END
if [ -e /proc/net/if_inet6 ]; then ip -6 -batch - <<END >&2 || exit 1
$2
END
fi
exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all /bin/sh -c "$3"
`

const script = `
exec 3<&0
pasta=$1 rules4=$2 rules6=$3 route=$4 inside=$5 holding=$6; shift 6
unshare -n /bin/sh -c "$inside" svc-network "$rules4" "$rules6" "$holding" < /dev/null | {
  failed() { kill -9 -1; exit 1; }
  read -r holder || failed
  "$pasta" --config-net -q -I ${device} --no-map-gw -t none -u none -T none -U none "$@" --netns "/proc/$holder/ns/net" < /dev/null > /dev/null || failed
  nsenter --net="/proc/$holder/ns/net" ip -4 route add "$route" dev ${device} || failed
  echo "ready $holder"
} 3<&-
`

const rule = (range: string) => `rule add pref 100 to ${range} prohibit\n`
const isIpv4 = (range: string) => ipaddr.parseCIDR(range)[0].kind() === "ipv4"

/** Builds the routing rules. The first rule makes the resolver reachable even though its address is in a forbidden range. */
const rulesFor = (forbidden: ReadonlyArray<string>) => ({
  rules4: [`rule add pref 90 to ${resolverInside}/32 lookup main\n`]
    .concat(forbidden.filter(isIpv4).map(rule))
    .join(""),
  rules6: forbidden
    .filter((range) => !isIpv4(range))
    .map(rule)
    .join("")
})

export interface NetworkRequest {
  readonly pasta: string
  /** Ranges that programs in the network cannot reach. */
  readonly forbidden: ReadonlyArray<string>
  readonly resolver: HostResolver | undefined
  /** The file that contains `resolver.resolvConf`. */
  readonly resolvConf: string
}

const longestStart = "10 seconds"
/** Maximum time that a network may take to end after its input closes. After that time, svc kills it. */
const longestEnd = "1 second"

/**
 * Creates a network that exists until the scope closes, with Internet access but no route to the host's loopback. Routing
 * rules that precede all routes block the forbidden ranges. Programs in the network cannot change these rules.
 */
export const makeNetwork = Effect.fn("NetworkNamespace.make")(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  request: NetworkRequest
): Effect.fn.Return<NetworkEntry, NetworkFailed, Scope.Scope> {
  const { rules4, rules6 } = rulesFor(request.forbidden)
  const { resolver } = request
  const forwarding =
    resolver === undefined
      ? []
      : ["--dns-forward", resolverInside, ...(resolver.upstream === undefined ? [] : ["-D", resolver.upstream])]
  const words = ["svc-network", request.pasta, rules4, rules6, `${resolverInside}/32`, inside, holding, ...forwarding]
  const failed = (message: string) => new NetworkFailed({ message })
  const child = yield* spawner
    .spawn(
      ChildProcess.make(
        "setpriv",
        ["--pdeathsig", "KILL", "unshare", "-U", "-r", "-p", "-f", "--kill-child", "/bin/sh", "-c", script, ...words],
        { env: { PATH: systemPath }, detached: true, killSignal: "SIGKILL" }
      )
    )
    .pipe(Effect.mapError((error) => failed(`setpriv could not be started: ${error.reason._tag}`)))
  const complaint = yield* Ref.make("")
  const complaining = yield* child.stderr.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    // Drop lines in which the shell reports processes that it killed itself.
    Stream.filter((line) => !line.includes("syslog") && line !== "Killed"),
    Stream.runForEach((line) => Ref.set(complaint, line)),
    Effect.ignore,
    Effect.forkScoped
  )
  const first = yield* child.stdout.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runHead,
    Effect.timeoutOption(longestStart),
    Effect.map(Option.flatten),
    Effect.orElseSucceed(() => Option.none())
  )
  const holder = /^ready (\d+)$/.exec(Option.getOrElse(first, () => ""))?.[1]
  if (holder === undefined) {
    yield* Effect.timeoutOption(Fiber.await(complaining), "1 second")
    return yield* failed((yield* Ref.get(complaint)) || "it did not answer")
  }
  // Close the input first, so that `unshare` reaps the shell. If all processes were killed at once, the shell would remain a
  // zombie until the machine's first process reaped it. In a container, this can take a second, or never happen.
  yield* Effect.addFinalizer(() =>
    Stream.run(Stream.empty, child.stdin).pipe(
      Effect.andThen(child.exitCode),
      Effect.timeoutOption(longestEnd),
      Effect.ignore
    )
  )
  return {
    enter: [
      "nsenter",
      `--user=/proc/${holder}/ns/user`,
      `--net=/proc/${holder}/ns/net`,
      "--preserve-credentials",
      "--"
    ],
    resolvConf: resolver === undefined ? undefined : request.resolvConf
  }
})
