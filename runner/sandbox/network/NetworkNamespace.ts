import { Effect, Fiber, Option, Ref, Schema, type Scope, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import ipaddr from "ipaddr.js"
import type { CommandLine } from "../SandboxProcess.ts"
import { systemPath } from "../SandboxView.ts"
import { type HostResolver, resolverInside } from "./HostResolver.ts"

/** A network of a Run's own could not be made. */
export class NetworkFailed extends Schema.TaggedError<NetworkFailed>()("NetworkFailed", { message: Schema.String }) {}

/** A network that programs can be started in. */
export interface NetworkEntry {
  /** Goes before the command line of a program. */
  readonly enter: ReadonlyArray<string>
  /** File that the program has to see as /etc/resolv.conf; undefined for the host's own. */
  readonly resolvConf: string | undefined
}

/** The host's network. */
export const hostNetwork: NetworkEntry = { enter: [], resolvConf: undefined }

/** The command line of a program in a network; without one, as it is. */
export const within = (network: NetworkEntry | undefined, argv: ReadonlyArray<string>): CommandLine => {
  const [program = "", ...args] = [...(network?.enter ?? []), ...argv]
  return { program, args }
}

const device = "svc0"

// A process without any right holds the namespace. pasta must not be started by root, whose privileges it gives up for those of
// `nobody` and then waits for ever; in a user namespace of its own it has no others to begin with. The end of the input says that the
// service is gone.
const script = `
pasta=$1 rules4=$2 rules6=$3; shift 3
unshare -n setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all sleep 2147483647 < /dev/null > /dev/null &
holder=$!
trap 'kill -9 $holder $tap 2> /dev/null; wait' EXIT
trap 'exit 0' TERM
wait_for() {
  tries=0
  until $2; do
    tries=$((tries + 1))
    [ $tries -lt 500 ] || { echo "$1, which took too long" >&2; exit 1; }
    kill -0 $holder && { [ -z "$tap" ] || kill -0 $tap; } || { echo "$1" >&2; exit 1; }
    sleep 0.01
  done
}
inside() { nsenter --net=/proc/$holder/ns/net "$@"; }
held() { grep -q '^CapPrm:[[:space:]]*0*$' /proc/$holder/status; }
routed() { inside ip -4 route show default | grep -q . || inside ip -6 route show default | grep -q .; }
tap=
wait_for 'no process holds a network namespace' held
"$pasta" --config-net -q -f -I ${device} --no-map-gw -t none -u none -T none -U none "$@" --netns /proc/$holder/ns/net < /dev/null > /dev/null &
tap=$!
wait_for 'pasta made no network' routed
printf '%s' "$rules4" | inside ip -4 -batch - || exit 1
if [ -e /proc/net/if_inet6 ]; then printf '%s' "$rules6" | inside ip -6 -batch - || exit 1; fi
echo "ready $holder"
read -r gone
`

const rule = (range: string) => `rule add pref 100 to ${range} prohibit\n`
const isIpv4 = (range: string) => ipaddr.parseCIDR(range)[0].kind() === "ipv4"

/** The first says that the resolver is reached although its address is in a range that is forbidden. */
const rulesFor = (forbidden: ReadonlyArray<string>) => ({
  rules4: [`rule add pref 90 to ${resolverInside}/32 lookup main\n`, `route add ${resolverInside}/32 dev ${device}\n`]
    .concat(forbidden.filter(isIpv4).map(rule))
    .join(""),
  rules6: forbidden
    .filter((range) => !isIpv4(range))
    .map(rule)
    .join("")
})

export interface NetworkRequest {
  readonly pasta: string
  /** Ranges that nobody inside reaches. */
  readonly forbidden: ReadonlyArray<string>
  readonly resolver: HostResolver | undefined
  /** Where the text of `resolver.resolvConf` lies. */
  readonly resolvConf: string
}

const longestStart = "10 seconds"

/**
 * A network with a way out and none to the host's loopback, until the Scope closes. Ranges are forbidden by rules that come before any
 * route, and which nobody inside has the right to change.
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
  const failed = (message: string) => new NetworkFailed({ message })
  const child = yield* spawner
    .spawn(
      ChildProcess.make(
        "unshare",
        ["-U", "-r", "/bin/sh", "-c", script, "svc-network", request.pasta, rules4, rules6, ...forwarding],
        { env: { PATH: systemPath }, detached: true, killSignal: "SIGTERM", forceKillAfter: "2 seconds" }
      )
    )
    .pipe(Effect.mapError((error) => failed(`unshare could not be started: ${error.reason._tag}`)))
  const complaint = yield* Ref.make("")
  const complaining = yield* child.stderr.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => (line.includes("syslog") ? Effect.void : Ref.set(complaint, line))),
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
