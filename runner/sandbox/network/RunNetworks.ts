import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Exit, Ref, Result, Scope } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { type NetworkStatus, SandboxSpawnFailed } from "../SandboxStatus.ts"
import { findProgram } from "../InstalledProgram.ts"
import { hostResolver } from "./HostResolver.ts"
import type { NetworkSettings } from "./NetworkSettings.ts"
import { hostNetwork, makeNetwork, type NetworkEntry, NetworkFailed, type NetworkRequest } from "./NetworkNamespace.ts"

/** Starts programs at a sandbox level in a network. */
export interface NetworkUse {
  /** Folder for the networks' files. */
  readonly folder: string
  /** Starts a sandbox in a network to test it. Returns the problem, if any. */
  readonly attempt: (entry: NetworkEntry) => Effect.Effect<string | undefined>
}

export interface RunNetworks {
  /** Probes the network on first use. */
  readonly status: Effect.Effect<NetworkStatus>
  /** Returns a network for one Run, which the Run may use until the scope closes. */
  readonly take: Effect.Effect<NetworkEntry, NetworkFailed, Scope.Scope>
}

/** Result of the probe. `make` creates another network. */
interface Found {
  readonly status: NetworkStatus
  readonly make?: Effect.Effect<Made, NetworkFailed>
}

interface Made {
  readonly entry: NetworkEntry
  readonly scope: Scope.Closeable
}

const needed = [
  ["ip", "iproute2"],
  ["nsenter", "util-linux"],
  ["unshare", "util-linux"],
  ["setpriv", "util-linux"]
] as const

/** Creates the networks of Runs. `use` is undefined at levels without namespaces. */
export const makeRunNetworks = Effect.fn("RunNetworks.make")(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  settings: NetworkSettings,
  use: NetworkUse | undefined
): Effect.fn.Return<RunNetworks, never, Scope.Scope> {
  const whole = yield* Effect.scope
  const spare = yield* Ref.make<Effect.Effect<Made, NetworkFailed> | undefined>(undefined)

  const host = (reason: string, remedy?: string): NetworkStatus => ({
    reach: "host",
    accepted: settings.reach !== "isolated",
    reason: `${reason} Runs reach the host's loopback and every address that the host reaches.`,
    ...(remedy === undefined ? {} : { remedy: `${remedy} See Network in docs/operations/isolation.md.` }),
    forbidden: []
  })

  const request = Effect.fnUntraced(function* (folder: string, pasta: string): Effect.fn.Return<NetworkRequest> {
    const resolver = yield* hostResolver
    const resolvConf = join(folder, "resolv.conf")
    yield* Effect.promise(() => mkdir(folder, { recursive: true, mode: 0o755 }))
    if (resolver !== undefined) yield* Effect.promise(() => writeFile(resolvConf, resolver.resolvConf, { mode: 0o644 }))
    return { pasta, forbidden: settings.forbidden, resolver, resolvConf }
  })

  const makeWith = (wanted: NetworkRequest) =>
    Effect.gen(function* () {
      const scope = yield* Scope.fork(whole)
      const entry = yield* makeNetwork(spawner, wanted).pipe(
        Scope.provide(scope),
        Effect.onError(() => Scope.close(scope, Exit.void))
      )
      const made: Made = { entry, scope }
      return made
      // Retry, because a busy machine may occasionally be too slow, and a Run must not fail because of a short delay.
    }).pipe(Effect.retry({ times: 2 }))

  const tried = (attempt: Effect.Effect<string | undefined>) =>
    Effect.flatMap(attempt, (said) => (said === undefined ? Effect.void : new NetworkFailed({ message: said })))

  const found = yield* Effect.cached(
    Effect.gen(function* (): Effect.fn.Return<Found> {
      if (settings.reach === "host") return { status: host("The network of Runs is set to the host's own.") }
      if (use === undefined) return { status: host("Only a sandbox in namespaces can have a separate network.") }
      const pasta = yield* findProgram(settings.pasta)
      if (pasta === undefined) return { status: host("pasta was not found.", "Install the 'passt' package.") }
      for (const [program, name] of needed) {
        if ((yield* findProgram(program)) === undefined) {
          return { status: host(`${program} was not found.`, `Install the '${name}' package.`) }
        }
      }
      const wanted = yield* request(use.folder, pasta)
      const make = makeWith(wanted)
      const probe = yield* Effect.result(Effect.tap(make, ({ entry }) => tried(use.attempt(entry))))
      if (Result.isFailure(probe)) {
        return {
          status: host(
            `pasta is installed, but no Run can have a separate network here (${probe.failure.message}).`,
            "Allow this user to make user namespaces and to use /dev/net/tun."
          )
        }
      }
      yield* Ref.set(spare, Effect.succeed(probe.success))
      const status: NetworkStatus = {
        reach: "isolated",
        accepted: true,
        reason: "Every Run has a separate network, without the host's loopback and the forbidden ranges.",
        forbidden: settings.forbidden
      }
      return { status, make }
    })
  )

  /** Tries again if an earlier attempt failed, because the reason may have been temporary. */
  const takeMade = (make: Effect.Effect<Made, NetworkFailed>) =>
    Effect.flatMap(Ref.getAndSet(spare, undefined), (prepared) =>
      prepared === undefined ? make : Effect.catch(prepared, () => make)
    )

  const prepare = Effect.fnUntraced(function* (make: Effect.Effect<Made, NetworkFailed>) {
    const next = yield* Effect.cached(make)
    const isWanted = yield* Ref.modify(spare, (present) => (present === undefined ? [true, next] : [false, present]))
    if (isWanted) yield* Effect.exit(next)
  })

  /**
   * Closes the network of an ended Run in the background, so that the Run does not wait for the kernel, and then creates a
   * network for the next Run. If there were no network in reserve, the next Run would lose as much time as a small plan
   * takes. Creating the next network any earlier would take CPU time away from the current Run.
   */
  const giveBack = (make: Effect.Effect<Made, NetworkFailed>, { scope }: Made) =>
    Scope.close(scope, Exit.void).pipe(
      Effect.uninterruptible,
      Effect.andThen(prepare(make)),
      Effect.forkIn(whole),
      Effect.asVoid
    )

  const take = Effect.gen(function* () {
    const { make } = yield* found
    if (make === undefined) return hostNetwork
    const { entry } = yield* Effect.acquireRelease(takeMade(make), (made) => giveBack(make, made))
    return entry
  })

  return { status: Effect.map(found, ({ status }) => status), take }
})

/** Creates one network for all commands of a Run on first use, and keeps it until the scope closes. */
export const networkOfRun = Effect.fnUntraced(function* (networks: RunNetworks) {
  const scope = yield* Effect.scope
  return yield* Effect.cached(
    networks.take.pipe(
      Scope.provide(scope),
      Effect.mapError(
        ({ message }) =>
          new SandboxSpawnFailed({ program: "pasta", message: `The network of the Run could not be made: ${message}` })
      )
    )
  )
})
