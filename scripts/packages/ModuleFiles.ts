import { Effect, FileSystem, Path } from "effect"

const specifierPattern = /(?:\bfrom|\bimport)\s*\(?\s*(["'])([^"'\n]+)\1/g

const specifiers = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(specifierPattern)].flatMap(([, , specifier]) => (specifier === undefined ? [] : [specifier]))

/** Returns the relative imports of a module. */
export const relativeSpecifiers = (text: string): ReadonlyArray<string> =>
  specifiers(text).filter((specifier) => specifier.startsWith("."))

/** Returns the packages that a module imports. */
export const importedPackages = (text: string): ReadonlyArray<string> =>
  specifiers(text).flatMap((specifier) => {
    const name = /^(?:@[a-z0-9-]+\/)?[a-z0-9][a-z0-9.-]*(?=\/|$)/.exec(specifier)?.[0]
    return name === undefined || /^[a-z]+:/.test(specifier) ? [] : [name]
  })

/** Replaces a module's relative specifiers. Leaves a specifier unchanged if `exchange` returns `undefined`. */
export const withSpecifiers = (text: string, exchange: (specifier: string) => string | undefined): string =>
  text.replaceAll(specifierPattern, (found, quote: string, specifier: string) => {
    const other = specifier.startsWith(".") ? exchange(specifier) : undefined
    return other === undefined ? found : found.replace(`${quote}${specifier}${quote}`, `${quote}${other}${quote}`)
  })

/** Reads the modules and declarations below a folder, keyed by relative path. */
export const moduleFiles = Effect.fn("moduleFiles")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = (yield* files.readDirectory(folder, { recursive: true })).filter((name) => /\.(?:js|d\.ts)$/.test(name))
  const texts = yield* Effect.forEach(
    names.toSorted(),
    (name) => Effect.map(files.readFileString(path.join(folder, name)), (text) => [name, text] as const),
    { concurrency: 16 }
  )
  return new Map(texts)
})
