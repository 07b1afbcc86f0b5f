import { readdir, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, FileSystem } from "effect"
import type { oidcRoutes } from "../../../../../src/accounts/oidc/OidcRoutes.ts"
import type { oidcServices } from "../../../../../src/accounts/oidc/OidcServices.ts"

/** A one-line fault to insert into the issuer. */
export interface Mutant {
  readonly name: string
  /** Path relative to the repository. */
  readonly file: string
  /** Text that occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** The checks that must detect the fault. */
  readonly noticedBy: string
}

const root = new URL("../../../../../", import.meta.url).pathname
const folders = ["actors/access/issuer", "src/accounts/oidc"] as const

const entries = ["src/accounts/oidc/OidcRoutes.ts", "src/accounts/oidc/OidcServices.ts"] as const

const importing = /from "(\.\.?\/[^"]+)"/g

/** Sources of all the issuer's files, by path from the repository root. */
const sources = Effect.runSync(
  Effect.cached(
    Effect.promise(async () => {
      const names = await Promise.all(
        folders.map(async (folder) => (await readdir(`${root}${folder}`)).map((name) => `${folder}/${name}`))
      )
      const texts = names.flat().map(async (file) => [file, await readFile(`${root}${file}`, "utf8")] as const)
      return new Map(await Promise.all(texts))
    })
  )
)

/**
 * Returns the issuer's files that a change affects: the changed file and all files that import that file, directly or
 * indirectly.
 */
const reachedBy = (changed: string, texts: ReadonlyMap<string, string>): ReadonlySet<string> => {
  const importsOf = new Map(
    [...texts].map(([file, text]) => [
      file,
      new Set([...text.matchAll(importing)].map(([, path = ""]) => join(dirname(file), path)))
    ])
  )
  const reached = new Set([changed])
  // The loop also visits files that are added during the loop.
  for (const target of reached) {
    for (const [file, imports] of importsOf) if (imports.has(target)) reached.add(file)
  }
  return reached
}

/** Makes imports of files that are not copied resolve to the real source tree. */
const rewired = (text: string, file: string, copied: ReadonlySet<string>): string =>
  text.replaceAll(importing, (all, path: string) => {
    const target = join(dirname(file), path)
    return copied.has(target) ? all : `from "${root}${target}"`
  })

/**
 * Loads the issuer with a fault in one file, alongside the real issuer; `undefined` means no fault. The affected files are copied
 * to a folder under node_modules, where packages resolve and no tool treats them as source. The copy is deleted when the Scope
 * closes.
 */
export const loadIssuer = Effect.fnUntraced(function* (file: string, fault: Mutant | undefined) {
  const files = yield* FileSystem.FileSystem
  const texts = yield* sources
  if (fault !== undefined) {
    const applied = (texts.get(file) ?? "").split(fault.find).length - 1
    if (applied !== 1) {
      return yield* Effect.die(new Error(`The fault "${fault.name}" applies ${applied} times to ${file}`))
    }
  }
  const copied = reachedBy(file, texts)
  if (!entries.some((entry) => copied.has(entry))) {
    return yield* Effect.die(new Error(`${file} reaches nothing that is loaded`))
  }
  const cache = `${root}node_modules/.cache`
  yield* files.makeDirectory(cache, { recursive: true })
  const copy = yield* files.makeTempDirectoryScoped({ directory: cache, prefix: "issuer-" })
  for (const folder of folders) yield* files.makeDirectory(`${copy}/${folder}`, { recursive: true })
  for (const [name, text] of texts) {
    if (!copied.has(name)) continue
    const faulty = name === file && fault !== undefined ? text.replace(fault.find, () => fault.replace) : text
    yield* files.writeFileString(`${copy}/${name}`, rewired(faulty, name, copied))
  }
  const [routesFile, servicesFile] = entries
  const placed = (entry: string) => `${copied.has(entry) ? `${copy}/` : root}${entry}`
  const routes: { readonly oidcRoutes: typeof oidcRoutes } = yield* Effect.promise(() => import(placed(routesFile)))
  const services: { readonly oidcServices: typeof oidcServices } = yield* Effect.promise(
    () => import(placed(servicesFile))
  )
  return { oidcRoutes: routes.oidcRoutes, oidcServices: services.oidcServices }
})
