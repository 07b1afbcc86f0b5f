import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { ProviderMirror } from "./RunPlace.ts"

const plainPath = /^[^"\\$%\p{Cc}]+$/u
const segment = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

const subfolders = (folder: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.tryPromise(() => readdir(folder, { withFileTypes: true })).pipe(
    Effect.map((entries) =>
      entries
        .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && segment.test(entry.name))
        .map((entry) => entry.name)
        .sort()
    ),
    Effect.orElseSucceed(() => [])
  )

/** Provider addresses (`host/namespace/type`) in a filesystem mirror. */
export const mirroredProviders = Effect.fnUntraced(function* (mirror: string) {
  const found: Array<string> = []
  for (const host of yield* subfolders(mirror)) {
    for (const namespace of yield* subfolders(join(mirror, host))) {
      for (const type of yield* subfolders(join(mirror, host, namespace))) found.push(`${host}/${namespace}/${type}`)
    }
  }
  return found
})

/** Returns true if a path can be written to a CLI configuration without escaping. */
export const isConfigurablePath = (path: string): boolean => plainPath.test(path)

const list = (addresses: ReadonlyArray<string>) => `[${addresses.map((address) => JSON.stringify(address)).join(", ")}]`

const installation = (mirror: ProviderMirror | undefined, mirrored: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (mirror === undefined) return ["  direct {}"]
  const source = [`  filesystem_mirror {`, `    path = ${JSON.stringify(mirror.path)}`]
  if (mirror.required) return [...source, "  }"]
  if (mirrored.length === 0) return ["  direct {}"]
  return [...source, `    include = ${list(mirrored)}`, "  }", "  direct {", `    exclude = ${list(mirrored)}`, "  }"]
}

/**
 * The only CLI configuration of a run. It always lists the provider sources explicitly, because the tool would otherwise also use
 * plugins from the module's own `terraform.d` folder. Providers in the mirror are never fetched from the network.
 */
export const cliConfiguration = (mirror: ProviderMirror | undefined, mirrored: ReadonlyArray<string>): string =>
  ["disable_checkpoint = true", "provider_installation {", ...installation(mirror, mirrored), "}", ""].join("\n")
