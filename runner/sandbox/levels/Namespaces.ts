import { join } from "node:path"
import { Effect, Option } from "effect"
import type { HostSettings } from "../HostSettings.ts"
import { describeSystem, findProgram } from "../InstalledProgram.ts"
import type { NetworkEntry } from "../network/NetworkNamespace.ts"
import type { Rung, Verdict } from "../SandboxLadder.ts"
import { insideRoot, placementsOf, type SystemFolder } from "../SandboxView.ts"
import { ownFilter } from "../seccomp/SeccompProgram.ts"
import { deviationsOf } from "./ConfinementProbe.ts"
import { spawnInNamespaces } from "./Confined.ts"
import type { Level, LevelHost, OpenSandbox } from "./Level.ts"

/**
 * The mappings to try for the sandbox's user: to itself, as programs expect, or to root if this `unshare` supports nothing
 * else.
 */
const mappings: ReadonlyArray<ReadonlyArray<string>> = [["--map-current-user", "--keep-caps"], ["--map-root-user"]]

/**
 * Chooses the mapping that gives programs the same user in every network. In a Run's own network, the server's user is already
 * root.
 */
const mappingIn = (network: NetworkEntry | undefined, mapping: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, ...rest] = mapping
  return network === undefined || network.enter.length === 0 || first !== "--map-current-user"
    ? mapping
    : [`--map-user=${process.getuid?.() ?? 0}`, `--map-group=${process.getgid?.() ?? 0}`, ...rest]
}

const unshared = ["--user", "--mount", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"]

interface Namespaces {
  readonly unshare: string
  readonly setpriv: string
  readonly mapping: ReadonlyArray<string>
  readonly systemFolders: ReadonlyArray<SystemFolder>
}

const levelOf = (host: LevelHost, found: Namespaces, filter: Uint8Array, hostSettings: HostSettings): Level => {
  const { settings } = host
  const seccomp = Buffer.from(filter).toString("base64")
  return {
    level: "namespaces",
    insideRoot: () => insideRoot,
    open: Effect.fnUntraced(function* (spec, { guard, limits, network: entry }) {
      const etc = yield* hostSettings.current
      const open: OpenSandbox = {
        root: insideRoot,
        temporary: "/tmp",
        spawn: Effect.fnUntraced(function* (command) {
          const network = command.network ? yield* entry : undefined
          return yield* spawnInNamespaces(
            host,
            [
              // When `unshare` exits, it kills its child. But `unshare` itself would keep running if the server were killed,
              // so `setpriv` makes `unshare` exit with the server.
              found.setpriv,
              "--pdeathsig",
              "KILL",
              found.unshare,
              ...unshared,
              ...mappingIn(network, found.mapping),
              ...(command.network ? [] : ["--net"])
            ],
            {
              command,
              cwd: join(insideRoot, command.cwd),
              confinement: {
                kind: "namespaces",
                placements: placementsOf({
                  systemFolders: found.systemFolders,
                  etc,
                  resolvConf: network?.resolvConf,
                  limits,
                  root: spec.root,
                  optional: { readOnly: settings.extraReadOnly, writable: settings.extraWritable },
                  readOnly: [...spec.readOnly, ...(command.readOnly ?? [])]
                }),
                ownNetwork: !command.network,
                seccomp
              },
              ownProcessCount: true,
              limits
            },
            { processNote: spec.processNote, guard, network }
          )
        })
      }
      return open
    })
  }
}

/** Uses the system's `unshare` to create namespaces for each program, and sets them up. */
export const namespacesRung = (host: LevelHost, hostSettings: Effect.Effect<HostSettings>): Rung => ({
  level: "namespaces",
  attempt: Effect.gen(function* (): Effect.fn.Return<Verdict> {
    const missing = (what: string) => ({ _tag: "unavailable", reason: `Namespaces: ${what}.` }) as const
    if (process.platform !== "linux") return missing("only Linux has them")
    const filter = ownFilter({ network: true, sharedProcessIds: false })
    if (Option.isNone(filter)) return missing("there is no filter of system calls for this processor")
    const [unshare, setpriv] = yield* Effect.all([
      findProgram(host.settings.unshare),
      findProgram(host.settings.setpriv)
    ])
    if (unshare === undefined || setpriv === undefined) return missing("unshare and setpriv were not found")
    const systemFolders = yield* describeSystem
    const settings = yield* hostSettings
    let deviations = ""
    for (const mapping of mappings) {
      const level = levelOf(host, { unshare, setpriv, mapping, systemFolders }, filter.value, settings)
      const found = yield* deviationsOf(host, level, { sharedProcessIds: false })
      if (found === undefined) {
        return {
          _tag: "works",
          level,
          reason: "Namespaces made without bubblewrap separate files, processes and network of every run."
        }
      }
      deviations = found
    }
    return {
      ...missing(`user namespaces do not work here (${deviations})`),
      remedy: "Allow this user to make user namespaces: see docs/operations/isolation.md."
    }
  })
})
