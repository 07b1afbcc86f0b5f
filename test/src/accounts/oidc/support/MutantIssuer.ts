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

/** Imports that leave the copied folders resolve to the real tree. */
const rewired = (text: string, file: string, path: Path.Path): string =>
  text.replaceAll(/from "(\.\.?\/[^"]+)"/g, (all, target: string) => {
    const real = path.join(root, path.dirname(file), target)
    const copied = folders.some((folder) => real.startsWith(path.join(root, folder)))
    return copied ? all : `from "${real}"`
  })

/**
 * The issuer's source with a fault, loaded next to the real one. The copy is placed under node_modules, where packages
 * resolve and no tool treats it as source; it is deleted with the Scope.
 */
export const loadIssuer = Effect.fnUntraced(function* (mutant: Mutant | undefined) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const cache = path.join(root, "node_modules/.cache")
  yield* files.makeDirectory(cache, { recursive: true })
  const copy = yield* files.makeTempDirectoryScoped({ directory: cache, prefix: "issuer-" })
  let applied = 0
  for (const folder of folders) {
    yield* files.makeDirectory(path.join(copy, folder), { recursive: true })
    for (const name of yield* files.readDirectory(path.join(root, folder))) {
      const file = path.join(folder, name)
      let text = yield* files.readFileString(path.join(root, file))
      if (mutant !== undefined && mutant.file === file) {
        const parts = text.split(mutant.find)
        applied += parts.length - 1
        text = parts.join(mutant.replace)
      }
      yield* files.writeFileString(path.join(copy, file), rewired(text, file, path))
    }
  }
  if (mutant !== undefined && applied !== 1) {
    return yield* Effect.die(new Error(`The fault "${mutant.name}" applies ${applied} times to ${mutant.file}`))
  }
  const routes: { readonly oidcRoutes: typeof oidcRoutes } = yield* Effect.promise(
    () => import(path.join(copy, "src/accounts/oidc/OidcRoutes.ts"))
  )
  const services: { readonly oidcServices: typeof oidcServices } = yield* Effect.promise(
    () => import(path.join(copy, "src/accounts/oidc/OidcServices.ts"))
  )
  return { oidcRoutes: routes.oidcRoutes, oidcServices: services.oidcServices }
})
