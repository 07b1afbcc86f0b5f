import { Effect, FileSystem, Path } from "effect"
import type { oidcRoutes } from "../../../../../src/accounts/oidc/OidcRoutes.ts"
import type { oidcServices } from "../../../../../src/accounts/oidc/OidcServices.ts"

/** A one-line fault in our own issuer. */
export interface Mutant {
  readonly name: string
  /** Relative to the repository. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** The checks that must detect it. */
  readonly noticedBy: string
}

const root = new URL("../../../../../", import.meta.url).pathname
const folders = ["actors/identity", "src/accounts/oidc"] as const

const entries = ["src/accounts/oidc/OidcRoutes.ts", "src/accounts/oidc/OidcServices.ts"] as const
const relativeImport = /from "(\.\.?\/[^"]+)"/g

/** The sources of the issuer by their path from the repository's root. */
const sources = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const texts = new Map<string, string>()
  for (const folder of folders) {
    for (const name of yield* files.readDirectory(path.join(root, folder))) {
      const file = path.join(folder, name)
      texts.set(file, yield* files.readFileString(path.join(root, file)))
    }
  }
  return texts
})

/** This file and all that load it, directly or through others: these see its fault, and the others are the same without a copy. */
const loadersOf = (file: string, texts: ReadonlyMap<string, string>, path: Path.Path): ReadonlySet<string> => {
  const imports = new Map(
    [...texts].map(([each, text]) => [
      each,
      new Set([...text.matchAll(relativeImport)].map(([, target = ""]) => path.join(path.dirname(each), target)))
    ])
  )
  const found = new Set([file])
  for (const each of found) {
    for (const [other, targets] of imports) if (targets.has(each)) found.add(other)
  }
  return found
}

/** Imports of files that are not copied resolve to the real tree. */
const rewired = (text: string, file: string, copied: ReadonlySet<string>, path: Path.Path): string =>
  text.replaceAll(relativeImport, (all, target: string) => {
    const real = path.join(path.dirname(file), target)
    return copied.has(real) ? all : `from "${path.join(root, real)}"`
  })

/**
 * The issuer's source with a fault, or a whole copy without one, loaded next to the real one. The copy is placed under
 * node_modules, where packages resolve and no tool treats it as source; it is deleted with the Scope.
 */
export const loadIssuer = Effect.fnUntraced(function* (mutant: Mutant | undefined) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const cache = path.join(root, "node_modules/.cache")
  yield* files.makeDirectory(cache, { recursive: true })
  const copy = yield* files.makeTempDirectoryScoped({ directory: cache, prefix: "issuer-" })
  const texts = yield* sources
  if (mutant !== undefined) {
    const parts = (texts.get(mutant.file) ?? "").split(mutant.find)
    if (parts.length !== 2) {
      const times = parts.length - 1
      return yield* Effect.die(new Error(`The fault "${mutant.name}" applies ${times} times to ${mutant.file}`))
    }
    texts.set(mutant.file, parts.join(mutant.replace))
  }
  const copied = mutant === undefined ? new Set(texts.keys()) : loadersOf(mutant.file, texts, path)
  for (const folder of folders) yield* files.makeDirectory(path.join(copy, folder), { recursive: true })
  for (const file of copied) {
    yield* files.writeFileString(path.join(copy, file), rewired(texts.get(file) ?? "", file, copied, path))
  }
  const [routesFile, servicesFile] = entries.map((file) => path.join(copied.has(file) ? copy : root, file))
  const routes: { readonly oidcRoutes: typeof oidcRoutes } = yield* Effect.promise(() => import(`${routesFile}`))
  const services: { readonly oidcServices: typeof oidcServices } = yield* Effect.promise(
    () => import(`${servicesFile}`)
  )
  return { oidcRoutes: routes.oidcRoutes, oidcServices: services.oidcServices }
})
